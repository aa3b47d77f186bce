"""Reads the spool of an attempt: what its processes report (see spool), in each writer's order.

A training can put anything into the directory. Only regular files are opened, without waiting and without following
links; a poll reads a bounded number of bytes and names, in turn from all writers; batches that are not whole yet take a
bounded amount of memory. Whatever is not accepted is reported as a Gap or a Refused.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import Iterator, Optional

from echelon_rayworker import bounds
from echelon_rayworker.files import open_regular
from echelon_rayworker.framing import HEADER_BYTES, MAX_PAYLOAD_BYTES, DamagedFrame, read_frames
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.reports import Refused, Report, ReportBounds, SpooledBatch

READ_BYTES = HEADER_BYTES + MAX_PAYLOAD_BYTES
# Read in one poll, so that logs have their turn between large batches.
POLL_BYTES = 16 * 1024 * 1024
MAX_NAMES = 20_000
MAX_OPEN_FILES = 256
_SEGMENT = re.compile(r"(.{1,200})-([0-9]{6}|[1-9][0-9]{6,8})\.spool", re.DOTALL)
_MEBIBYTE = 1024 * 1024

_NOT_A_FILE = "spool files that are no regular files, or may not be read"
_DAMAGED = "spool files that are damaged"
_UNREADABLE = "reports that cannot be read"
_LARGE = f"reports larger than {bounds.MAX_REPORT_BYTES // _MEBIBYTE} MiB"
_MANY_FILES = f"spool files: more than {MAX_NAMES} at a time"
_UNREAD = "spool files that were not read before the end"


@dataclass
class _Batch:
    """A batch that is not whole yet."""

    first: pb.BatchChunk
    time_unix_ms: int
    data: bytearray
    parts: int = 0

    def continues(self, chunk: pb.BatchChunk) -> bool:
        """Whether this is the next part."""
        first = self.first
        return chunk.batch == first.batch and chunk.index == self.parts and chunk.digest == first.digest


@dataclass
class _Writer:
    index: int
    fd: int = -1
    offset: int = 0
    # Size and time of change of a file in which nothing more was found, and whether what is left of it is no frame.
    seen: Optional[tuple[int, int]] = None
    damaged: bool = False
    batch: Optional[_Batch] = None


@dataclass
class SpoolTail:
    """Follows all writers of a spool directory. Batches are handed on whole, never in part."""

    directory: str
    # Whether the last poll came round to every writer and found nothing.
    idle: bool = False
    _writers: dict[str, _Writer] = field(default_factory=dict)
    _consumed: list[str] = field(default_factory=list)
    _reports: deque[Report] = field(default_factory=deque)
    _bounds: ReportBounds = field(default_factory=ReportBounds)
    _unfinished_bytes: int = 0
    _open_files: int = 0
    _budget: int = 0
    _last_served: str = ""
    _told_of_many: bool = False

    def poll(self) -> Iterator[Report]:
        """What was reported since the last call, some of it if it is much. It may be left before its end: the next call
        continues."""
        self.idle = False
        directory = self._open_directory()
        if directory < 0:
            self.idle = True
            return
        try:
            self._budget, found = POLL_BYTES, False
            segments = self._segments(directory)
            names = sorted(segments)
            turn = next((at for at, name in enumerate(names) if name > self._last_served), 0)
            for name in (*names[turn:], *names[:turn]):
                self._last_served = name
                for _ in self._read_writer(directory, name, segments[name][-1]):
                    while self._reports:
                        found = True
                        yield self._reports.popleft()
                if self._budget <= 0:
                    return
            while self._reports:
                found = True
                yield self._reports.popleft()
            self.idle = not found
        finally:
            os.close(directory)

    def finish(self) -> list[Report]:
        """After the last poll, when no writer is left: gaps for batches that were never completed, and for what was
        not read."""
        for writer in self._writers.values():
            self._give_up_batch(writer, "the batch was not written to its end")
        directory = self._open_directory()
        if directory >= 0:
            try:
                for name, indices in self._segments(directory).items():
                    self._count_unread(directory, name, indices)
            finally:
                os.close(directory)
        left = list(self._reports)
        self._reports.clear()
        return left

    def remove_consumed(self) -> None:
        """Removes the segments all of which has been handed on; to be called once that is on disk elsewhere."""
        directory = self._open_directory() if self._consumed else -1
        if directory < 0:
            return
        for name in self._consumed:
            try:
                os.unlink(name, dir_fd=directory)
            except OSError:
                continue
        self._consumed.clear()
        os.close(directory)

    def close(self) -> None:
        """Closes all files."""
        for writer in self._writers.values():
            self._close(writer)

    def _open_directory(self) -> int:
        """The directory itself, never what a link in its place leads to; -1 if there is none."""
        try:
            return os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return -1

    def _segments(self, directory: int) -> dict[str, list[int]]:
        """Writers and the indices of their segments, ascending; those that are known, and new ones within the bound."""
        with os.scandir(directory) as entries:
            names = [entry.name for entry in islice(entries, MAX_NAMES + 1)]
        found: dict[str, list[int]] = {}
        for match in filter(None, map(_SEGMENT.fullmatch, names)):
            found.setdefault(match.group(1), []).append(int(match.group(2)))
        if len(names) > MAX_NAMES:
            if not self._told_of_many:
                self._reports.append(Refused(_MANY_FILES))
            self._told_of_many = True
        else:
            for name in [name for name in self._writers if name not in found]:
                self._forget(name)
        for name, indices in list(found.items()):
            indices.sort()
            if name in self._writers:
                continue
            if len(self._writers) < MAX_NAMES:
                self._writers[name] = _Writer(indices[0])
            else:
                del found[name]
        return found

    def _forget(self, name: str) -> None:
        """A writer whose files are all gone."""
        writer = self._writers.pop(name)
        self._give_up_batch(writer, "the batch was not written to its end")
        self._close(writer)

    def _read_writer(self, directory: int, name: str, last: int) -> Iterator[None]:
        """Takes a writer's reports; yields after each that there is something."""
        writer = self._writers[name]
        while self._budget > 0 and writer.index <= last:
            if writer.fd < 0 and not self._open(directory, name, writer, last):
                break
            before = writer.offset
            for payload in self._frames(writer):
                self._take(writer, payload)
                yield
            if writer.offset > before:
                continue
            if writer.index >= last:
                break
            # The writer has begun its next file, so this one is complete.
            if writer.seen and writer.seen[0] > writer.offset:
                self._reports.append(Refused(_DAMAGED, size=writer.seen[0] - writer.offset))
            self._close(writer)
            self._consumed.append(_file_name(name, writer.index))
            self._writers[name] = writer = _Writer(writer.index + 1, batch=writer.batch)
            yield
        if self._open_files > MAX_OPEN_FILES:
            self._close(writer)

    def _open(self, directory: int, name: str, writer: _Writer, last: int) -> bool:
        """Opens a writer's file unless there is nothing new in it."""
        path = _file_name(name, writer.index)
        try:
            idle = writer.seen if writer.index == last else None
            if idle and idle == _seen(os.stat(path, dir_fd=directory, follow_symlinks=False)):
                return False
            writer.fd = open_regular(path, dir_fd=directory)
            self._open_files += 1
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE):
                self._reports.append(Refused(_NOT_A_FILE))
                writer.index, writer.offset = writer.index + 1, 0
            return False
        return True

    def _close(self, writer: _Writer) -> None:
        """Closes a writer's file; it is opened again at the same offset."""
        if writer.fd >= 0:
            os.close(writer.fd)
            writer.fd = -1
            self._open_files -= 1

    def _frames(self, writer: _Writer) -> Iterator[bytes]:
        """Payloads of the next whole frames, as many as one read has; none where the file has not changed since."""
        seen = _seen(os.fstat(writer.fd))
        if seen == writer.seen:
            return
        buffer = os.pread(writer.fd, max(0, min(READ_BYTES, seen[0] - writer.offset)), writer.offset)
        self._budget -= max(1, len(buffer))
        start, writer.damaged = writer.offset, False
        try:
            for frame in read_frames(buffer):
                writer.offset = start + frame.end
                yield frame.payload
        except DamagedFrame:
            writer.damaged = True
        if writer.offset == start:
            writer.seen = seen

    def _take(self, writer: _Writer, payload: bytes) -> None:
        if len(payload) > bounds.MAX_REPORT_BYTES:
            self._reports.append(Refused(_LARGE, size=len(payload)))
            return
        try:
            event = pb.AttemptEvent.FromString(payload)
        except Exception:  # noqa: BLE001 - its class differs between protobuf's releases
            self._reports.append(Refused(_UNREADABLE, size=len(payload)))
            return
        event.sequence = 0
        if event.HasField("batch"):
            self._take_chunk(writer, event)
            return
        self._give_up_batch(writer, "the batch was not written to its end")
        self._reports.extend(self._bounds.bounded(event))

    def _take_chunk(self, writer: _Writer, event: pb.AttemptEvent) -> None:
        chunk = event.batch
        if writer.batch is not None and not writer.batch.continues(chunk):
            self._give_up_batch(writer, "the batch was not written to its end")
        if writer.batch is None:
            if chunk.index != 0:
                return  # of a batch that was given up
            data, first = bytearray(), pb.BatchChunk()
            first.CopyFrom(chunk)
            first.data = b""
            writer.batch = _Batch(first, event.time_unix_ms, data)
        batch = writer.batch
        if reason := self._refusal(batch, len(chunk.data)):
            self._give_up_batch(writer, reason)
            return
        batch.data += chunk.data
        batch.parts += 1
        self._unfinished_bytes += len(chunk.data)
        if batch.parts == batch.first.count:
            writer.batch = None
            self._unfinished_bytes -= len(batch.data)
            first = batch.first
            self._reports.append(SpooledBatch(first.step, first.rows, batch.data, first.digest, batch.time_unix_ms))

    def _refusal(self, batch: _Batch, size: int) -> str:
        """Why a batch is not read on; empty if it is."""
        if len(batch.first.digest) != bounds.DIGEST_BYTES or batch.first.count < 1:
            return "the batch's parts are malformed"
        if batch.first.step > bounds.MAX_STEP:
            return f"the batch's training step is larger than {bounds.MAX_STEP:,}"
        if len(batch.data) + size > bounds.MAX_BATCH_BYTES:
            return f"the batch is larger than {bounds.MAX_BATCH_BYTES // _MEBIBYTE} MiB"
        if self._unfinished_bytes + size > bounds.MAX_UNFINISHED_BYTES:
            return "too many large batches are being written at the same time"
        return ""

    def _give_up_batch(self, writer: _Writer, reason: str) -> None:
        batch, writer.batch = writer.batch, None
        if batch is None:
            return
        self._unfinished_bytes -= len(batch.data)
        first = batch.first
        self._reports.append(pb.AttemptEvent(gap=pb.Gap(
            kind=pb.Gap.BATCH, step=first.step, count=1, bytes=len(batch.data), rows=first.rows, reason=reason,
        )))

    def _count_unread(self, directory: int, name: str, indices: list[int]) -> None:
        writer = self._writers[name]
        for index in indices:
            if index < writer.index:
                continue
            try:
                known = os.stat(_file_name(name, index), dir_fd=directory, follow_symlinks=False)
            except OSError:
                continue
            offset = writer.offset if index == writer.index else 0
            read = index == writer.index and writer.seen == _seen(known)
            if not stat.S_ISREG(known.st_mode):
                self._reports.append(Refused(_NOT_A_FILE))
            elif known.st_size > offset and (writer.damaged or not read):
                self._reports.append(Refused(_DAMAGED if read else _UNREAD, size=known.st_size - offset))


def _seen(known: os.stat_result) -> tuple[int, int]:
    return known.st_size, known.st_mtime_ns


def _file_name(writer: str, index: int) -> str:
    return f"{writer}-{index:06d}.spool"
