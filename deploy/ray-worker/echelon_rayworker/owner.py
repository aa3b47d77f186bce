"""The owner of a ray-worker: one installation of Echelon, under one name of a cluster. Two owners would allocate its GPUs
twice. The first caller that says who it is becomes the owner; callers of older versions do not say it."""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import Callable

from echelon_rayworker.files import read_regular, remove, write_file

MAX_BYTES = 256
# Calls of an owner that has left may be under way, of any of its dispatchers: for so long they do not make it the owner again.
LEAVING_SECONDS = 60.0
OWNER = re.compile(r"[\w.-]{1,128}/[\w.-]{1,100}")


class Owner:
    """The owner as the state directory has it; to be used from one thread."""

    def __init__(self, state_dir: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = os.path.join(os.path.abspath(state_dir), "owner")
        self._clock = clock
        self._known = ""
        self._left, self._left_at = "", 0.0

    def refusal(self, caller: str, release: bool) -> str:
        """Why this caller, ``installation/cluster``, may not use the ray-worker; empty if it may. The owner leaves with
        ``release``."""
        if not OWNER.fullmatch(caller):
            return "echelon-owner must be installation/cluster"
        if self._known != caller:
            # An operator may have deleted the file.
            self._known = self._stored()
        if self._known and self._known != caller:
            return self._belongs(caller)
        if release:
            remove(self._path)
            self._known = ""
            self._left, self._left_at = caller, self._clock()
        elif not self._known and not self._has_just_left(caller):
            # A full disk: the next call tries again.
            with contextlib.suppress(OSError):
                write_file(self._path, caller.encode())
                self._known = caller
        return ""

    def _has_just_left(self, caller: str) -> bool:
        return caller == self._left and self._clock() - self._left_at < LEAVING_SECONDS

    def _belongs(self, caller: str) -> str:
        installation, _, cluster = self._known.partition("/")
        other = "this installation" if caller.startswith(installation + "/") else f"installation {installation}"
        return (
            f"this ray-worker belongs to {other} as cluster {cluster}, so no other may allocate its GPUs. Remove that "
            f"cluster there; if it no longer exists, delete the file {self._path}"
        )

    def _stored(self) -> str:
        try:
            return read_regular(self._path, MAX_BYTES).decode("ascii", "replace").strip()
        except OSError:
            return ""
