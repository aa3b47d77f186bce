"""Whether the checkpoints of a run have room on their file system."""

from __future__ import annotations

import os
import shutil

from ..answers import Answer
from .settings import Settings


def check_disk(settings: Settings) -> list[Answer]:
    """The free space of the checkpoints' file system against what the run will write; nothing if that is unknown."""
    if not settings.disk_bytes:
        return []
    directory = settings.checkpoint_dir
    while not os.path.isdir(directory) and os.path.dirname(directory) != directory:
        directory = os.path.dirname(directory)
    free = shutil.disk_usage(directory).free
    missing = settings.disk_bytes - size_of(settings.checkpoint_dir)
    text = f"the checkpoints need {missing / 1e9:.1f} GB more, and {free / 1e9:.1f} GB are free at {directory}"
    if missing <= 0:
        return [Answer("disk", True, f"the checkpoints that are there take the space already; {free / 1e9:.1f} GB are free")]
    remedy = "make room, lower training.keepCheckpoints, or use a larger file system: a training with a full disk fails"
    return [Answer("disk", missing <= free, text, "" if missing <= free else remedy)]


def size_of(directory: str) -> int:
    """Bytes of the files below a directory; 0 if it is not there."""
    total = 0
    for place, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.path.getsize(os.path.join(place, name))
            except OSError:
                pass
    return total
