"""Checkpoints: everything from which the same curve continues, written whole or not at all.

A checkpoint is `checkpoints/step-NNNNNN.npz` in the experiment's directory: the learner's arrays, the state of its
random numbers, the step, and the settings that decide the curve. Rollouts draw from generators keyed by seed and
step, so they have no state.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Mapping

import numpy as np

from .learner import Learner

KEPT = 3
_NAME = re.compile(r"step-(\d+)\.npz")
_ARRAYS = ("weights", "reference", "first_moment", "second_moment")


class OtherSettings(ValueError):
    """The directory's checkpoints belong to a run with other settings."""


def save(
    experiment_dir: str, step: int, learner: Learner, chance: np.random.Generator, curve: Mapping[str, object]
) -> str:
    """Writes the checkpoint of a completed step and drops the oldest; returns its path within experiment_dir."""
    directory = Path(experiment_dir, "checkpoints")
    directory.mkdir(parents=True, exist_ok=True)
    facts = {
        "step": step,
        "updates": learner.updates,
        "chance": chance.bit_generator.state,
        "curve": dict(curve),
    }
    content = io.BytesIO()
    np.savez(content, facts=json.dumps(facts), **{name: getattr(learner, name) for name in _ARRAYS})
    path = directory / f"step-{step:06}.npz"
    temporary = directory / f".{path.name}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(content.getbuffer())
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    _sync(directory)
    for _, old in _saved(directory)[:-KEPT]:
        old.unlink(missing_ok=True)
    return str(path.relative_to(experiment_dir))


def resume(
    experiment_dir: str, learner: Learner, chance: np.random.Generator, curve: Mapping[str, object]
) -> int:
    """Loads the newest checkpoint into learner and chance; returns its step, 0 if there is none.

    If one cannot be read, the one before it is loaded, with a line on stderr. Raises OtherSettings.
    """
    for step, path in reversed(_saved(Path(experiment_dir, "checkpoints"))):
        try:
            with np.load(path) as stored:
                facts = json.loads(str(stored["facts"]))
                arrays = {name: stored[name] for name in _ARRAYS}
        except Exception as error:  # noqa: BLE001 - whatever a damaged file causes, an older one may serve
            print(f"cannot read {path.name}, trying the one before it: {error}", file=sys.stderr)
            continue
        _check(path, facts["curve"], dict(curve))
        for name, values in arrays.items():
            setattr(learner, name, values)
        learner.updates = facts["updates"]
        chance.bit_generator.state = facts["chance"]
        return step
    return 0


def _check(path: Path, stored: dict[str, object], ours: dict[str, object]) -> None:
    if different := sorted(key for key in {*stored, *ours} if stored.get(key) != ours.get(key)):
        changes = ", ".join(f"{key}={stored.get(key)} there, {ours.get(key)} here" for key in different)
        raise OtherSettings(f"{path.name} is of a run with other settings ({changes}); give another experiment_dir")


def _saved(directory: Path) -> list[tuple[int, Path]]:
    names = ((_NAME.fullmatch(path.name), path) for path in directory.glob("step-*.npz"))
    return sorted((int(match[1]), path) for match, path in names if match)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
