"""Reads an attempt's event log (see eventlog) from any number on, while it is written or after."""

from __future__ import annotations

import errno
import os
import threading

from echelon_rayworker.eventlog import MAX_SEGMENT_BYTES, DataLoss, list_segments, read_progress, segment_path
from echelon_rayworker.files import open_regular
from echelon_rayworker.framing import HEADER, HEADER_BYTES, MAX_PAYLOAD_BYTES, DamagedFrame, read_frames

READ_BYTES = 1024 * 1024


class OutOfRange(Exception):
    """A reader asked for events after one that does not exist."""


class EventLogReader:
    """Reads the events after one number, in order, as far as they are on disk. ``close`` may be called from another
    thread than a ``read`` that is under way; a read after it is an OSError."""

    def __init__(self, directory: str, after: int) -> None:
        """OutOfRange: ``after`` is larger than the last number."""
        self._directory = directory
        self._lock = threading.Lock()
        self._closed = False
        self._fd = -1
        self._offset = 0
        self._next = after + 1
        progress = read_progress(directory)
        if after > progress.last_sequence:
            raise OutOfRange(f"the last event is {progress.last_sequence}, {after} was asked for")

    @property
    def position(self) -> int:
        """The number of the last event that was read."""
        return self._next - 1

    def read(self, last_sequence: int) -> list[bytes]:
        """Some of the next events up to ``last_sequence`` (which the progress must have named), serialized, about
        ``READ_BYTES`` at a time; an empty list if there are none. DataLoss: the next one is damaged."""
        with self._lock:
            return self._read(last_sequence)

    def _read(self, last_sequence: int) -> list[bytes]:
        if self._closed:
            raise OSError(errno.EBADF, "the reader is closed")
        if self._next > last_sequence:
            return []
        if self._fd < 0:
            self._seek()
        payloads: list[bytes] = []
        while not payloads and self._next <= last_sequence:
            buffer = os.pread(self._fd, READ_BYTES, self._offset)
            if len(buffer) >= HEADER_BYTES:
                length = HEADER_BYTES + HEADER.unpack_from(buffer)[0]
                if len(buffer) < length <= HEADER_BYTES + MAX_PAYLOAD_BYTES:
                    buffer = os.pread(self._fd, length, self._offset)
            start = self._offset
            try:
                for frame in read_frames(buffer):
                    if self._next > last_sequence:
                        break
                    payloads.append(frame.payload)
                    self._next += 1
                    self._offset = start + frame.end
            except DamagedFrame as error:
                if not payloads:
                    raise DataLoss(f"event {self._next}: {error}") from error
            if not payloads:
                self._next_segment()
        return payloads

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._closed = True
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def _seek(self) -> None:
        segments = [first for first in list_segments(self._directory) if first <= self._next]
        if not segments:
            raise DataLoss(f"the file of event {self._next} is missing")
        self._fd = open_regular(segment_path(self._directory, segments[-1]))
        skip = self._next - segments[-1]
        size = min(os.fstat(self._fd).st_size, MAX_SEGMENT_BYTES)
        data = os.pread(self._fd, size, 0) if skip else b""
        for index in range(skip):
            if self._offset + HEADER_BYTES > size:
                raise DataLoss(f"event {segments[-1] + index} is cut off")
            length = HEADER.unpack_from(data, self._offset)[0]
            self._offset += HEADER_BYTES + length
            if not 0 < length <= MAX_PAYLOAD_BYTES or self._offset > size:
                raise DataLoss(f"event {segments[-1] + index} has no valid length")

    def _next_segment(self) -> None:
        """The next event begins a new file, or it is missing."""
        path = segment_path(self._directory, self._next)
        if self._offset != os.fstat(self._fd).st_size or not os.path.exists(path):
            raise DataLoss(f"event {self._next} is missing or cut off")
        os.close(self._fd)
        self._fd = open_regular(path)
        self._offset = 0
