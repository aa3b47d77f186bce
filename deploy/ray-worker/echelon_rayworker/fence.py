"""What of an experiment may not start any more, on disk."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from echelon_rayworker.files import make_directories, write_file

FENCE_FILE = "fence.json"


@dataclass(frozen=True)
class Fence:
    """Attempts up to ``tombstone``, and below ``highest``, never start; 0 for none."""

    highest: int = 0
    tombstone: int = 0


def read_fence(experiment_dir: str) -> Fence:
    """The experiment's fence; an open one where nothing was launched or stopped."""
    try:
        with open(os.path.join(experiment_dir, FENCE_FILE), encoding="utf-8") as file:
            record = json.load(file)
    except FileNotFoundError:
        return Fence()
    return Fence(int(record["highest"]), int(record["tombstone"]))


def write_fence(experiment_dir: str, fence: Fence) -> None:
    """Puts the fence on disk; returns when it survives a crash."""
    if fence == read_fence(experiment_dir):
        return
    make_directories(experiment_dir)
    record = {"highest": fence.highest, "tombstone": fence.tombstone}
    write_file(os.path.join(experiment_dir, FENCE_FILE), json.dumps(record).encode())
