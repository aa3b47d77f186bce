"""The driver's arguments, and the directories that they name."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Sequence

from ..arguments import ArgumentError, Key, parse

KEYS: dict[str, Key] = {
    "directory": Key(""),
    "files": Key(0, minimum=0),
    "root": Key(""),
    "experiment_dir": Key(""),
    "attempt_dir": Key(""),
    "start": Key("per-node", choices=("per-node", "once")),
    "resume": Key("[]"),
    "metrics": Key("{}"),
    "batches": Key(""),
}


class NotStartable(ValueError):
    """The program cannot start as it stands; the message says the remedy."""


@dataclass(frozen=True)
class Settings:
    """One run. ``directory``: absolute, and it exists. ``files``: how many files of the plan go there. ``metrics``: at most one source (see metrics.py)."""

    command: list[str]
    directory: str
    files: int
    experiment_dir: str
    attempt_dir: str
    start: str
    resume: list[str]
    metrics: dict[str, Any]
    batches: str


def settings_from(arguments: Sequence[str]) -> Settings:
    """ArgumentError for what cannot be taken, NotStartable for a working directory that cannot be used."""
    divider = arguments.index("--") if "--" in arguments else len(arguments)
    values = parse(arguments[:divider], KEYS)
    command = list(arguments[divider + 1 :])
    if not command:
        raise ArgumentError("no program follows --")
    attempt_dir = str(values["attempt_dir"])
    return Settings(
        command=command,
        files=int(values["files"]),
        directory=_working_directory(str(values["directory"]), str(values["root"]), attempt_dir),
        experiment_dir=str(values["experiment_dir"]),
        attempt_dir=attempt_dir,
        start=str(values["start"]),
        resume=json.loads(str(values["resume"])),
        metrics=json.loads(str(values["metrics"])),
        batches=str(values["batches"]),
    )


def is_inside(path: str, directory: str) -> bool:
    """Whether a path, with all its links followed, is the directory or below it."""
    real, base = os.path.realpath(path), os.path.realpath(directory)
    return real == base or real.startswith(base.rstrip(os.sep) + os.sep)


def _working_directory(relative: str, shared_root: str, attempt_dir: str) -> str:
    if not relative:
        directory = os.path.join(attempt_dir, "work")
        os.makedirs(directory, exist_ok=True)
        return directory
    directory = os.path.join(shared_root, relative)
    if not is_inside(directory, shared_root):
        raise NotStartable(
            f"workingDir {relative} leads to {os.path.realpath(directory)}, outside of the shared root {shared_root}: name a "
            "directory below it"
        )
    if not os.path.isdir(directory):
        raise NotStartable(f"{directory} is no directory: put the program there, or set workingDir to another directory")
    return directory
