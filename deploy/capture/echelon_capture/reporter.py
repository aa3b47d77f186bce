"""Takes reports from the trainer's thread without ever keeping it waiting; one thread builds and writes them."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Callable, Mapping

# Batches that wait to be built and written. One is under way while the next step's rollouts run for minutes; more
# than a few mean that the disk has stopped.
BATCH_CAPACITY = 4
METRICS_CAPACITY = 10_000


class Reporter:
    """`spool` is the reporter's sink (see echelon_rayworker.spool). All methods return at once and never raise,
    but for `flush`, which waits for at most its timeout."""

    def __init__(self, spool: Any, batch_capacity: int = BATCH_CAPACITY) -> None:
        self._spool = spool
        self._capacity = batch_capacity
        self._changed = threading.Condition()
        self._waiting: deque[Callable[[], None]] = deque()
        self._batches = 0
        self._thread: threading.Thread | None = None
        self.failures = 0
        self.dropped = 0
        # Reports, gaps included, that were dropped without a trace.
        self.lost = 0

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """One step's metrics."""
        taken = dict(values)
        self._offer(lambda: self._spool.metrics(step, taken))

    def checkpoint(self, step: int, path: str) -> None:
        """A checkpoint that is complete on disk."""
        self._offer(lambda: self._spool.checkpoint(step, path))

    def evaluation(self, *arguments: Any) -> None:
        """The games of an evaluation, as of the sink."""
        self._offer(lambda: self._spool.evaluation(*arguments))

    def gap(self, step: int, rows: int, reason: str, *of: str) -> None:
        """Says that a batch of `rows` rows is not among the reports, and why. `of`: what the sink takes beside."""
        self._offer(lambda: self._spool.gap(step, rows, reason, *of))

    def batch(self, step: int, rows: int, build: Callable[[], bytes]) -> None:
        """A batch of `rows` rows; `build` makes its bytes, in this reporter's thread. Where too many wait, or it
        cannot be built, a Gap stands in its place."""
        self._bounded(self._spool.batch, step, rows, build)

    def step(self, number: int, rows: int, build: Callable[[], Any]) -> None:
        """An optimizer step, as `batch`."""
        self._bounded(self._spool.step, number, rows, build)

    def _bounded(self, write: Callable[[int, Any, int], None], step: int, rows: int, build: Callable[[], Any]) -> None:
        with self._changed:
            full = self._batches >= self._capacity
            if not full:
                self._batches += 1
        if full:
            self.dropped += 1
            self.gap(step, rows, "the disk is too slow: the batch was dropped")
            return
        self._offer(lambda: self._build(write, step, rows, build))

    def flush(self, timeout_seconds: float) -> bool:
        """Waits until everything is written, for at most the timeout; says whether it is."""
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while self._waiting and self._thread is not None:
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return not self._waiting
        return True

    def _build(self, write: Callable[[int, Any, int], None], step: int, rows: int, build: Callable[[], Any]) -> None:
        try:
            write(step, build(), rows)
        except Exception as error:  # noqa: BLE001 - the capture hook must never fail a training
            self.failures += 1
            self._spool.gap(step, rows, f"the batch could not be built: {type(error).__name__}: {error}"[:500])
        finally:
            with self._changed:
                self._batches -= 1

    def _offer(self, report: Callable[[], None]) -> None:
        with self._changed:
            if len(self._waiting) >= METRICS_CAPACITY:
                self.dropped += 1
                self.lost += 1
                return
            self._waiting.append(report)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="echelon-capture", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                report = self._waiting[0]
            try:
                report()
            except Exception:  # noqa: BLE001
                self.failures += 1
            with self._changed:
                self._waiting.popleft()
                self._changed.notify_all()
