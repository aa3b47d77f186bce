"""Assertions for tests."""

from __future__ import annotations

from typing import Any

from .arrays import verify
from .report import ArrayReport


class WrongAdvantages(AssertionError):
    """Advantages that are not right. `report` is their report; the text is its explanation."""

    def __init__(self, report: ArrayReport) -> None:
        super().__init__(report.failure_text())
        self.report = report


def assert_advantages(**arguments: Any) -> ArrayReport:
    """Verifies a batch; the arguments are those of `verify`. WrongAdvantages, an AssertionError with the explanation of the
    first wrong row, if the batch is not ok. Otherwise the report."""
    # pytest shows the line of the caller, not this one.
    __tracebackhide__ = True
    report = verify(**arguments)
    if not report.ok:
        raise WrongAdvantages(report)
    return report
