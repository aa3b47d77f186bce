"""The user's program on one node: started under a keeper, its output taken in bounded portions.

`Node` is used as it is, or as a Ray actor on the allocated node; then it is imported there, from a copy of this package.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Mapping, Optional

from echelon_rayworker.drain import PipeDrain
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import base_environment
from echelon_rayworker.redaction import Redactor

from . import keeper

STDOUT, STDERR = pb.LogLines.STDOUT, pb.LogLines.STDERR
# The pipes are at their ends when the keeper has ended; more is not waited for.
PIPES_SECONDS = 2.0
# Longer than a recorded line may be, so that metrics are found in long ones too.
LINE_BYTES = 1024 * 1024


@dataclass
class Output:
    """What a program printed, once the return code is there all of it."""

    lines: list[tuple[int, str, bool]] = field(default_factory=list)
    """In their order: pipe, text, and whether it is only a state of a line that the next state replaces (a progress bar)."""
    dropped: tuple[int, int] = (0, 0)
    """Lines and bytes that were dropped before these."""
    cut_bytes: int = 0
    """Bytes of lines that were too long."""
    states: list[tuple[int, str]] = field(default_factory=list)
    """Present states of progress bars, by their pipes."""
    code: Optional[int] = None
    left: list[str] = field(default_factory=list)
    """Commands of processes that outlived the program and were ended."""
    is_cut_off: bool = False
    """The pipes were not read to their ends, since another process holds them open."""


class Node:
    """One program. Its calls may come from several threads."""

    def place(self) -> tuple[str, int]:
        """The address of this node among the cluster's, and a free port."""
        address = "127.0.0.1"
        if "ray" in sys.modules:
            import ray.util

            address = ray.util.get_node_ip_address()
        with socket.socket() as probe:
            probe.bind(("", 0))
            return address, probe.getsockname()[1]

    def start_in_ray(self, command: list[str], variables: Mapping[str, str], directory: str, reserved: bool) -> None:
        """As ``start``, in the environment of this Ray process. ``reserved``: Ray has chosen the GPUs of this process."""
        base = base_environment(os.environ, variables.get("RAY_ADDRESS", ""), inside_ray=not reserved)
        self.start(command, {**base, **variables}, directory)

    def start(self, command: list[str], environment: Mapping[str, str], directory: str) -> None:
        """Starts the program. `python` is the interpreter that runs this. Raises OSError."""
        # First, so that `python` has Ray and the capture.
        path = os.pathsep.join((os.path.dirname(sys.executable), environment.get("PATH", os.defpath)))
        control_end, self._control = os.pipe()
        self._status, status_end = os.pipe()
        first = subprocess.Popen(
            [sys.executable, "-m", keeper.__name__, str(control_end), str(status_end), *command],
            cwd=directory, env={**environment, "PATH": path}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, pass_fds=(control_end, status_end), start_new_session=True,
        )  # fmt: skip
        os.close(control_end)
        os.close(status_end)
        pipes = {os.dup(first.stdout.fileno()): STDOUT, os.dup(first.stderr.fileno()): STDERR}
        first.stdout.close()
        first.stderr.close()
        first.wait()
        # Secrets are masked where the driver's own output is recorded.
        self._drain = PipeDrain(pipes, Redactor(), LINE_BYTES, takes_updates=True)
        os.set_blocking(self._status, False)
        self._end: Optional[tuple[int, list[str]]] = None

    def take(self, seconds: float) -> Output:
        """What was printed since the last call; waits so long for something."""
        self._drain.changed.wait(seconds)
        self._drain.changed.clear()
        code, left = self._ended() or (None, [])
        is_cut_off = code is not None and not self._drain.join(PIPES_SECONDS)
        runs = self._drain.take()
        return Output(
            lines=[(run.source, line, run.is_update) for run in runs for line in run.lines],
            states=self._drain.take_progress(), dropped=self._drain.take_dropped(), cut_bytes=sum(run.cut_bytes for run in runs), code=code, left=left,
            is_cut_off=is_cut_off,
        )  # fmt: skip

    def stop(self) -> None:
        """Sends SIGTERM to the program's process group."""
        try:
            os.write(self._control, b"T")
        except BrokenPipeError:
            pass

    def _ended(self) -> Optional[tuple[int, list[str]]]:
        """The return code, and the commands of processes that outlived the program."""
        if self._end is None:
            try:
                said = os.read(self._status, 4096)
            except BlockingIOError:
                return None
            # A keeper that was killed says nothing, and the program was killed with it.
            end = json.loads(said or b'{"code": -9, "left": []}')
            self._end = end["code"], end["left"]
        return self._end
