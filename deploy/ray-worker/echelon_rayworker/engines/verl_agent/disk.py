"""Whether the checkpoints of a run have room on their file system."""

from __future__ import annotations

from ..answers import Answer
from ..diskspace import existing_part, free_at, size_of
from .settings import Settings


def check_disk(settings: Settings) -> list[Answer]:
    """The free space of the checkpoints' file system against what the run will write; nothing if that is unknown."""
    if not settings.disk_bytes:
        return []
    directory = existing_part(settings.checkpoint_dir)
    free = free_at(directory)
    missing = settings.disk_bytes - size_of(settings.checkpoint_dir)
    text = f"the checkpoints need {missing / 1e9:.1f} GB more, and {free / 1e9:.1f} GB are free at {directory}"
    if missing <= 0:
        return [Answer("disk", True, f"the checkpoints that are there take the space already; {free / 1e9:.1f} GB are free")]
    remedy = "make room, lower training.keepCheckpoints, or use a larger file system: a training with a full disk fails"
    return [Answer("disk", missing <= free, text, "" if missing <= free else remedy)]
