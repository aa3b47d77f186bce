"""The ranks of a distributed training: which of them this process is, and how what each records of a step becomes one batch.

No collective is called and no rank waits for another: what the ranks share is the name of the run, which each derives from what the
launcher gave it.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from dataclasses import dataclass
from typing import Any, Mapping

# What a launcher or Echelon gives to every rank of a training alike, and gives again to no other one.
_SHARED = (
    "ECHELON_EXPERIMENT", "ECHELON_ATTEMPT", "ECHELON_RUN_NAME", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR",
    "MASTER_PORT", "SLURM_JOB_ID", "SLURM_STEP_ID", "RAY_JOB_ID",
)  # fmt: skip
_ROWS = ("group", "trajectory", "microBatch", "policyVersionStart", "policyVersionEnd")


@dataclass(frozen=True)
class Rank:
    """One of the ranks that train on different rows."""

    number: int = 0
    size: int = 1


def run_of(environment: Mapping[str, str], training: int) -> str:
    """A name that the ranks of one training have in common. A process without a launcher has one of its own. `training`: its
    number in this process."""
    given = [environment.get(name, "") for name in _SHARED]
    if not any(given):
        return uuid.uuid4().hex
    given.append(str(training))
    size = environment.get("WORLD_SIZE", "")
    if size and size == environment.get("LOCAL_WORLD_SIZE"):
        # Launchers of one machine give the same address and port again, but their processes differ.
        given.append(_started(os.getppid()))
    return hashlib.sha256("\n".join(given).encode()).hexdigest()[:32]


def _started(pid: int) -> str:
    """The process and when it started, where the system tells it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return f"{pid} {file.read().rpartition(')')[2].split()[19]}"
    except (OSError, IndexError):
        return str(pid)


def rank_of(batch: Mapping[str, Any]) -> Rank:
    """The rank that recorded a step."""
    step = batch.get("step") or {}
    (first, *_) = step.get("microBatches") or [{}]
    return Rank(int(first.get("rank", 0)), int(step.get("dataParallelSize", 1)))


def joined(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """One step of what its ranks recorded, in the order of the ranks. Columns that one of them lacks are omitted."""
    import numpy

    parts = sorted(parts, key=lambda part: rank_of(part).number)
    layouts = [part["step"]["microBatches"] for part in parts]
    starts = numpy.cumsum([0, *map(len, layouts)])
    ends = numpy.cumsum([0, *(int(part["tokens"]["offset"][-1]) for part in parts)])
    keys = [key for key in parts[0]["tokens"] if key != "offset" and all(key in part["tokens"] for part in parts)]
    tokens = {key: numpy.concatenate([part["tokens"][key] for part in parts]) for key in keys}
    offsets = [numpy.asarray(part["tokens"]["offset"])[1:] + start for part, start in zip(parts, ends)]
    rows = {key: numpy.concatenate([part[key] for part in parts]) for key in _ROWS if all(key in part for part in parts)}
    rows["microBatch"] = numpy.concatenate([part["microBatch"] + start for part, start in zip(parts, starts)])
    step = {**parts[0]["step"], "microBatches": [one for layout in layouts for one in layout]}
    windows = [part["step"].get("window") for part in parts]
    if all(windows):
        step["window"] = {**windows[0], "tokens": sum(window["tokens"] for window in windows)}
    for key in ("rowDigests", "sourceDigests"):
        own = [part["step"].get(key) for part in parts]
        step.pop(key, None)
        if all(one is not None for one in own):
            step[key] = [digest for one in own for digest in one]
    joined_batch = {**parts[0], **rows, "step": step, "tokens": {"offset": numpy.concatenate([[0], *offsets]), **tokens}}
    if all("reported" in part for part in parts):
        joined_batch["reported"] = {"advantage": numpy.concatenate([part["reported"]["advantage"] for part in parts])}
    return joined_batch
