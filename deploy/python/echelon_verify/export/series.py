"""The metrics of a verification, step by step."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Mapping

# The report lists so many batches, and its addresses count these.
_MAX_LISTED = 200


@dataclass(frozen=True)
class Series:
    """What a tracker gets."""

    steps: list[tuple[int, dict[str, float]]]
    """The training step, and the metrics of its batch. A metric that a batch does not have is omitted:

    `echelon/rows_wrong`, `echelon/rows_rounding`: rows of the outcome. `echelon/coverage`: the share of rows that were verified.
    `echelon/zero_signal_share`: the share of rows whose true advantage is 0. `echelon/groups_without_signal_share`: the share of groups
    of a dump whose rewards are all equal, or that have one row.
    """
    first_wrong: str | None
    """The first wrong row in words, with the command or the link that explains it; None if no row is wrong."""
    explanation: str | None
    """How its advantage comes about."""


def read_series(text: str, link: str | None = None) -> Series:
    """The series of a report in JSON. ValueError if it is something else, or holds no batch."""
    try:
        report = json.loads(text)
        batches: list[dict[str, Any]] = report["batches"]
        steps = [(step, _metrics(batch)) for step, batch in zip(_steps(batches), batches)]
        first = _first_wrong(report, batches)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"This is not the JSON of `echelon-verify verify --json` or `pytest --echelon-report`: {error}") from None
    if not steps:
        raise ValueError("The report holds no batch.")
    if first is None:
        return Series(steps, None, None)
    at, row, place, cause, explanation = first
    return Series(steps, _in_words(place, row, cause, _address(link, at, row, len(batches))), explanation)


def _metrics(batch: Mapping[str, Any]) -> dict[str, float]:
    rows = int(batch["rows"])
    metrics = {"echelon/rows_wrong": float(batch["wrong"]), "echelon/rows_rounding": float(batch["rounding"])}
    if rows > 0:
        metrics["echelon/coverage"] = (rows - int(batch["unverifiable"])) / rows
        zero = batch.get("diagnosis", {}).get("zero")
        if zero is not None:
            metrics["echelon/zero_signal_share"] = int(zero["rows"]) / rows
    signal = batch.get("signal")
    if signal and signal["groups"] > 0:
        without = sum(int(signal[name]) for name in ("single", "allLowest", "allHighest", "allEqual"))
        metrics["echelon/groups_without_signal_share"] = without / int(signal["groups"])
    return metrics


def _steps(batches: list[dict[str, Any]]) -> list[int]:
    """The numbers at the end of the batches' names if they ascend, as `step 12`; else positions from 1."""
    numbers = [re.search(r"(\d{1,15})$", str(batch["name"])) for batch in batches]
    found = [int(number[1]) for number in numbers if number is not None]
    ascend = len(found) == len(batches) and all(one < other for one, other in zip(found, found[1:]))
    return found if ascend else list(range(1, len(batches) + 1))


def _first_wrong(
    report: Mapping[str, Any], batches: list[dict[str, Any]]
) -> tuple[int, int, str, str | None, str | None] | None:
    at = next((at for at, batch in enumerate(batches) if int(batch["wrong"]) > 0), None)
    if at is None:
        return None
    batch, found = batches[at], report.get("firstWrong", {})
    cause = found.get("explanation", {}).get("likelyCause") or batch.get("likelyCause")
    place = " ".join(str(part) for part in (batch["name"], "of", batch.get("file") or batch.get("test") or "the report"))
    return at, int(batch["wrongRows"][0]), place, cause, found.get("text") or batch.get("explanation")


def _address(link: str | None, at: int, row: int, batches: int) -> str | None:
    if link is None:
        return None
    return f"{link}#/?batch={at}&row={row}" if batches <= _MAX_LISTED else link


def _in_words(place: str, row: int, cause: str | None, address: str | None) -> str:
    why = "" if cause is None else f" Likely cause: {cause}."
    return f"Row {row} of {place} is wrong.{why}{'' if address is None else f' {address}'}"
