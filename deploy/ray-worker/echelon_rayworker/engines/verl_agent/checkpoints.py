"""The recipe's checkpoint directory: `global_step_N/` folders and `latest_checkpointed_iteration.txt`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from .overrides import Overrides

TRACKER = "latest_checkpointed_iteration.txt"
_FOLDER = re.compile(r"global_step_(\d+)")
_SHARD = re.compile(r"model_world_size_(\d+)_rank_\d+\.pt")
# What `checkpoint.contents` names, as the files are called.
_KINDS = {"model": "model", "optimizer": "optim", "extra": "extra_state"}


class CheckpointError(ValueError):
    """The run would not start from the right step; the message says the remedy."""


@dataclass(frozen=True)
class Start:
    """The step after which a run starts; step 0 and no path mean from scratch. ``skipped``: why it is not the step of the
    tracker file, empty if it is."""

    step: int = 0
    path: str = ""
    skipped: str = ""


def folder(directory: str, step: int) -> str:
    """The folder of a step's checkpoint."""
    return os.path.join(directory, f"global_step_{step}")


def latest_step(directory: str) -> int | None:
    """The step in the tracker file; None if there is no such file, or no step in it."""
    return _step(_tracker(directory) or "")


def _step(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _tracker(directory: str) -> str | None:
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


def find_start(overrides: Overrides, directory: str, world_size: int) -> Start:
    """The checkpoint from which the run starts: the step of the tracker file, else the newest complete one. Raises
    CheckpointError if the recipe would silently start from the base model, or fail after it has taken the GPUs."""
    mode = overrides.text("trainer.resume_mode", "auto")
    if mode == "disable":
        return Start()
    if mode == "resume_path":
        path = overrides.text("trainer.resume_from_path") or ""
        match = _FOLDER.search(path)
        if not match:
            raise CheckpointError(f"trainer.resume_from_path={path!r} names no global_step_N folder")
        if lack := _lacks(overrides, path, world_size):
            raise CheckpointError(f"{lack}: evaluate or resume another step")
        return Start(int(match[1]), path)
    return _newest(overrides, directory, world_size)


def use_start(overrides: Overrides, start: Start) -> None:
    """Makes the recipe use a start that its tracker file does not name."""
    if not start.skipped:
        return
    overrides.set("trainer.resume_mode", "resume_path" if start.path else "disable")
    if start.path:
        overrides.set("trainer.resume_from_path", start.path)


def _newest(overrides: Overrides, directory: str, world_size: int) -> Start:
    text = _tracker(directory)
    if text is None:
        return Start()
    step = _step(text)
    if step is None:
        lack = f"{os.path.join(directory, TRACKER)} holds {text[:40]!r}, not a step"
    else:
        lack = _lacks(overrides, folder(directory, step), world_size)
        if not lack:
            return Start(step, folder(directory, step))
    saved = saved_steps(directory)
    for other in reversed(saved):
        if other != step and not _lacks(overrides, folder(directory, other), world_size):
            return Start(other, folder(directory, other), lack)
    if step is None and not saved:
        return Start(skipped=lack)
    raise CheckpointError(
        f"{lack}, and no other step is complete; the trainer would silently start from the base model, or fail on the "
        "GPUs: restore a step, or use another directory"
    )


def _lacks(overrides: Overrides, path: str, world_size: int) -> str:
    """Why the checkpoint cannot be loaded; empty if it can. Raises CheckpointError if another number of GPUs wrote it."""
    if not os.path.isdir(path):
        return f"{path} is missing"
    contents = (overrides.text("actor_rollout_ref.actor.checkpoint.contents") or "[model,optimizer,extra]").strip("[]")
    kinds = [_KINDS[one] for one in re.split(r"[\s,'\"]+", contents) if one in _KINDS]
    parts = ["actor", "critic"] if overrides.text("algorithm.adv_estimator") == "gae" else ["actor"]
    for part in parts:
        shards = os.path.join(path, part)
        _check_world(shards, world_size)
        for kind in kinds:
            for rank in range(world_size):
                name = os.path.join(shards, f"{kind}_world_size_{world_size}_rank_{rank}.pt")
                try:
                    if os.path.getsize(name) > 0:
                        continue
                except OSError:
                    pass
                return f"{name} is missing or empty"
    return ""


def _check_world(shards: str, world_size: int) -> None:
    """Shards can be loaded only by the number of GPUs that wrote them."""
    try:
        names = os.listdir(shards)
    except OSError:
        return
    sizes = {int(match[1]) for match in map(_SHARD.fullmatch, names) if match}
    if sizes and world_size not in sizes:
        raise CheckpointError(
            f"{shards} was written by {min(sizes)} GPUs and this run has {world_size}: its shards fit the same number only"
        )
