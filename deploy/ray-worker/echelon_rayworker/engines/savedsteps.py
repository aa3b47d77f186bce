"""A checkpoint directory of verl-agent: `global_step_N/` folders with the shards of every process, and a tracker file."""

from __future__ import annotations

import os
import re
from typing import Callable, Iterable, Optional

TRACKER = "latest_checkpointed_iteration.txt"
_FOLDER = re.compile(r"global_step_(\d+)")
_SHARD = re.compile(r"model_world_size_(\d+)_rank_\d+\.pt")


def folder(directory: str, step: int) -> str:
    """The folder of a step's checkpoint."""
    return os.path.join(directory, f"global_step_{step}")


def step_of(path: str) -> Optional[int]:
    """The step of a path with a step's folder; None if it has none."""
    match = _FOLDER.search(path)
    return int(match[1]) if match else None


def latest_step(directory: str) -> Optional[int]:
    """The step in the tracker file; None if there is no such file, or no step in it."""
    return _step(tracker_text(directory) or "")


def tracker_text(directory: str) -> Optional[str]:
    """What the tracker file holds; None if there is none."""
    try:
        with open(os.path.join(directory, TRACKER), encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def saved_steps(directory: str) -> list[int]:
    """Steps of the folders that are there, complete or not."""
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return sorted(int(match[1]) for match in map(_FOLDER.fullmatch, names) if match)


def newest_complete(directory: str, lacks: Callable[[str], str]) -> tuple[Optional[int], str]:
    """The tracker's step, else the newest complete one, and why it is not the tracker's (empty if it is). No step: none is
    complete. ``lacks``: why a checkpoint's folder cannot be used; empty if it can."""
    text = tracker_text(directory)
    if text is None:
        return None, f"{directory} holds no checkpoint"
    step = _step(text)
    if step is None:
        lack = f"{os.path.join(directory, TRACKER)} holds {text[:40]!r}, not a step"
    else:
        lack = lacks(folder(directory, step))
        if not lack:
            return step, ""
    for other in reversed(saved_steps(directory)):
        if other != step and not lacks(folder(directory, other)):
            return other, lack
    return None, lack


def world_sizes(shards: str) -> list[int]:
    """Numbers of processes that wrote the model's shards of a directory."""
    try:
        names = os.listdir(shards)
    except OSError:
        return []
    return sorted({int(match[1]) for match in map(_SHARD.fullmatch, names) if match})


def shard(shards: str, kind: str, world_size: int, rank: int) -> str:
    """The path of a shard. ``kind``: model, optim or extra_state."""
    return os.path.join(shards, f"{kind}_world_size_{world_size}_rank_{rank}.pt")


def missing_shard(shards: str, kinds: Iterable[str], world_size: int) -> str:
    """A shard that is missing or empty, in words; empty if all are there."""
    for kind in kinds:
        for rank in range(world_size):
            name = shard(shards, kind, world_size, rank)
            try:
                if os.path.getsize(name) > 0:
                    continue
            except OSError:
                pass
            return f"{name} is missing or empty"
    return ""


def _step(text: str) -> Optional[int]:
    return int(text) if text.isdigit() else None
