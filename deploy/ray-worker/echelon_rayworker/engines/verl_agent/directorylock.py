"""One training at a time in a checkpoint directory. Trainings of equal settings share one: at once, each would overwrite
the other's checkpoints and resume from them.

The lock is the file system's own (`flock`): the driver and the launcher hold it, and it is free when both are gone,
however they ended. Evaluations take none, since they only read.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from typing import Mapping, Optional

from echelon_rayworker.files import is_locked, lock_file

NAME = ".echelon-lock"


class DirectoryInUse(ValueError):
    """Another training has the directory; the message says which, and the remedy."""


def take(directory: str, environment: Mapping[str, str], wait_seconds: float) -> Optional[int]:
    """Takes the directory; a holder that is just ending (an attempt that was replaced) gets ``wait_seconds``. Returns the
    descriptor that holds it, to be inherited by the processes that must hold it too; None if the file system has no locks.
    Raises DirectoryInUse, and OSError where the directory cannot be written."""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, NAME)
    try:
        held = lock_file(path, wait_seconds)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise
        print(f"echelon: {directory} knows no locks: see to it that no second training uses it", file=sys.stderr, flush=True)
        return None
    if held is None:
        raise DirectoryInUse(
            f"{directory} is in use by {holder(directory)}, which has the same settings: wait for it or cancel it, or "
            "set checkpoints.label to keep this training apart"
        )
    about = {
        "experiment": environment.get("ECHELON_EXPERIMENT", ""), "attempt": environment.get("ECHELON_ATTEMPT", ""),
        "host": socket.gethostname(), "pid": os.getpid(),
    }
    os.ftruncate(held, 0)
    os.pwrite(held, json.dumps(about).encode(), 0)
    return held


def in_use(directory: str) -> str:
    """The training that has the directory, in words; empty if none has."""
    try:
        return holder(directory) if is_locked(os.path.join(directory, NAME)) else ""
    except OSError:
        return ""


def holder(directory: str) -> str:
    """Who took the directory last, in words."""
    try:
        with open(os.path.join(directory, NAME), encoding="utf-8") as file:
            about = json.load(file)
        return f"experiment {about['experiment'] or '-'}, attempt {about['attempt'] or '-'}, on {about['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another training"
