"""The capture of one process: copies what the trainer hands over and leaves the rest to one writer thread."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Sequence

from .exchange import Exchange
from .ranks import rank_of
from .reporter import Reporter
from .runs import RunSink
from .settings import Settings
from .sinks import FolderSink, SpoolSink
from .version import PRODUCER

FLUSH_SECONDS = 15.0
# Arguments of a batch that do not have one entry per row.
_NOT_COLUMNS = frozenset(("estimator", "provenance", "name", "texts", "incomplete", "reward_weights"))


class Problems:
    """Counts what went wrong and prints the first problem on standard error."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def add(self, text: str) -> None:
        """Counts one problem."""
        with self._lock:
            self.count += 1
            is_first = self.count == 1
        if is_first:
            say(f"{text}. The training continues. Further problems are only counted.")

    @contextmanager
    def caught(self, what: str) -> Iterator[None]:
        """Turns an exception into a counted problem."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the capture must never fail a training
            self.add(f"{what}: {type(error).__name__}: {error}")


class Announced:
    """A sink whose problems are counted."""

    def __init__(self, sink: Any, layouts: FolderSink, exchange: Exchange | None, problems: Problems) -> None:
        """`exchange`: where the ranks leave their steps for a sink with one writer; None if each rank writes its own files."""
        self._sink = sink
        self._layouts = layouts
        self._exchange = exchange
        self._problems = problems

    def batch(self, step: int, columns: Mapping[str, Any], rows: int) -> None:
        """As of the sink. An exception leads to a call of `gap`."""
        self._sink.batch(step, columns, rows)

    def step(self, number: int, batch: Mapping[str, Any], rows: int) -> None:
        """As of the sink, with the tokens; a layout without tokens is always a file. Of several ranks, rank 0 hands over the step
        of all. An exception leads to a call of `gap`."""
        rank = rank_of(batch)
        if "logProb" not in batch["tokens"]:
            self._layouts.step(number, batch, rows)
        elif self._exchange is None or rank.size == 1:
            self._sink.step(number, batch, rows)
        else:
            self._exchange.put(batch)
            if rank.number == 0:
                self._take()

    def finish(self, deadline: float) -> None:
        """Hands over the steps that ranks have left until the deadline, also without those of others."""
        if self._exchange is not None and self._exchange.is_taken:
            self._exchange.wait(deadline)
            self._take(incomplete=True)

    def _take(self, incomplete: bool = False) -> None:
        for batch in self._exchange.take(incomplete):
            self._sink.step(int(batch["step"]["optimizerStep"]), batch, len(batch["tokens"]["offset"]) - 1)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """As of the sink."""
        with self._problems.caught(f"the metrics of step {step} were not written"):
            self._sink.metrics(step, values)

    def checkpoint(self, step: int, path: str) -> None:
        """As of the sink."""
        with self._problems.caught(f"the checkpoint of step {step} was not written"):
            self._sink.checkpoint(step, path)

    def evaluation(self, step: int, *arguments: Any) -> None:
        """As of the sink."""
        with self._problems.caught(f"the evaluation of step {step} was not written"):
            self._sink.evaluation(step, *arguments)

    def gap(self, step: int, rows: int, reason: str, of: str = "batch") -> None:
        """As of the sink."""
        self._problems.add(f"the {of} of step {step} is missing: {reason}")
        with self._problems.caught(f"the gap of step {step} was not written"):
            self._sink.gap(step, rows, reason, of)


class Recorder:
    """Methods return at once and never raise, except that `close` waits for at most its timeout."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """`environment`: see the README of the package for the variables."""
        self.problems = Problems()
        # The number of problems that standard error shows already.
        self._said = 1
        self._facts: dict[str, Any] = {"producer": PRODUCER}
        settings = Settings.of(environment)
        self._is_silent = settings.is_silent
        self._sink = self._sink_of(settings, environment)
        folder = FolderSink(settings.own_folder)
        self._announced = Announced(self._sink, folder, self._exchange_of(settings), self.problems)
        self._reporter = Reporter(self._announced)
        if settings.experiment:
            self._facts["experiment"] = settings.experiment
            with self.problems.caught("ECHELON_ATTEMPT is ignored"):
                self._facts["attempt"] = int(settings.attempt or 0)

    def batch(self, training_step: int, columns: Mapping[str, Any]) -> None:
        """See `echelon_capture.batch`."""
        if self._is_silent:
            return
        rows = 0
        try:
            if columns.get("group") is None:
                raise ValueError("the column group is missing")
            rows, step = len(columns["group"]), int(training_step)
            taken = self._taken(step, columns)
            self._reporter.batch(step, rows, lambda: taken)
        except Exception as error:  # noqa: BLE001 - the capture must never fail a training
            self.gap(training_step, rows, f"the batch could not be copied: {type(error).__name__}: {error}")

    def step(self, number: int, rows: int, build: Callable[[], Mapping[str, Any]]) -> None:
        """See `echelon_capture.step`. Every rank captures its own."""
        with self.problems.caught(f"optimizer step {number} was not captured"):
            self._reporter.step(int(number), int(rows), build)

    def metrics(self, step: int, values: Mapping[str, Any]) -> None:
        """See `echelon_capture.metrics`."""
        if self._is_silent:
            return
        with self.problems.caught(f"the metrics of step {step} were not captured"):
            self._reporter.metrics(int(step), numbers(values))

    def checkpoint(self, step: int, path: str | os.PathLike[str]) -> None:
        """See `echelon_capture.checkpoint`."""
        if self._is_silent:
            return
        with self.problems.caught(f"the checkpoint of step {step} was not captured"):
            # Now, because the trainer may change its working directory.
            self._reporter.checkpoint(int(step), os.path.abspath(path))

    def evaluation(
        self, step: int, games: Sequence[Mapping[str, Any]], panel: str, digest: str, decoding: Mapping[str, Any]
    ) -> None:
        """See `echelon_capture.evaluation`."""
        if self._is_silent:
            return
        with self.problems.caught(f"the evaluation of step {step} was not captured"):
            taken = [_game(one) for one in games]
            self._reporter.evaluation(int(step), taken, str(panel), str(digest), {str(name): str(value) for name, value in decoding.items()})

    def gap(self, training_step: int, rows: int, reason: str, of: str = "batch") -> None:
        """See `echelon_capture.gap`."""
        if self._is_silent and of != "step":
            return
        with self.problems.caught(f"the gap of step {training_step} was not captured"):
            self._reporter.gap(int(training_step), int(rows), str(reason), of)

    def close(self, timeout_seconds: float) -> bool:
        """See `echelon_capture.close`."""
        is_written = False
        with self.problems.caught("the capture was not closed"):
            deadline = time.monotonic() + timeout_seconds
            # If the reports are not flushed, the writer may hold the sink's lock for as long as the disk hangs.
            is_written = self._reporter.flush(timeout_seconds)
            if is_written:
                with self.problems.caught("the steps of other ranks were not written"):
                    self._announced.finish(deadline)
                is_written = self._sink.close(max(0.0, deadline - time.monotonic()))
            if not is_written:
                say(f"some captured data could not be written within {timeout_seconds:g} s")
        lost = max(self.problems.count, self._reporter.dropped)
        if lost > self._said:
            self._said = lost
            say(f"{lost} problems in all")
        return is_written

    def _sink_of(self, settings: Settings, environment: Mapping[str, str]) -> Any:
        if settings.spool:
            with self.problems.caught("ECHELON_SPOOL is set, but its writer cannot be loaded, so files are written"):
                return SpoolSink(environment)
        elif settings.is_run and not self._is_silent:
            return RunSink(settings, failed=self.problems.add, lost=lambda: self._reporter.lost)
        return FolderSink(settings.own_folder)

    def _exchange_of(self, settings: Settings) -> Exchange | None:
        """None if each rank has files of its own. The folder must be one that all ranks reach."""
        if isinstance(self._sink, SpoolSink):
            return Exchange(os.path.join(settings.spool, "..", "ranks"))
        return Exchange(os.path.join(settings.folder, "ranks")) if settings.is_run else None

    def _taken(self, step: int, columns: Mapping[str, Any]) -> dict[str, Any]:
        taken = {name: value if name in _NOT_COLUMNS else copied(value) for name, value in columns.items()}
        taken["provenance"] = {**self._facts, "training_step": step, **(columns.get("provenance") or {})}
        taken["estimator"] = dict(columns.get("estimator") or {})
        taken.setdefault("name", f"step {step}")
        return taken


def _game(given: Mapping[str, Any]) -> dict[str, Any]:
    """A result with every field; only `game` and `success` must be given."""
    return {
        "game": str(given["game"]), "replicate": int(given.get("replicate", 1)), "success": float(given["success"]),
        "score": float(given.get("score", given["success"])), "steps": int(given.get("steps", 0)),
        "invalid_steps": int(given.get("invalid_steps", 0)),
    }  # fmt: skip


def say(text: str) -> None:
    """Prints a line on standard error."""
    try:
        print(f"echelon-capture: {text}", file=sys.stderr, flush=True)
    except Exception:  # noqa: BLE001 - standard error may be closed
        pass


def copied(values: Any) -> Any:
    """A copy, because the trainer may change its arrays in place before the batch is written."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {name: copied(column) for name, column in values.items()}
    if hasattr(values, "detach"):
        return values.detach().cpu().clone()
    if hasattr(values, "dtype") and hasattr(values, "copy"):
        return values.copy()
    return list(values)


def numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """The values that are numbers, also arrays and tensors of one number."""
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, (str, bytes)):
            continue
        try:
            found[str(name)] = float(value)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            continue
    return found
