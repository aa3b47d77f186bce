"""Reads the spool of an attempt: what its processes report (see spool), in each writer's order."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from typing import Union

from echelon_rayworker.framing import HEADER_BYTES, MAX_PAYLOAD_BYTES, DamagedFrame, read_frames
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.redaction import LineRedactor
from echelon_rayworker.spool import SEGMENT_SUFFIX

READ_BYTES = HEADER_BYTES + MAX_PAYLOAD_BYTES
# Taken over in one poll, so that logs have their turn between large batches.
POLL_BYTES = 16 * 1024 * 1024
_BODIES = ("stage", "metrics", "checkpoint", "gap", "log")


@dataclass
class SpooledBatch:
    """All chunks of one batch, in order."""

    chunks: list[pb.AttemptEvent]

    @property
    def size(self) -> int:
        """Bytes of the serialized batch."""
        return sum(len(chunk.batch.data) for chunk in self.chunks)


Report = Union[pb.AttemptEvent, SpooledBatch]


@dataclass
class _Writer:
    index: int
    fd: int = -1
    offset: int = 0
    chunks: list[pb.AttemptEvent] = field(default_factory=list)


class SpoolTail:
    """Follows all writers of a spool directory. Batches are handed on whole, never in part."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._writers: dict[str, _Writer] = {}
        self._consumed: list[str] = []

    def poll(self) -> list[Report]:
        """What was reported since the last call, some of it if it is much."""
        reports: list[Report] = []
        budget = POLL_BYTES
        segments = self._segments()
        for name, indices in segments.items():
            writer = self._writers.setdefault(name, _Writer(indices[0]))
            budget = self._read_writer(name, writer, indices[-1], reports, budget)
            if budget <= 0:
                break
        return reports

    def finish(self) -> list[Report]:
        """After the last poll, when no writer is left: a Gap for each batch that was never completed."""
        return [_unfinished(writer.chunks) for writer in self._writers.values() if writer.chunks]

    def remove_consumed(self) -> None:
        """Removes the segments all of which has been handed on; to be called once that is on disk elsewhere."""
        for path in self._consumed:
            try:
                os.unlink(path)
            except OSError:
                continue
        self._consumed.clear()

    def close(self) -> None:
        """Closes all files."""
        for writer in self._writers.values():
            if writer.fd >= 0:
                os.close(writer.fd)
                writer.fd = -1

    def _segments(self) -> dict[str, list[int]]:
        """Writers and the indices of their segments, ascending."""
        found: dict[str, list[int]] = {}
        try:
            names = sorted(os.listdir(self._directory))
        except OSError:
            return {}
        for name in names:
            writer, _, index = name[: -len(SEGMENT_SUFFIX)].rpartition("-")
            if name.endswith(SEGMENT_SUFFIX) and writer and index.isdigit():
                found.setdefault(writer, []).append(int(index))
        return found

    def _read_writer(self, name: str, writer: _Writer, last: int, reports: list[Report], budget: int) -> int:
        while budget > 0:
            if writer.fd < 0:
                path = self._path(name, writer.index)
                try:
                    writer.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                except OSError:
                    return budget
                writer.offset = 0
            consumed, damaged = self._read_some(writer, reports)
            budget -= consumed
            if consumed:
                continue
            if writer.index >= last:
                return budget
            # The writer went on to its next file, so this one is complete.
            if damaged:
                reports.append(_gap(pb.Gap(count=1, reason="a spool file was damaged", bytes=damaged)))
            os.close(writer.fd)
            self._consumed.append(self._path(name, writer.index))
            writer.fd, writer.index = -1, writer.index + 1
        return budget

    def _read_some(self, writer: _Writer, reports: list[Report]) -> tuple[int, int]:
        """Reads whole frames; returns (bytes taken, bytes that are no frame)."""
        buffer = os.pread(writer.fd, READ_BYTES, writer.offset)
        end = 0
        try:
            for frame in read_frames(buffer):
                end = frame.end
                self._take(writer, frame.payload, reports)
        except DamagedFrame:
            pass
        writer.offset += end
        return end, len(buffer) - end

    def _take(self, writer: _Writer, payload: bytes, reports: list[Report]) -> None:
        try:
            event = pb.AttemptEvent.FromString(payload)
        except Exception:  # noqa: BLE001 - its class differs between protobuf's releases
            reports.append(_gap(pb.Gap(count=1, bytes=len(payload), reason="a report could not be read")))
            return
        event.sequence = 0
        body = event.WhichOneof("body")
        if writer.chunks and not (body == "batch" and _continues(writer.chunks, event.batch)):
            reports.append(_unfinished(writer.chunks))
            writer.chunks = []
        if body == "batch":
            if writer.chunks or event.batch.index == 0:
                writer.chunks.append(event)
            if writer.chunks and len(writer.chunks) == writer.chunks[0].batch.count:
                reports.append(SpooledBatch(writer.chunks))
                writer.chunks = []
        elif body in _BODIES:
            reports.append(event)

    def _path(self, name: str, index: int) -> str:
        return os.path.join(self._directory, f"{name}-{index:06d}{SEGMENT_SUFFIX}")


def redact_report(report: Report, redactor: LineRedactor) -> None:
    """Masks secrets in a report, in place; a batch gets the digest of what is left of it."""
    if isinstance(report, SpooledBatch):
        _redact_batch(report.chunks, redactor)
        return
    body = report.WhichOneof("body")
    if body == "stage":
        report.stage.name = redactor.line(report.stage.name)
    elif body == "metrics":
        for name in list(report.metrics.values):
            masked = redactor.line(name)
            if masked != name:
                report.metrics.values[masked] = report.metrics.values.pop(name)
    elif body == "checkpoint":
        report.checkpoint.path = redactor.line(report.checkpoint.path)
    elif body == "gap":
        report.gap.reason = redactor.line(report.gap.reason)
    elif body == "log":
        report.log.lines[:] = [redactor.line(line) for line in report.log.lines]


def _redact_batch(chunks: list[pb.AttemptEvent], redactor: LineRedactor) -> None:
    data = b"".join(chunk.batch.data for chunk in chunks)
    masked = redactor.data(data)
    if masked == data:
        return
    digest, at = hashlib.sha256(masked).digest(), 0
    for chunk in chunks:
        size = len(chunk.batch.data)
        chunk.batch.data, chunk.batch.digest = masked[at : at + size], digest
        at += size


def _continues(chunks: list[pb.AttemptEvent], chunk: pb.BatchChunk) -> bool:
    first = chunks[0].batch
    return chunk.batch == first.batch and chunk.index == len(chunks) and chunk.digest == first.digest


def _unfinished(chunks: list[pb.AttemptEvent]) -> pb.AttemptEvent:
    """What stands for a batch whose writer ended, or gave up, before its last chunk."""
    first = chunks[0].batch
    size = sum(len(chunk.batch.data) for chunk in chunks)
    return _gap(pb.Gap(
        what=pb.Gap.BATCH, step=first.step, count=1, bytes=size, rows=first.rows,
        reason="the batch was not written to its end",
    ))


def _gap(gap: pb.Gap) -> pb.AttemptEvent:
    return pb.AttemptEvent(gap=gap)
