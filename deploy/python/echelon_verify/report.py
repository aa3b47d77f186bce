"""What a verification says: counts of rows by outcome, findings, and the explanation of the first wrong row."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from .verifier import shared

if TYPE_CHECKING:
    import pandas

_SECONDS = 60.0
_MAX_BATCHES = 20
_MAX_FINDINGS = 10
_HEAD = ("batch", "rows", "exact", "rounding", "wrong", "unverifiable", "")
_RED = ' style="color:#c00;font-weight:bold"'


@dataclass(frozen=True)
class Finding:
    """A problem of a batch."""

    code: str
    severity: str
    """`error`: the batch contradicts itself or its parameters. `warning`: poor or missing data."""
    rows: tuple[int, ...]
    """Rows concerned, the first 1,000; empty if the whole batch is."""
    message: str
    """What is wrong, with numbers, and how to fix it."""


@dataclass(frozen=True)
class BatchReport:
    """What verification found in one batch. The counters count all rows; lists of rows hold the first 1,000."""

    name: str
    rows: int
    exact: int
    """Rows whose value is what the formula gives."""
    rounding: int
    """Rows whose value the trainer's arithmetic can give, although the formula does not."""
    wrong: int
    """Rows whose value no evaluation of the formula gives."""
    unverifiable: int
    """Rows for which the batch lacks data."""
    wrong_rows: tuple[int, ...]
    rounding_rows: tuple[int, ...]
    findings: tuple[Finding, ...]
    ok: bool
    """No row is wrong or unverifiable, and no finding is an error."""
    fingerprint: str
    """The estimator with everything that changes its values."""
    file: str | None = None
    """The file of the batch, if it was read from one."""
    consistent: bool = False
    """Nothing is wrong, but something of a dump was inferred or is missing, so that it is not ok."""

    def summary(self) -> str:
        """The counts in one line."""
        outcome = "ok" if self.ok else "consistent, not verified" if self.consistent else "NOT OK"
        counts = f"{self.exact} exact, {self.rounding} rounding, {self.wrong} wrong, {self.unverifiable} unverifiable"
        return f"{self.name}: {outcome}; {self.rows} rows: {counts}"


@dataclass(frozen=True)
class ArrayReport(BatchReport):
    """The report of a batch of arrays."""

    explanation: str | None = None
    """How the advantage of the first wrong row comes about; None if no row is wrong."""
    likely_cause: str | None = None
    """A known mistake that gives the wrong rows, if there is one."""
    json: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)
    """The report as `echelon-verify --json` prints it."""
    _wire: bytes = field(default=b"", repr=False, compare=False)

    def explain(self, row: int) -> str:
        """How the advantage of a row comes about. ValueError if there is no such row."""
        return str(shared.request("explain", self._wire, timeout=_SECONDS, row=row)["text"])

    def to_pandas(self) -> pandas.DataFrame:
        """One line per row: group, trajectory, score, reported and true advantage, bounds of what the trainer's arithmetic can
        give, and outcome. ImportError without pandas."""
        import pandas

        columns = shared.request("rows", self._wire, timeout=_SECONDS)
        table: dict[str, Any] = {
            "group": [columns["groups"][at] for at in columns["group"]],
            "trajectory": [columns["trajectories"][at] for at in columns["trajectory"]],
            **{name: columns[name] for name in ("score", "reported", "true", "low", "high", "outcome")},
        }
        return pandas.DataFrame(table, index=pandas.Index(columns["row"], name="row"))

    def failure_text(self) -> str:
        """What a failing test says: counts, errors (or else warnings), and the explanation of the first wrong row."""
        errors = [one for one in self.findings if one.severity == "error"]
        findings = [f"  {one.severity} {one.code}: {one.message}" for one in errors or self.findings]
        return "\n".join([self.summary(), *findings, *(["", self.explanation] if self.explanation else [])])

    def _repr_html_(self) -> str:
        return as_html([self], self.explanation)


def counts_from(report: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a BatchReport from the verifier's JSON."""
    findings = [Finding(one["code"], one["severity"], tuple(one["rows"]), one["message"]) for one in report["findings"]]
    plain = ("name", "rows", "exact", "rounding", "wrong", "unverifiable", "ok", "fingerprint")
    return {
        **{name: report[name] for name in plain},
        "wrong_rows": tuple(report["wrongRows"]),
        "rounding_rows": tuple(report["roundingRows"]),
        "findings": tuple(findings),
        "file": report.get("file"),
        "consistent": bool(report.get("consistent", False)),
    }


def as_html(reports: Sequence[BatchReport], explanation: str | None) -> str:
    """As HTML, for notebooks: a table of the batches, those that are not ok first, their findings, and the explanation of the first wrong row."""
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
