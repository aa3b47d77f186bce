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
from .sources import FileTail, NoSource, Report

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
        self._files: dict[str, EventFile] = {path: EventFile(path, from_now=True) for path in self._paths()}

    def look(self) -> None:
        """Reports what was appended."""
        for path in self._paths():
            if path not in self._files and len(self._files) < MAX_FILES:
                self._files[path] = EventFile(path)
        for file in self._files.values():
            # Most writers have an event for each scalar.
            for step, events in groupby(file.events(), lambda event: event.step):
                if values := dict(scalar for event in events for scalar in _scalars(event)):
                    self._report(max(0, step), values)

    def _paths(self) -> list[str]:
        if not is_inside(self._directory, self._root):
            return []
        found: list[str] = []
        for directory, below, names in islice(os.walk(self._directory), MAX_NAMES):
            if directory.count(os.sep) - self._directory.count(os.sep) >= MAX_DEPTH:
                below.clear()
            found += [os.path.join(directory, name) for name in sorted(names) if MARK in name]
        return sorted(found)[-MAX_FILES:]


class EventFile:
    """One file. ``from_now``: what is in it already is ignored."""

    def __init__(self, path: str, from_now: bool = False) -> None:
        self._tail = FileTail(path, from_now)
        self._rest = b""
        # Bytes of a large record that are still to be ignored.
        self._ignored = 0

    def events(self) -> Iterator[pb.Event]:
        """The whole records that were appended. A file with other content ends without one."""
        for data in self._tail.portions():
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
