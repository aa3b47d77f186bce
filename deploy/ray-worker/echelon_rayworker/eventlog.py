"""The event log of one attempt: numbered events in framed, append-only segment files.

In the attempt's directory:

- ``events-<first>.log``: frames (see framing) whose payloads are serialized ``AttemptEvent`` messages with the
  sequence numbers first, first+1, …; a new file is begun at ``SEGMENT_BYTES``.
- ``events-progress``: how far the log is on disk. It is written after the data has been flushed, so a reader never
  meets a torn record and never shows an event that a crash of the machine could take back.

There is one writer (the supervisor or, after its death, the recovery) and any number of readers. What holds: the
event with sequence n is recorded once, and n+1 only after n.
"""

from __future__ import annotations

import os
import re
import struct
import time
import zlib
from dataclasses import dataclass
from typing import Optional

from echelon_rayworker.files import create_file, open_regular, read_regular, remove, sync_directory
from echelon_rayworker.framing import HEADER, HEADER_BYTES, MAX_PAYLOAD_BYTES, DamagedFrame, encode_frame, read_frames
from echelon_rayworker.gen import rayworker_pb2 as pb

SEGMENT_BYTES = 4 * 1024 * 1024
# A segment is begun below SEGMENT_BYTES and gets one frame more at most; what follows after that is not ours.
MAX_SEGMENT_BYTES = SEGMENT_BYTES + HEADER_BYTES + MAX_PAYLOAD_BYTES
_SEGMENT = re.compile(r"events-([0-9]{20})\.log")
_PROGRESS_FILE = "events-progress"
# Last sequence, first sequence of its segment, offset of its frame, 1 if it is Ended; then a checksum.
_PROGRESS = struct.Struct("<QQQQI")


class DataLoss(Exception):
    """Part of a log is damaged and cannot be repaired."""


@dataclass(frozen=True)
class Progress:
    """How far a log is on disk; ``last_sequence`` is 0 for an empty one."""

    last_sequence: int = 0
    segment: int = 0
    offset: int = 0
    ended: bool = False


def segment_path(directory: str, first: int) -> str:
    """The file whose first event has the sequence number ``first``."""
    return os.path.join(directory, f"events-{first:020d}.log")


def list_segments(directory: str) -> list[int]:
    """First sequence numbers of a log's segment files, ascending."""
    found = (_SEGMENT.fullmatch(name) for name in os.listdir(directory))
    return sorted(int(match.group(1)) for match in found if match)


def read_progress(directory: str) -> Progress:
    """The log's progress; an empty one if nothing has been recorded. DataLoss if the record is damaged."""
    path = os.path.join(directory, _PROGRESS_FILE)
    for attempt in range(5):
        try:
            record = read_regular(path, _PROGRESS.size)
        except FileNotFoundError:
            return Progress()
        except OSError as error:
            raise DataLoss(f"{_PROGRESS_FILE}: {error.strerror}") from error
        if len(record) == 0:
            return Progress()
        if len(record) == _PROGRESS.size:
            last, segment, offset, ended, checksum = _PROGRESS.unpack(record)
            if zlib.crc32(record[:-4]) == checksum:
                return Progress(last, segment, offset, bool(ended))
        time.sleep(0.001 * attempt)  # met in the middle of a write
    raise DataLoss(f"{_PROGRESS_FILE} is damaged")


def read_last_event(directory: str, progress: Progress) -> Optional[pb.AttemptEvent]:
    """The event that the progress names; None for an empty log, DataLoss if it is damaged."""
    if progress.last_sequence == 0:
        return None
    try:
        with open(open_regular(segment_path(directory, progress.segment)), "rb") as file:
            file.seek(progress.offset)
            frame = next(read_frames(file.read(HEADER_BYTES + MAX_PAYLOAD_BYTES)), None)
    except (OSError, OverflowError, DamagedFrame) as error:
        raise DataLoss(f"event {progress.last_sequence}: {error}") from error
    if frame is None:
        raise DataLoss(f"event {progress.last_sequence} is cut off")
    try:
        return pb.AttemptEvent.FromString(frame.payload)
    except Exception as error:  # its class differs between protobuf's releases
        raise DataLoss(f"event {progress.last_sequence} is no event: {error}") from error


class EventLogWriter:
    """Appends to a log; repairs its tail first. Only one writer may exist (the caller holds the attempt's lock).

    ``append`` numbers an event and keeps it in memory, ``commit`` puts all kept ones on disk: written, flushed,
    then shown to readers. Where the disk refuses, nothing is shown and the next commit tries again.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._fd = -1
        self._pending: list[tuple[int, bytes]] = []
        self._ended = False
        self.pending_bytes = 0
        self._repair()

    @property
    def last_sequence(self) -> int:
        """The number of the last appended event, committed or not; 0 for none."""
        return self._pending[-1][0] if self._pending else self._progress.last_sequence

    @property
    def ended(self) -> bool:
        """Whether Ended has been appended: nothing may follow it."""
        return self._ended

    @property
    def last_event(self) -> Optional[pb.AttemptEvent]:
        """The last event on disk."""
        return read_last_event(self._directory, self._progress)

    @property
    def used_bytes(self) -> int:
        """Size of the log, with what is not yet committed."""
        return self._closed_bytes + self._size + self.pending_bytes

    def append(self, event: pb.AttemptEvent) -> int:
        """Gives the event its number (and the time, if it has none) and returns the number."""
        if self._ended:
            raise ValueError("nothing follows Ended")
        event.sequence = self.last_sequence + 1
        if event.time_unix_ms == 0:
            event.time_unix_ms = time.time_ns() // 1_000_000
        frame = encode_frame(event.SerializeToString())
        self._pending.append((event.sequence, frame))
        self.pending_bytes += len(frame)
        self._ended = event.HasField("ended")
        return event.sequence

    def commit(self) -> None:
        """Puts the appended events on disk. OSError: the disk refused; all that was not shown stays pending."""
        while self._pending:
            if self._fd < 0 or self._size >= SEGMENT_BYTES:
                self._begin_segment(self._pending[0][0])
            self._commit_to_segment()

    def close(self) -> None:
        """Closes the files; what was not committed is lost."""
        for fd in (self._fd, self._progress_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._progress_fd = -1

    def _commit_to_segment(self) -> None:
        count, size = 0, self._size
        while count < len(self._pending) and size < SEGMENT_BYTES:
            size += len(self._pending[count][1])
            count += 1
        data = memoryview(b"".join(frame for _, frame in self._pending[:count]))
        try:
            written = 0
            while written < len(data):
                written += os.write(self._fd, data[written:])
            os.fdatasync(self._fd)
        except OSError:
            os.ftruncate(self._fd, self._size)
            raise
        last, frame = self._pending[count - 1]
        del self._pending[:count]
        self.pending_bytes -= len(data)
        self._size = size
        self._show(Progress(last, self._segment, size - len(frame), self._ended and not self._pending))

    def _begin_segment(self, first: int) -> None:
        path = segment_path(self._directory, first)
        fd = create_file(path, os.O_WRONLY | os.O_APPEND)
        if self._fd >= 0:
            os.close(self._fd)
        self._closed_bytes += self._size
        self._fd, self._segment, self._size = fd, first, 0
        sync_directory(self._directory)

    def _show(self, progress: Progress) -> None:
        record = _PROGRESS.pack(progress.last_sequence, progress.segment, progress.offset, progress.ended, 0)[:-4]
        os.pwrite(self._progress_fd, record + struct.pack("<I", zlib.crc32(record)), 0)
        self._progress = progress

    def _repair(self) -> None:
        """Finds the last whole event, cuts off a torn event after it and continues there."""
        self._closed_bytes = self._size = self._segment = 0
        self._progress_fd = _open_progress(os.path.join(self._directory, _PROGRESS_FILE))
        segments = list_segments(self._directory)
        progress = Progress()
        while segments:
            first = segments[-1]
            offsets, end = _scan_segment(segment_path(self._directory, first))
            if offsets:
                progress = Progress(first + len(offsets) - 1, first, offsets[-1])
                self._segment, self._size = first, end
                self._fd = open_regular(segment_path(self._directory, first), os.O_WRONLY | os.O_APPEND)
                os.ftruncate(self._fd, end)
                os.fdatasync(self._fd)
                break
            remove(segment_path(self._directory, first))
            segments.pop()
        self._closed_bytes = sum(os.path.getsize(segment_path(self._directory, first)) for first in segments[:-1])
        last = read_last_event(self._directory, progress)
        self._ended = last is not None and last.HasField("ended")
        self._show(Progress(progress.last_sequence, progress.segment, progress.offset, self._ended))


def _open_progress(path: str) -> int:
    """The record of the progress, for writing; a new one in place of what is no file."""
    try:
        return open_regular(path, os.O_WRONLY)
    except OSError:
        return create_file(path, os.O_WRONLY)


def _scan_segment(path: str) -> tuple[list[int], int]:
    """Offsets of a segment's events and the end of the last whole one. A damaged record counts as an event if
    a whole one follows right after it (its reader learns of it), and as a torn tail otherwise."""
    try:
        data = read_regular(path, MAX_SEGMENT_BYTES)
    except OSError:
        data = b""
    offsets: list[int] = []
    end = 0
    while True:
        try:
            for frame in read_frames(data, end):
                offsets.append(frame.offset)
                end = frame.end
            return offsets, end
        except DamagedFrame as damaged:
            after = damaged.offset + HEADER_BYTES + HEADER.unpack_from(data, damaged.offset)[0]
            try:
                follows = next(read_frames(data, after), None) is not None
            except DamagedFrame:
                follows = False
            if not follows:
                return offsets, end
            offsets.append(damaged.offset)
            end = after
