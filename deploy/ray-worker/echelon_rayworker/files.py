"""Files that are whole after a crash, and locks that die with their holders."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import stat
import time
from typing import Optional


def open_regular(path: str, flags: int = os.O_RDONLY, dir_fd: Optional[int] = None) -> int:
    """Opens a regular file that exists. It never waits (for the other end of a FIFO) and follows no link. OSError for
    everything else that may have the name: a training can put anything into its directories."""
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise OSError(errno.EINVAL, "it is not a regular file", path)


def read_regular(path: str, max_bytes: int) -> bytes:
    """A regular file's bytes; of a longer file the first ``max_bytes``. OSError as ``open_regular``."""
    with open(open_regular(path), "rb") as file:
        return file.read(max_bytes)


def is_regular(path: str) -> bool:
    """Whether a regular file, and no link to one, has this name."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def create_file(path: str, flags: int) -> int:
    """Opens a new, empty file for the owner alone; what had its name before is removed, whatever it is."""
    for last in (False, False, True):
        try:
            return os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            if last:
                raise
            remove(path)
    raise AssertionError("not reached")


def remove(path: str) -> None:
    """Removes what has this name, a directory with all that is in it. OSError where that cannot be done."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError:
        shutil.rmtree(path)


def sync_directory(directory: str) -> None:
    """Flushes a directory's entries, so that a new or renamed file in it survives a crash."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_directories(path: str) -> None:
    """Makes a directory and its missing parents, for the owner alone; their entries survive a crash."""
    if not os.path.isdir(path):
        parent = os.path.dirname(path)
        make_directories(parent)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            return
        sync_directory(parent)


def write_file(path: str, data: bytes) -> None:
    """Writes a file whole or not at all: beside it, flushed, renamed, the directory flushed. Mode 0600."""
    temporary = f"{path}.{secrets.token_hex(4)}.new"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        os.fsync(fd)
        if os.path.isdir(path) and not os.path.islink(path):
            remove(path)
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    finally:
        os.close(fd)
    sync_directory(os.path.dirname(path))


def lock_file(path: str, wait_seconds: float = 0.0) -> Optional[int]:
    """Takes a file's exclusive lock; returns the descriptor that holds it, or None where another holds it still
    after ``wait_seconds``. The lock belongs to the descriptor and to every process that inherits it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
                os.close(fd)
                raise
        if time.monotonic() >= deadline:
            os.close(fd)
            return None
        time.sleep(0.01)


def is_locked(path: str) -> bool:
    """Whether a process holds the file's exclusive lock. False for a file that does not exist."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two who look do not take each other for a holder.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
            return True
        raise
    finally:
        os.close(fd)
