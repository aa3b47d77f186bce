"""Decides what of an attempt's events goes into its log, and what is dropped with a marker.

The dropping order: from half of the log's budget on lines are dropped, from nine tenths on batches. Everything
else is small and fits: the last tenth is its own, and as much again as the budget on top of it; beyond that nothing
is recorded but the end. On a disk that is nearly full the same order holds, whatever the budget; if it is full,
events wait in memory, up to a bound, and are written when there is room again.

When data is flushed: Started, stages, metrics, batches, checkpoints, gaps and Ended at the next ``commit`` (the
supervisor calls it every few milliseconds), lines at most ``LINES_COMMIT_SECONDS`` after they were read. Readers
see an event only after it was flushed.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from echelon_rayworker.bounds import CHUNK_BYTES
from echelon_rayworker.drain import Run
from echelon_rayworker.eventlog import EventLogWriter
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.reports import Refused, Report, SpooledBatch

DEFAULT_BUDGET_BYTES = 1024 * 1024 * 1024
MIN_BUDGET_BYTES = 1024 * 1024
LINES_SHARE = 0.5
BATCHES_SHARE = 0.9
REPORTS_SHARE = 2.0
# Bytes in memory while the disk refuses them, and of a batch until its flush.
MAX_PENDING_BYTES = 64 * 1024 * 1024
FLUSH_BYTES = 16 * 1024 * 1024
LINES_COMMIT_SECONDS = 0.05
RETRY_SECONDS = 1.0
# A marker for lines that are being dropped is written this often, so that a reader learns of it before the end.
GAP_SECONDS = 60.0
# Below this much free space only small events are written.
LOW_DISK_BYTES = 16 * 1024 * 1024


@dataclass
class _Dropped:
    count: int = 0
    size: int = 0
    reason: str = ""
    since: float = 0.0


class AttemptLog:
    """The door to one attempt's event log."""

    def __init__(self, log: EventLogWriter, directory: str, budget_bytes: int) -> None:
        self._log = log
        self._directory = directory
        self._budget = max(MIN_BUDGET_BYTES, budget_bytes or DEFAULT_BUDGET_BYTES)
        self._batches = 0
        self._dropped = _Dropped()
        self._refused: dict[str, _Dropped] = {}
        self._urgent = False
        self._oldest = 0.0
        self._low_disk = False
        self._next_disk_check = 0.0
        self._retry_at = 0.0

    @property
    def blocked(self) -> bool:
        """Whether the disk refused the last commit: what can wait elsewhere should."""
        return self._retry_at > 0

    def event(self, event: pb.AttemptEvent) -> None:
        """Records a small event; never dropped."""
        self._append(event)
        self._urgent = True

    def report(self, report: Report) -> None:
        """Records a report from the spool, or counts it as dropped."""
        if isinstance(report, Refused):
            self._refuse(report)
        elif isinstance(report, SpooledBatch):
            self._batch(report)
        elif isinstance(report, Run):
            self.lines(report)
        elif reason := self._report_refusal(report.ByteSize()):
            self._refuse(Refused(f"reports: {reason}", size=report.ByteSize()))
        else:
            self.event(report)

    def lines(self, run: Run) -> None:
        """Records consecutive lines, or counts them as dropped."""
        reason = self._refusal(run.size, LINES_SHARE)
        if reason:
            self.lines_dropped(len(run.lines), run.size + run.cut_bytes, reason)
            return
        self._mark_gap()
        self._append(pb.AttemptEvent(log=pb.LogLines(source=run.source, lines=run.lines, cut_bytes=run.cut_bytes)))

    def progress(self, source: int, text: str) -> None:
        """Records the present state of a progress bar. Its last state is a line, so that one without room is not missed."""
        if not self._refusal(len(text), LINES_SHARE):
            self._append(pb.AttemptEvent(log=pb.LogLines(source=source, progress=text)))  # type: ignore[arg-type]

    def lines_dropped(self, count: int, size: int, reason: str) -> None:
        """Counts lines that were dropped here or before they got here."""
        if count == 0:
            return
        if self._dropped.count and self._dropped.reason != reason:
            self._mark_gap()
        if not self._dropped.count:
            self._dropped.since = time.monotonic()
        self._dropped.count += count
        self._dropped.size += size
        self._dropped.reason = reason

    def commit(self, everything: bool = False) -> bool:
        """Puts on disk what is due (or everything); returns whether nothing is left to be written."""
        now = time.monotonic()
        if self._dropped.count and (everything or now - self._dropped.since > GAP_SECONDS):
            self._mark_gap()
        for reason, refused in self._refused.items():
            if refused.count and (everything or now - refused.since > GAP_SECONDS):
                self.event(pb.AttemptEvent(gap=pb.Gap(count=refused.count, bytes=refused.size, reason=reason)))
                refused.count, refused.size, refused.since = 0, 0, now
        if not self._log.pending_bytes:
            return True
        due = everything or self._urgent or now - self._oldest >= LINES_COMMIT_SECONDS
        if not due or now < self._retry_at:
            return False
        try:
            self._log.commit()
        except OSError:
            self._retry_at = now + RETRY_SECONDS
            self._low_disk, self._next_disk_check = True, now + RETRY_SECONDS
            return False
        self._retry_at = 0.0
        self._urgent = False
        return True

    def _batch(self, batch: SpooledBatch) -> None:
        size = len(batch.data)
        reason = self._refusal(size, BATCHES_SHARE)
        if reason:
            self.report(pb.AttemptEvent(time_unix_ms=batch.time_unix_ms, gap=pb.Gap(
                kind=pb.Gap.BATCH, step=batch.step, count=1, bytes=size, rows=batch.rows, reason=reason,
            )))
            return
        self._batches += 1
        count = max(1, -(-size // CHUNK_BYTES))
        for index in range(count):
            data = bytes(batch.data[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES])
            self._append(pb.AttemptEvent(time_unix_ms=batch.time_unix_ms, batch=pb.BatchChunk(
                step=batch.step, batch=self._batches, index=index, count=count, data=data, digest=batch.digest,
                rows=batch.rows,
            )))
            self._urgent = True
            if self._log.pending_bytes > FLUSH_BYTES:
                self.commit()

    def _refuse(self, refused: Refused) -> None:
        """Counts; the first of a reason is reported at once, later ones now and then."""
        known = self._refused.setdefault(refused.reason, _Dropped(since=-GAP_SECONDS))
        known.count += refused.count
        known.size += refused.size

    def _report_refusal(self, size: int) -> str:
        """Why a small report is not recorded; empty if it is."""
        if self._log.used_bytes + size > REPORTS_SHARE * self._budget:
            return "the log's budget is used up"
        return "the disk is full" if self._log.pending_bytes > MAX_PENDING_BYTES else ""

    def _append(self, event: pb.AttemptEvent) -> None:
        if not self._log.pending_bytes:
            self._oldest = time.monotonic()
        self._log.append(event)

    def _mark_gap(self) -> None:
        dropped = self._dropped
        if not dropped.count:
            return
        self._dropped = _Dropped()
        gap = pb.Gap(kind=pb.Gap.LOGS, count=dropped.count, bytes=dropped.size, reason=dropped.reason)
        self._append(pb.AttemptEvent(gap=gap))

    def _refusal(self, size: int, share: float) -> str:
        """Why something of this size is not recorded; empty if it is."""
        if self._log.used_bytes + size > share * self._budget:
            return "the log's budget is used up"
        now = time.monotonic()
        if now >= self._next_disk_check:
            self._next_disk_check = now + RETRY_SECONDS
            self._low_disk = self.blocked or self._disk_is_low()
        return "the disk is full" if self._low_disk else ""

    def _disk_is_low(self) -> bool:
        try:
            disk = os.statvfs(self._directory)
        except OSError:
            return True
        return disk.f_bavail * disk.f_frsize < min(LOW_DISK_BYTES, disk.f_blocks * disk.f_frsize // 10)
