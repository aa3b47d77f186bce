"""Takes what a driver prints off its pipes, whatever happens to the log: a full disk never blocks a print."""

from __future__ import annotations

import os
import re
import selectors
import threading
from collections import deque
from dataclasses import dataclass, field

from echelon_rayworker.redaction import Redactor

LINE_BYTES = 16 * 1024
RUN_BYTES = 64 * 1024
QUEUE_BYTES = 8 * 1024 * 1024
# What a line costs in memory besides its text: many empty lines must not be free.
LINE_OVERHEAD_BYTES = 64
LAST_LINES = 50
LAST_LINE_CHARACTERS = 2000
_READ_BYTES = 256 * 1024
# A progress bar ends its lines with a carriage return alone.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


@dataclass
class Run:
    """Consecutive lines of one pipe; ``source`` is a LogLines.Source."""

    source: int
    lines: list[str] = field(default_factory=list)
    size: int = 0
    cut_bytes: int = 0


class LineSplitter:
    """Cuts a byte stream into lines of at most ``LINE_BYTES``; what a longer one has besides is counted."""

    def __init__(self) -> None:
        self._rest = b""
        self._rest_cut = 0

    def feed(self, data: bytes) -> list[tuple[bytes, int]]:
        """The lines that ``data`` completes: (line without its end, bytes cut off)."""
        parts = _LINE_END.split(self._rest + data)
        lines: list[tuple[bytes, int]] = []
        for part in parts[:-1]:
            lines.append(self._cut(part))
            self._rest_cut = 0
        rest = parts[-1]
        # A carriage return at the very end waits for what follows it; it is kept apart from the cut.
        tail = b"\r" if rest.endswith(b"\r") else b""
        self._rest, self._rest_cut = self._cut(rest[: len(rest) - len(tail)])
        self._rest += tail
        return lines

    def finish(self) -> list[tuple[bytes, int]]:
        """The last line, if the stream did not end with a line end."""
        rest, cut = self._cut(self._rest[:-1] if self._rest.endswith(b"\r") else self._rest)
        ended = self._rest != b""
        self._rest, self._rest_cut = b"", 0
        return [(rest, cut)] if ended else []

    def _cut(self, part: bytes) -> tuple[bytes, int]:
        return part[:LINE_BYTES], self._rest_cut + max(0, len(part) - LINE_BYTES)


class PipeDrain:
    """Reads pipes in a thread of its own into a bounded queue. Where the queue is full, lines are dropped and
    counted."""

    def __init__(self, pipes: dict[int, int], redactor: Redactor) -> None:
        """``pipes``: file descriptor → LogLines.Source; they are closed by the drain."""
        self._pipes = pipes
        self._redactors = {source: redactor.lines() for source in pipes.values()}
        self._lock = threading.Lock()
        self._queue: deque[Run] = deque()
        self._queued_bytes = 0
        self._dropped = [0, 0]
        self._last: dict[int, deque[str]] = {source: deque(maxlen=LAST_LINES) for source in pipes.values()}
        self.changed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="echelon-drain", daemon=True)
        self._thread.start()

    def take(self) -> list[Run]:
        """What has been read since the last call, in order of arrival."""
        with self._lock:
            taken = list(self._queue)
            self._queue.clear()
            self._queued_bytes = 0
            return taken

    def take_dropped(self) -> tuple[int, int]:
        """Lines and bytes dropped since the last call."""
        with self._lock:
            lines, size = self._dropped
            self._dropped = [0, 0]
            return lines, size

    def last_lines(self, source: int) -> list[str]:
        """The last lines of one pipe, at most 50."""
        with self._lock:
            return list(self._last[source])

    def join(self, timeout_seconds: float) -> bool:
        """Waits until every pipe is at its end; returns whether they are."""
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        splitters = {fd: LineSplitter() for fd in self._pipes}
        with selectors.DefaultSelector() as selector:
            for fd in self._pipes:
                selector.register(fd, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select():
                    fd = key.fd
                    data = os.read(fd, _READ_BYTES)
                    self._add(self._pipes[fd], splitters[fd].feed(data) if data else splitters[fd].finish())
                    if not data:
                        selector.unregister(fd)
                        os.close(fd)
        self.changed.set()

    def _add(self, source: int, lines: list[tuple[bytes, int]]) -> None:
        with self._lock:
            for raw, cut in lines:
                text = self._redactors[source].line(raw.decode("utf-8", "replace"))
                self._last[source].append(text[:LAST_LINE_CHARACTERS])
                size = len(raw) + 1
                if self._queued_bytes + size + LINE_OVERHEAD_BYTES > QUEUE_BYTES:
                    self._dropped[0] += 1
                    self._dropped[1] += size + cut
                    continue
                run = self._queue[-1] if self._queue else None
                if run is None or run.source != source or run.size >= RUN_BYTES:
                    run = Run(source)
                    self._queue.append(run)
                run.lines.append(text)
                run.size += size
                run.cut_bytes += cut
                self._queued_bytes += size + LINE_OVERHEAD_BYTES
        self.changed.set()
