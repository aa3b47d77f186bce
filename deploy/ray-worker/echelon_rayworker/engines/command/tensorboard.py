"""Scalars of TensorBoard's event files, as they are appended.

A record is its length (8 bytes, little-endian), a check sum (4), the serialized Event and a check sum (4).
"""

from __future__ import annotations

import os
import struct
from itertools import groupby, islice
from typing import Iterator, Optional

from echelon_rayworker.gen import event_pb2 as pb

from .settings import is_inside
from .sources import END_READS, READS, FileTail, NoSource, Report
from .steps import NO_STEP, step_of
from .tally import Tally

MARK = "tfevents"
MAX_FILES = 64
MAX_NAMES = 10_000
MAX_DEPTH = 4
# An event with scalars is small; a larger one holds images or graphs.
MAX_RECORD_BYTES = 1024 * 1024
_HEADER_BYTES = 12
_FOOTER_BYTES = 4


class EventFiles(NoSource):
    """The files of a directory and of those in it; what an earlier attempt has written there is ignored."""

    def __init__(self, directory: str, name: str, report: Report) -> None:
        self._root, self._directory, self._report = directory, os.path.join(directory, name), report
        self.tally = Tally("metrics.tensorboard", f"records of the event files below {name}")
        paths = self._paths()
        self._files = {path: EventFile(path, from_now=True) for path in paths[-MAX_FILES:]}
        self._most = len(self._files) + MAX_FILES
        # Files that are not followed: too many of an earlier attempt, or of this one.
        self._ignored = set(paths[:-MAX_FILES])

    def look(self, everything: bool = False) -> None:
        """Reports what was appended."""
        for path in self._paths():
            if path in self._files or path in self._ignored:
                continue
            if len(self._files) < self._most:
                self._files[path] = EventFile(path)
            else:
                self._ignored.add(path)
                self.tally.refuse(path, f"there are more than {MAX_FILES} new event files")
        for path, file in self._files.items():
            # Most writers have an event for each scalar.
            for number, events in groupby(file.events(END_READS if everything else READS), lambda event: event.step):
                self._take(number, list(events))
            if everything and file.is_amid_record:
                self.tally.refuse(path, "the file ends within a record")

    def _take(self, number: int, events: list[pb.Event]) -> None:
        scalars = [list(_scalars(event)) for event in events]
        values = dict(scalar for some in scalars for scalar in some)
        step = step_of(number)
        for some in scalars:
            if some and step is None:
                self.tally.refuse(f"{some[0][0]} of step {number}", NO_STEP)
            elif some:
                self.tally.match()
            else:
                self.tally.ignore("a record without a number")
        if values and step is not None:
            self._report(step, values)

    def _paths(self) -> list[str]:
        if not is_inside(self._directory, self._root):
            return []
        found: list[str] = []
        for directory, below, names in islice(os.walk(self._directory), MAX_NAMES):
            if directory.count(os.sep) - self._directory.count(os.sep) >= MAX_DEPTH:
                below.clear()
            found += [os.path.join(directory, name) for name in sorted(names) if MARK in name]
        return sorted(found)


class EventFile:
    """One file. ``from_now``: what is in it already is ignored."""

    def __init__(self, path: str, from_now: bool = False) -> None:
        self._tail = FileTail(path, from_now)
        self._rest = b""
        # Bytes of a large record that are still to be ignored.
        self._ignored = 0

    @property
    def is_amid_record(self) -> bool:
        """Whether a record has begun that has not ended."""
        return bool(self._rest) or self._ignored > 0

    def events(self, reads: int = READS) -> Iterator[pb.Event]:
        """The whole records that were appended. A file with other content ends without one."""
        for data in self._tail.portions(reads):
            self._rest += data
            while (record := self._next()) is not None:
                try:
                    event = pb.Event.FromString(record)
                except Exception:  # noqa: BLE001 - its class differs between protobuf's releases
                    continue
                yield event

    def _next(self) -> Optional[bytes]:
        if self._ignored:
            cut = min(self._ignored, len(self._rest))
            self._rest, self._ignored = self._rest[cut:], self._ignored - cut
        if self._ignored or len(self._rest) < _HEADER_BYTES:
            return None
        (size,) = struct.unpack_from("<Q", self._rest)
        end = _HEADER_BYTES + size + _FOOTER_BYTES
        if size > MAX_RECORD_BYTES:
            self._ignored = end
            return self._next()
        if len(self._rest) < end:
            return None
        record, self._rest = self._rest[_HEADER_BYTES : _HEADER_BYTES + size], self._rest[end:]
        return record


def _scalars(event: pb.Event) -> Iterator[tuple[str, float]]:
    for value in event.summary.value:
        if value.HasField("simple_value"):
            yield value.tag, value.simple_value
        elif value.HasField("tensor") and (number := _number(value.tensor)) is not None:
            yield value.tag, number


def _number(tensor: pb.Tensor) -> Optional[float]:
    """The tensor's only number; None if it holds something else."""
    if tensor.tensor_shape.dim:
        return None
    kind, values = {1: ("<f", tensor.float_val), 2: ("<d", tensor.double_val)}.get(tensor.dtype, ("", ()))
    if len(values) == 1:
        return values[0]
    if kind and len(tensor.tensor_content) == struct.calcsize(kind):
        return struct.unpack(kind, tensor.tensor_content)[0]
    return None
