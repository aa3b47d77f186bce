"""The verifier's process: Node answers the requests of this Python process, one after another, as long as it lives."""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import tempfile
import threading
import time
from typing import IO, Any

from .errors import VerifierError
from .node import FRAMES, find_node

# Memory of one batch's verification, by an estimate that is made before. A batch beyond it is unverifiable.
BUDGET_BYTES = 2**30
# Memory of the JavaScript objects.
_HEAP_MEBIBYTES = 1024
# A process that holds more after a request makes room for a fresh one.
_MAX_IDLE_BYTES = 2**29
_LENGTH_BYTES = 4
_CLOSE_SECONDS = 2.0
_MAX_STDERR_BYTES = 2_000


class Verifier:
    """One process of Node, which starts with the first request. Threads take turns.

    Node ends when its standard input ends: with `close`, and when this process ends in whatever way. A request that is
    interrupted or takes too long ends it too, and the next one starts another.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of Node; None if it does not run."""
        return None if self._process is None else self._process.pid

    def request(self, name: str, wire: bytes | None = None, *, timeout: float, **fields: Any) -> Any:
        """The answer to a request of requests.ts. ValueError if the request is at fault, VerifierError if there is no answer."""
        payload = json.dumps({"name": name, **fields}).encode()
        with self._turn:
            may_be_gone = self._process is not None
            try:
                response = self._answered(payload, wire, timeout)
            except VerifierError as error:
                # The system may have ended an idle process; the request is not at fault then.
                if error.code != "crashed" or not may_be_gone:
                    raise
                response = self._answered(payload, wire, timeout)
            if response["rssBytes"] > _MAX_IDLE_BYTES:
                self._end()
        if "answer" in response:
            return response["answer"]
        if response["invalid"]:
            raise ValueError(response["problem"])
        raise VerifierError("failed", f"The verifier failed: {response['problem']}")

    def close(self) -> None:
        """Ends Node; a later request starts it again."""
        with self._turn:
            self._end(_CLOSE_SECONDS)

    def abandon(self) -> None:
        """In a forked process: leaves Node to the parent, and closes this process's ends of its pipes."""
        process, self._process, self._turn = self._process, None, threading.Lock()
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        # It is no child of this process, which must not wait for it.
        process.returncode = 0

    def _answered(self, request: bytes, wire: bytes | None, timeout: float) -> Any:
        process = self._running()
        deadline = time.monotonic() + timeout
        # A thread for each call would take longer than the call; only Windows cannot wait for a pipe in another way.
        timer = None if hasattr(select, "poll") else threading.Timer(timeout, process.kill)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            return self._exchange(process, request, wire, deadline)
        except BaseException as error:
            is_late = time.monotonic() >= deadline
            has_ended = isinstance(error, (OSError, EOFError))
            # Whatever the other end sends later would be read as the answer to another request.
            reason = self._end(_CLOSE_SECONDS if has_ended and not is_late else 0)
            if not has_ended:
                raise
            if is_late:
                raise VerifierError("timeout", f"The verifier took longer than {timeout:g} s, so it was ended.") from None
            raise VerifierError("crashed", f"The verifier ended ({reason}).", retry=True) from None
        finally:
            if timer is not None:
                timer.cancel()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        self._stderr = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [find_node(), f"--max-old-space-size={_HEAP_MEBIBYTES}", str(FRAMES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            # Signals of the terminal are for this process alone.
            start_new_session=True,
        )
        if hasattr(select, "poll") and self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], request: bytes, wire: bytes | None, deadline: float) -> Any:
        assert process.stdin is not None and process.stdout is not None
        _write(process.stdin, request, deadline)
        if wire is not None:
            _write(process.stdin, wire, deadline)
        length = int.from_bytes(_read(process.stdout, _LENGTH_BYTES, deadline), "little")
        return json.loads(_read(process.stdout, length, deadline))

    def _end(self, seconds: float = 0) -> str:
        """Ends Node within `seconds`, then by force. Returns how it ended, with the end of its standard error."""
        process, self._process = self._process, None
        stderr, self._stderr = self._stderr, None
        if process is None:
            return ""
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        with stderr or tempfile.TemporaryFile() as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _MAX_STDERR_BYTES))
            text = file.read().decode("utf-8", "replace").strip()
        return f"exit status {status}{': ' if text else ''}{text}"


def _write(pipe: IO[bytes], payload: bytes, deadline: float) -> None:
    left = memoryview(len(payload).to_bytes(_LENGTH_BYTES, "little") + payload)
    while len(left) > 0:
        _wait(pipe, deadline, writes=True)
        # None: the pipe is full.
        left = left[pipe.write(left) or 0 :]


def _read(pipe: IO[bytes], length: int, deadline: float) -> bytes:
    data = bytearray()
    while len(data) < length:
        _wait(pipe, deadline)
        part = pipe.read(length - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def _wait(pipe: IO[bytes], deadline: float, *, writes: bool = False) -> None:
    """Returns once the pipe is ready. TimeoutError at the deadline."""
    if not hasattr(select, "poll"):
        return
    ready = select.poll()
    ready.register(pipe, select.POLLOUT if writes else select.POLLIN)
    if not ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError


shared = Verifier()
"""The verifier of this process."""

atexit.register(shared.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared.abandon)
