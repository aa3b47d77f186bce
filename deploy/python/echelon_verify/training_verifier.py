"""Verifies every batch of a trainer while it trains."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, Mapping

from .arrays import verify_columns
from .report import ArrayReport

_SECONDS = 60.0
# Reports of batches that are not ok, with their rows; of the others and of later ones only the counts remain.
_MAX_REPORTS = 20


@dataclass(frozen=True)
class Gap:
    """A batch that was not verified."""

    step: int
    rows: int
    """0 if unknown."""
    reason: str


class TrainingVerifier:
    """Receives the batches of a trainer in the place of the package echelon_capture, and verifies each at once.

    It never raises, so that it changes no training. A batch that cannot be verified is a gap. Its memory is bounded.
    """

    def __init__(
        self, on_report: Callable[[ArrayReport], None] | None = None, on_first_gap: Callable[[int, str], None] | None = None
    ) -> None:
        """`on_report` is called with each report, and `on_first_gap` with the step and the reason of the first gap, in the thread of
        the trainer."""
        self._lock = threading.Lock()
        self._on_report = on_report
        self._on_first_gap = on_first_gap
        self.batches = 0
        """Batches that were verified."""
        self.rows = 0
        self.rows_wrong = 0
        self.not_ok: list[ArrayReport] = []
        """The reports of the first 20 batches with a wrong row or an error."""
        self.gaps: list[Gap] = []

    def batch(self, training_step: int, /, **columns: Any) -> None:
        """Verifies a batch; the arguments are those of `echelon_capture.batch`."""
        try:
            stated: Mapping[str, Any] = columns.pop("provenance", None) or {}
            provenance = {**stated, "training_step": int(training_step)}
            columns.setdefault("name", f"step {training_step}")
            report = verify_columns(**columns, provenance=provenance, timeout=_SECONDS)
        except Exception as error:  # noqa: BLE001 - a verification must never fail a training
            self.gap(training_step, _rows_of(columns), f"{type(error).__name__}: {error}")
            return
        with self._lock:
            self.batches += 1
            self.rows += report.rows
            self.rows_wrong += report.wrong
            if not report.ok and len(self.not_ok) < _MAX_REPORTS:
                self.not_ok.append(report)
        if self._on_report is not None:
            self._on_report(report)

    def metrics(self, step: int, values: Mapping[str, Any]) -> None:
        """Metrics are ignored."""

    def checkpoint(self, step: int, path: str | os.PathLike[str]) -> None:
        """Checkpoints are ignored."""

    def gap(self, training_step: int, rows: int, reason: str) -> None:
        """Says that a batch is not verified, and why."""
        with self._lock:
            self.gaps.append(Gap(int(training_step), int(rows), reason))
            is_first = len(self.gaps) == 1
        if is_first and self._on_first_gap is not None:
            self._on_first_gap(int(training_step), reason)


def _rows_of(columns: Mapping[str, Any]) -> int:
    try:
        return len(columns["group"])
    except (KeyError, TypeError):
        return 0
