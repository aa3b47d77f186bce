"""Reports as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from .report import BatchReport

_MAX_BATCHES = 20
_MAX_FINDINGS = 10
_HEAD = ("batch", "rows", "exact", "rounding", "wrong", "unverifiable", "")
_RED = ' style="color:#c00;font-weight:bold"'


def of_reports(reports: Sequence[BatchReport], explanation: str | None) -> str:
    """A table of the batches, those that are not ok first, their findings, and the explanation of the first wrong row."""
    ordered = sorted(reports, key=lambda report: report.ok)
    head = "".join(f"<th>{name}</th>" for name in _HEAD)
    lines = "".join(_line(report) for report in ordered[:_MAX_BATCHES])
    rest = len(ordered) - _MAX_BATCHES
    more = f"<p>and {rest} more batches</p>" if rest > 0 else ""
    findings = [one for report in ordered for one in report.findings][:_MAX_FINDINGS]
    listed = "".join(f"<li>{escape(one.severity)} <code>{escape(one.code)}</code>: {escape(one.message)}</li>" for one in findings)
    text = f"<pre>{escape(explanation)}</pre>" if explanation else ""
    return f"<div><table><tr>{head}</tr>{lines}</table>{more}<ul>{listed}</ul>{text}</div>"


def _line(report: BatchReport) -> str:
    outcome = "ok" if report.ok else "consistent" if report.consistent else "not ok"
    counts = (report.rows, report.exact, report.rounding)
    cells = "".join(f"<td>{count:,}</td>" for count in counts)
    wrong = f"<td{_RED if report.wrong else ''}>{report.wrong:,}</td>"
    return f"<tr><td>{escape(report.name)}</td>{cells}{wrong}<td>{report.unverifiable:,}</td><td>{outcome}</td></tr>"
