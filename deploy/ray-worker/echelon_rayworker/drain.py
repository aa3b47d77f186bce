"""Takes what a driver prints off its pipes, whatever happens to the log: a full disk never blocks a print."""

from __future__ import annotations

import os
import re
import selectors
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from echelon_rayworker.redaction import Redactor

LINE_BYTES = 16 * 1024
RUN_BYTES = 64 * 1024
QUEUE_BYTES = 8 * 1024 * 1024
# What a line costs in memory besides its text: many empty lines must not be free.
LINE_OVERHEAD_BYTES = 64
LAST_LINES = 50
LAST_LINE_CHARACTERS = 2000
_READ_BYTES = 256 * 1024
# The state of a progress bar is handed on this often: a bar that changes for hours must not fill the log.
PROGRESS_SECONDS = 2.0
STATE_BYTES = 2000
# After a carriage return alone, a terminal writes over the line: a progress bar is one line that changes.
_LINE_END = re.compile(rb"(\r*\n|\r+)")


@dataclass
class Run:
    """Consecutive lines of one pipe; ``source`` is a LogLines.Source. ``is_update``: they are states of a line that was not ended
    yet, and the next state replaced each."""

    source: int
    lines: list[str] = field(default_factory=list)
    size: int = 0
    cut_bytes: int = 0
    is_update: bool = False


class Piece(NamedTuple):
    """A line, or (``is_update``) a state of a line that the next state replaces. ``cut``: bytes beyond the bound of a line."""

    text: bytes
    cut: int
    is_update: bool


class LineSplitter:
    """Cuts a byte stream into lines of bounded length; what a longer one has besides is counted."""

    def __init__(self, line_bytes: int = LINE_BYTES) -> None:
        self._line_bytes = line_bytes
        self._text = bytearray()
        self._cut = 0
        # A carriage return at the very end of the data: what follows says whether it ends the line.
        self._tail = b""
        self._is_anew = False

    @property
    def present(self) -> bytes:
        """The present state of a line that was begun anew and has not ended; empty for any other."""
        return bytes(self._text[:STATE_BYTES]) if self._is_anew or self._tail else b""

    def feed(self, data: bytes) -> list[Piece]:
        """What ``data`` completes, without line ends."""
        data = self._tail + data
        body = data.rstrip(b"\r")
        self._tail = b"\r" if len(body) < len(data) else b""
        *ended, rest = _LINE_END.split(body)
        pieces: list[Piece] = []
        for text, end in zip(ended[::2], ended[1::2]):
            self._extend(text)
            is_update = not end.endswith(b"\n")
            # A bar begins with a carriage return.
            if self._text or not is_update:
                pieces.append(self._take(is_update))
            self._is_anew = is_update
        self._extend(rest)
        return pieces

    def finish(self) -> list[Piece]:
        """The last line, if the stream did not end with a line end."""
        self._tail, self._is_anew = b"", False
        return [self._take(is_update=False)] if self._text else []

    def _extend(self, text: bytes) -> None:
        room = self._line_bytes - len(self._text)
        self._text += text[:room]
        self._cut += max(0, len(text) - room)

    def _take(self, is_update: bool) -> Piece:
        piece = Piece(bytes(self._text), self._cut, is_update)
        self._text, self._cut = bytearray(), 0
        return piece


class PipeDrain:
    """Reads pipes in a thread of its own into a bounded queue. Where the queue is full, lines are dropped and
    counted."""

    def __init__(
        self, pipes: dict[int, int], redactor: Redactor, line_bytes: int = LINE_BYTES, takes_updates: bool = False
    ) -> None:
        """``pipes``: file descriptor → LogLines.Source; they are closed by the drain. ``takes_updates``: every state of a progress
        bar that was replaced is queued too."""
        self._line_bytes, self._takes_updates = line_bytes, takes_updates
        # The present states of progress bars, those that were taken last, and when.
        self._progress: dict[int, str] = {}
        self._shown: dict[int, str] = {}
        self._shown_at = {source: -PROGRESS_SECONDS for source in pipes.values()}
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

    def take_progress(self) -> list[tuple[int, str]]:
        """The present states of progress bars, each with its source, if they have changed; so many seconds apart at least."""
        with self._lock:
            now = time.monotonic()
            due = [
                (source, text) for source, text in self._progress.items()
                if text != self._shown.get(source) and now - self._shown_at[source] >= PROGRESS_SECONDS
            ]  # fmt: skip
            self._shown.update(due)
            self._shown_at.update((source, now) for source, _ in due)
            return due

    def last_lines(self, source: int) -> list[str]:
        """The last lines of one pipe, at most 50."""
        with self._lock:
            return list(self._last[source])

    def join(self, timeout_seconds: float) -> bool:
        """Waits until every pipe is at its end; returns whether they are."""
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        splitters = {fd: LineSplitter(self._line_bytes) for fd in self._pipes}
        with selectors.DefaultSelector() as selector:
            for fd in self._pipes:
                selector.register(fd, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select():
                    fd = key.fd
                    data = os.read(fd, _READ_BYTES)
                    pieces = splitters[fd].feed(data) if data else splitters[fd].finish()
                    self._add(self._pipes[fd], pieces, splitters[fd].present)
                    if not data:
                        selector.unregister(fd)
                        os.close(fd)
        self.changed.set()

    def _add(self, source: int, pieces: list[Piece], present: bytes) -> None:
        with self._lock:
            for raw, cut, is_update in pieces:
                if is_update and not self._takes_updates:
                    continue
                text = self._redactors[source].line(raw.decode("utf-8", "replace"))
                self._last[source].append(text[:LAST_LINE_CHARACTERS])
                size = len(raw) + 1
                if self._queued_bytes + size + LINE_OVERHEAD_BYTES > QUEUE_BYTES:
                    self._dropped[0] += 1
                    self._dropped[1] += size + cut
                    continue
                run = self._queue[-1] if self._queue else None
                if run is None or (run.source, run.is_update) != (source, is_update) or run.size >= RUN_BYTES:
                    run = Run(source, is_update=is_update)
                    self._queue.append(run)
                run.lines.append(text)
                run.size += size
                run.cut_bytes += cut
                self._queued_bytes += size + LINE_OVERHEAD_BYTES
            if present:
                self._progress[source] = self._redactors[source].line(present.decode("utf-8", "replace"))
            else:
                self._progress.pop(source, None)
                self._shown.pop(source, None)
        self.changed.set()
