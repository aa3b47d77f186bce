"""What processes of an attempt report, as the supervisor takes it: within bounds (see bounds) and without secrets."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Iterator, Union

from echelon_rayworker import bounds
from echelon_rayworker.bounds import shortened
from echelon_rayworker.drain import LINE_BYTES, LINE_OVERHEAD_BYTES, RUN_BYTES, Run
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.redaction import LineRedactor


@dataclass
class SpooledBatch:
    """One whole serialized batch."""

    step: int
    rows: int
    data: bytes | bytearray
    digest: bytes
    time_unix_ms: int = 0


@dataclass(frozen=True)
class Refused:
    """Something that is not recorded. Refusals of one reason become one Gap, so ``reason`` is one of a few texts."""

    reason: str
    count: int = 1
    size: int = 0


Report = Union[pb.AttemptEvent, SpooledBatch, Run, Refused]

_LONG_PATH = f"checkpoints whose paths are longer than {bounds.MAX_PATH_CHARACTERS} characters"
_MANY_METRICS = (
    f"metric values: a report has at most {bounds.MAX_METRICS_PER_REPORT} metrics, an attempt {bounds.MAX_METRIC_NAMES} "
    f"names of 1 to {bounds.MAX_METRIC_NAME_CHARACTERS} characters without control characters"
)


_LARGE_STEP = f"reports whose training step is larger than {bounds.MAX_STEP:,}"
_LARGE_EVALUATION = (
    f"evaluations with more than {bounds.MAX_GAMES_PER_REPORT} games or {bounds.MAX_DECODING_SETTINGS} settings in a report, or a name "
    f"of more than {bounds.MAX_GAME_CHARACTERS} characters, or a digest that is not 64 hexadecimal digits"
)


class ReportBounds:
    """Applies the bounds to the reports of one attempt, all but batches."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def bounded(self, event: pb.AttemptEvent) -> Iterator[Report]:
        """What is recorded for one report: it, a part of it with a Refused for the rest, or a Refused alone. Nothing for
        an event that only a supervisor makes."""
        body = event.WhichOneof("body")
        event.DiscardUnknownFields()
        # Another step in its place would be wrong.
        has_no_step = getattr(getattr(event, body or "", None), "step", 0) > bounds.MAX_STEP
        if has_no_step and body == "stage":
            event.stage.step = 0
        if has_no_step and body != "stage":
            yield Refused(_LARGE_STEP, size=event.ByteSize())
        elif body == "metrics":
            yield from self._metrics(event)
        elif body == "log":
            yield from _runs(event.log)
        elif body == "stage":
            event.stage.name = shortened(event.stage.name, bounds.MAX_STAGE_CHARACTERS)
            yield event
        elif body == "evaluation":
            yield event if _fits(event.evaluation) else Refused(_LARGE_EVALUATION, size=event.ByteSize())
        elif body == "gap":
            event.gap.reason = shortened(event.gap.reason, bounds.MAX_REASON_CHARACTERS)
            yield event
        elif body == "checkpoint":
            # A path that was cut would name another file.
            long = len(event.checkpoint.path) > bounds.MAX_PATH_CHARACTERS
            yield Refused(_LONG_PATH, size=len(event.checkpoint.path)) if long else event

    def _metrics(self, event: pb.AttemptEvent) -> Iterator[Report]:
        values = event.metrics.values
        left = 0
        if len(values) > bounds.MAX_METRICS_PER_REPORT or not all(name in self._names for name in values):
            kept, left = bounds.numbers(values)
            for name in list(kept):
                if name in self._names:
                    continue
                if len(self._names) < bounds.MAX_METRIC_NAMES:
                    self._names.add(name)
                else:
                    del kept[name]
                    left += 1
            if left:
                yield Refused(_MANY_METRICS, count=left)
                values.clear()
                values.update(kept)
        if values or not left:
            yield event


def _fits(evaluation: pb.Evaluation) -> bool:
    """An evaluation is recorded whole or not: without some of its games it would be another one."""
    settings = evaluation.decoding
    words = [evaluation.panel, *settings, *settings.values(), *(one.game for one in evaluation.games)]
    counts = len(evaluation.games) <= bounds.MAX_GAMES_PER_REPORT and len(settings) <= bounds.MAX_DECODING_SETTINGS
    is_digest = re.fullmatch("([0-9a-f]{64})?", evaluation.digest) is not None
    return counts and is_digest and all(len(word) <= bounds.MAX_GAME_CHARACTERS for word in words)


def _runs(log: pb.LogLines) -> Iterator[Run]:
    """Lines in runs of bounded size, each line within the bound of a printed one."""
    source = log.source if log.source in (pb.LogLines.STDOUT, pb.LogLines.STDERR) else pb.LogLines.STDOUT
    run = Run(source, cut_bytes=log.cut_bytes)
    cost = 0
    for text in log.lines:
        line = text[:LINE_BYTES]
        if run.lines and cost + len(line) + LINE_OVERHEAD_BYTES > RUN_BYTES:
            yield run
            run, cost = Run(source), 0
        run.lines.append(line)
        run.size += len(line) + 1
        run.cut_bytes += len(text) - len(line)
        cost += len(line) + LINE_OVERHEAD_BYTES
    if run.lines or run.cut_bytes:
        yield run


def redact_report(report: Report, redactor: LineRedactor) -> None:
    """Masks secrets in a report, in place; a batch gets the digest of what is left of it."""
    if isinstance(report, SpooledBatch):
        masked = redactor.data(report.data)
        if masked != report.data:
            report.data, report.digest = masked, hashlib.sha256(masked).digest()
    elif isinstance(report, Run):
        report.lines[:] = [redactor.line(line) for line in report.lines]
    elif isinstance(report, pb.AttemptEvent):
        _redact_event(report, redactor)


def _redact_event(event: pb.AttemptEvent, redactor: LineRedactor) -> None:
    body = event.WhichOneof("body")
    if body == "stage":
        event.stage.name = redactor.line(event.stage.name)
    elif body == "metrics":
        for name in list(event.metrics.values):
            masked = redactor.line(name)
            if masked != name:
                event.metrics.values[masked] = event.metrics.values.pop(name)
    elif body == "checkpoint":
        event.checkpoint.path = redactor.line(event.checkpoint.path)
    elif body == "evaluation":
        evaluation = event.evaluation
        evaluation.panel = redactor.line(evaluation.panel)
        for one in evaluation.games:
            one.game = redactor.line(one.game)
        for name in list(evaluation.decoding):
            value = evaluation.decoding.pop(name)
            evaluation.decoding[redactor.line(name)] = redactor.line(value)
    elif body == "gap":
        event.gap.reason = redactor.line(event.gap.reason)
