"""What of an experiment may not start any more, on disk."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from echelon_rayworker.eventlog import DataLoss
from echelon_rayworker.files import make_directories, read_regular, write_file

FENCE_FILE = "fence.json"
_MAX_BYTES = 4096
_MAX_ATTEMPT = 2**32 - 1


@dataclass(frozen=True)
class Fence:
    """Attempts up to ``tombstone``, and below ``highest``, never start; 0 for none."""

    highest: int = 0
    tombstone: int = 0


def read_fence(experiment_dir: str) -> Fence:
    """The experiment's fence; an open one if nothing was launched or stopped. DataLoss if it is damaged."""
    try:
        record = json.loads(read_regular(os.path.join(experiment_dir, FENCE_FILE), _MAX_BYTES))
        fence = Fence(int(record["highest"]), int(record["tombstone"]))
    except FileNotFoundError:
        return Fence()
    except (OSError, ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
        raise DataLoss(f"{FENCE_FILE} is damaged: {type(error).__name__}: {error}") from error
    if not (0 <= fence.highest <= _MAX_ATTEMPT and 0 <= fence.tombstone <= _MAX_ATTEMPT):
        raise DataLoss(f"{FENCE_FILE} is damaged: {fence}")
    return fence


def write_fence(experiment_dir: str, fence: Fence) -> None:
    """Puts the fence on disk; returns when it survives a crash."""
    if fence == read_fence(experiment_dir):
        return
    make_directories(experiment_dir)
    record = {"highest": fence.highest, "tombstone": fence.tombstone}
    write_file(os.path.join(experiment_dir, FENCE_FILE), json.dumps(record).encode())
