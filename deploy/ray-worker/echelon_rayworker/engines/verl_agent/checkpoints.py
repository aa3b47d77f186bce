"""The checkpoint from which a run starts."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from .. import savedsteps
from .overrides import Overrides

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


def find_start(overrides: Overrides, directory: str, world_size: int) -> Start:
    """The checkpoint from which the run starts: the step of the tracker file, else the newest complete one. Raises
    CheckpointError if the recipe would silently start from the base model, or fail after it has taken the GPUs."""
    mode = overrides.text("trainer.resume_mode", "auto")
    if mode == "disable":
        return Start()
    if mode == "resume_path":
        path = overrides.text("trainer.resume_from_path") or ""
        step = savedsteps.step_of(path)
        if step is None:
            raise CheckpointError(f"trainer.resume_from_path={path!r} names no global_step_N folder")
        if lack := _lacks(overrides, path, world_size):
            raise CheckpointError(f"{lack}: evaluate or resume another step")
        return Start(step, path)
    return _newest(overrides, directory, world_size)


def use_start(overrides: Overrides, start: Start) -> None:
    """Makes the recipe use a start that its tracker file does not name."""
    if not start.skipped:
        return
    overrides.set("trainer.resume_mode", "resume_path" if start.path else "disable")
    if start.path:
        overrides.set("trainer.resume_from_path", start.path)


def _newest(overrides: Overrides, directory: str, world_size: int) -> Start:
    text = savedsteps.tracker_text(directory)
    if text is None:
        return Start()
    step, lack = savedsteps.newest_complete(directory, lambda path: _lacks(overrides, path, world_size))
    if step is not None:
        return Start(step, savedsteps.folder(directory, step), lack)
    if not text.isdigit() and not savedsteps.saved_steps(directory):
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
        if lack := savedsteps.missing_shard(shards, kinds, world_size):
            return lack
    return ""


def _check_world(shards: str, world_size: int) -> None:
    """Shards can be loaded only by the number of GPUs that wrote them."""
    sizes = savedsteps.world_sizes(shards)
    if sizes and world_size not in sizes:
        raise CheckpointError(
            f"{shards} was written by {sizes[0]} GPUs and this run has {world_size}: its shards fit the same number only"
        )
