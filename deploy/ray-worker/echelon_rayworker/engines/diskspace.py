"""Bytes of the files in a directory, and free bytes for a new one."""

from __future__ import annotations

import os
import shutil


def existing_part(directory: str) -> str:
    """The directory, or the nearest one above it that is there."""
    while not os.path.isdir(directory) and os.path.dirname(directory) != directory:
        directory = os.path.dirname(directory)
    return directory


def free_at(directory: str) -> int:
    """Free bytes of the file system on which a directory is or will be."""
    return shutil.disk_usage(existing_part(directory)).free


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
