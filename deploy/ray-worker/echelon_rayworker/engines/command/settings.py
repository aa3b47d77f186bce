"""The driver's settings, and the directories that they name."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from ..spec import Launch

class NotStartable(ValueError):
    """The program cannot start as it stands; the message says the remedy."""


@dataclass(frozen=True)
class Settings:
    """One run. ``directory``: absolute, and it exists. ``files``: texts that belong there, by their paths. ``metrics``: at most one
    source (see metrics.py). ``resume``: arguments that are appended if there is a checkpoint. ``runtime_env``: as Ray takes it."""

    command: Sequence[str]
    directory: str
    files: Mapping[str, str]
    experiment_dir: str
    attempt_dir: str
    start: str
    resume: Sequence[str]
    metrics: Mapping[str, Any]
    batches: str
    runtime_env: Mapping[str, Any] = field(default_factory=dict)


def settings_of(launch: Launch) -> Settings:
    """NotStartable for a working directory that cannot be used."""
    spec, directories = launch.spec, launch.directories
    return Settings(
        command=launch.passed_on,
        directory=_working_directory(spec["workingDir"], directories.shared_root, directories.attempt),
        files=spec["files"] or {},
        experiment_dir=directories.experiment,
        attempt_dir=directories.attempt,
        start=spec["start"],
        resume=[launch.fill(argument) for argument in launch.plan["resume"]],
        metrics=spec["metrics"] or {},
        batches=spec["batches"] or "",
        runtime_env=spec.get("runtimeEnv") or {},
    )


def is_inside(path: str, directory: str) -> bool:
    """Whether a path, with all its links followed, is the directory or below it."""
    real, base = os.path.realpath(path), os.path.realpath(directory)
    return real == base or real.startswith(base.rstrip(os.sep) + os.sep)


def _working_directory(relative: str | None, shared_root: str, attempt_dir: str) -> str:
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
