"""The recipe's checkpoint directory: `global_step_N/` folders and `latest_checkpointed_iteration.txt`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from .overrides import Overrides

TRACKER = "latest_checkpointed_iteration.txt"
_FOLDER = re.compile(r"global_step_(\d+)")
_SHARD = re.compile(r"model_world_size_(\d+)_rank_\d+\.pt")


class CheckpointError(ValueError):
    """The run would not start from the right step; the message says the remedy."""


@dataclass(frozen=True)
class Start:
    """Where a run starts: step 0 and no path is from scratch."""

    step: int = 0
    path: str = ""


def folder(directory: str, step: int) -> str:
    """The folder of a step's checkpoint."""
    return os.path.join(directory, f"global_step_{step}")


def latest_step(directory: str) -> int | None:
    """The step of the last complete checkpoint; None if there is none. Raises CheckpointError for a tracker file
    that does not hold a step."""
    try:
        with open(os.path.join(directory, TRACKER), encoding="utf-8") as file:
            text = file.read().strip()
    except OSError:
        return None
    if not text.isdigit():
        raise CheckpointError(f"{os.path.join(directory, TRACKER)} holds {text[:40]!r}, not a step: remedy or remove it")
    return int(text)


def saved_steps(directory: str) -> list[int]:
    """Steps of the folders that are there, complete or not."""
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return sorted(int(match[1]) for match in map(_FOLDER.fullmatch, names) if match)


def find_start(overrides: Overrides, directory: str, world_size: int) -> Start:
    """What the recipe would load, checked: if it would silently begin anew, or fail after it has taken the GPUs,
    CheckpointError is raised instead."""
    mode = overrides.text("trainer.resume_mode", "auto")
    if mode == "disable":
        return Start()
    if mode == "resume_path":
        path = overrides.text("trainer.resume_from_path") or ""
        match = _FOLDER.search(path)
        if not match:
            raise CheckpointError(f"trainer.resume_from_path={path!r} names no global_step_N folder")
        start = Start(int(match[1]), path)
    else:
        step = latest_step(directory)
        if step is None:
            return Start()
        start = Start(step, folder(directory, step))
    if not os.path.isdir(start.path):
        there = ", ".join(map(str, saved_steps(directory))) or "none"
        raise CheckpointError(
            f"{start.path} is not there (steps there: {there}); the trainer would silently start from the base "
            f"model: put a step that is there into {TRACKER}, or use another directory"
        )
    _check_world(start.path, world_size)
    return start


def _check_world(path: str, world_size: int) -> None:
    """A checkpoint's shards can be loaded by the number of GPUs alone that wrote them."""
    try:
        names = os.listdir(os.path.join(path, "actor"))
    except OSError:
        return
    sizes = {int(match[1]) for match in map(_SHARD.fullmatch, names) if match}
    if sizes and world_size not in sizes:
        raise CheckpointError(
            f"{path} was written by {min(sizes)} GPUs and this run has {world_size}: its shards fit the same number only"
        )
