"""Python runs this at the start of every process of a campaign's Ray: a witness in each driver, beside the supervisor.

A driver takes the lock of its experiment, so that a second one of the same experiment is seen, and notes its start and
its end in a log that no part of the system reads.
"""

import atexit
import fcntl
import json
import os
import sys


def _note(directory: str, what: str) -> None:
    line = {
        "what": what, "experiment": os.environ["ECHELON_EXPERIMENT"], "attempt": int(os.environ["ECHELON_ATTEMPT"]),
        "pid": os.getpid(),
    }  # fmt: skip
    fd = os.open(os.path.join(directory, "drivers.jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, (json.dumps(line) + "\n").encode())
    os.close(fd)


def _watch(directory: str) -> int:
    """The descriptor of the lock, which is free when this process has ended."""
    lock = os.open(os.path.join(directory, os.environ["ECHELON_EXPERIMENT"] + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _note(directory, "beside another")
    _note(directory, "start")
    atexit.register(_note, directory, "end")
    return lock


if "WITNESS_DIRECTORY" in os.environ and "".join(sys.orig_argv[1:3]).startswith("-mechelon_rayworker.engines."):
    LOCK = _watch(os.environ["WITNESS_DIRECTORY"])
