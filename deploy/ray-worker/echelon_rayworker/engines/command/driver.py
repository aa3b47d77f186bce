"""One run, top to bottom: find the checkpoint, start the program, pass its output on, end as it ended."""

from __future__ import annotations

import json
import os
import queue
import resource
import signal
import sys
import threading
import time
from typing import Any, Mapping, Union

from echelon_rayworker.files import read_regular
from echelon_rayworker.launch import CHECKPOINT_FILE

from . import ranks
from .batches import BatchDirectory
from .node import LINE_BYTES, STDERR, STDOUT, Output
from .patterns import PrintedPatterns
from .settings import NotStartable, Settings, is_inside
from .sources import JsonFile, NoSource, PrintedJson, Report, Source
from .tensorboard import EventFiles

LOOK_SECONDS = 0.5
# The other ranks end this long after one has failed.
OTHERS_SECONDS = 15.0
# Portions of output that wait; a rank waits for the driver, and drops lines if it waits for long.
MAX_PORTIONS = 16
# After so long without a metric, the log says what the source has seen so far.
HINT_SECONDS = 120.0
MAX_CHECKPOINT_BYTES = 64 * 1024


class Driver:
    """The run of one attempt."""

    def __init__(self, settings: Settings, spool: Any, environment: Mapping[str, str]) -> None:
        """``spool``: where reports go (see echelon_rayworker.spool)."""
        self._settings, self._spool, self._environment = settings, spool, environment
        self._source = _source_of(settings, self._report)
        self._batches = BatchDirectory(settings, spool) if settings.batches else None
        self._portions: queue.Queue[tuple[int, Union[Output, Exception]]] = queue.Queue(MAX_PORTIONS)
        self._step = 0
        self._failed = 0
        self._told = False
        self._hint_at = float("inf")
        self._is_stopping = threading.Event()
        self._give_up = float("inf")

    def run(self) -> int:
        """The exit code. A program that a signal killed ends this process with the same signal. NotStartable."""
        signal.signal(signal.SIGTERM, self._on_sigterm)
        _unpack(self._settings)
        command = [*self._settings.command, *self._resumption()]
        self._spool.stage("starting the program")
        self._ranks = ranks.start(self._settings, command, self._environment)
        signal.signal(signal.SIGTERM, self._on_sigterm)  # Ray puts a handler of its own in place
        self._spool.stage("running")
        self._hint_at = time.monotonic() + HINT_SECONDS
        for number, rank in enumerate(self._ranks):
            threading.Thread(target=self._follow, args=(number, rank), daemon=True).start()
        self._pass_on()
        self._look(everything=True)
        self._say_finding()
        if self._failed < 0:
            self._spool.close()
            _die_by(-self._failed)
        return self._failed

    def _on_sigterm(self, *_: object) -> None:
        self._is_stopping.set()

    def _resumption(self) -> list[str]:
        """The arguments of a further attempt; none if no checkpoint is there."""
        if not self._settings.resume:
            return []
        try:
            data = read_regular(os.path.join(self._settings.experiment_dir, CHECKPOINT_FILE), MAX_CHECKPOINT_BYTES)
            known = json.loads(data)
            path = os.path.join(self._settings.experiment_dir, known["path"])
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError):
            return self._without("the note of the last checkpoint cannot be read")
        if not os.path.exists(path):
            return self._without(f"the last checkpoint {path} is not there")
        _say(f"resumes from {path}, step {known.get('step')}")
        return [argument.replace("{checkpoint}", path) for argument in self._settings.resume]

    def _without(self, why: str) -> list[str]:
        _say(f"{why}, so the program starts from the beginning")
        return []

    def _follow(self, number: int, rank: ranks.Rank) -> None:
        while True:
            try:
                output = rank.take()
            except Exception as error:  # noqa: BLE001 - a lost node ends the run, with Ray's own words
                self._portions.put((number, error))
                return
            self._portions.put((number, output))
            if output.code is not None:
                return

    def _pass_on(self) -> None:
        running, look_at = set(range(len(self._ranks))), time.monotonic()
        while running and time.monotonic() < self._give_up:
            try:
                number, output = self._portions.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                pass
            else:
                if isinstance(output, Exception):
                    print(f"{type(output).__module__}.{type(output).__name__}: {output}", file=sys.stderr, flush=True)
                    output = Output(code=1)
                self._print(number, output)
                self._account(number, output)
                if output.code is not None:
                    running.discard(number)
                    self._ended(number, output.code)
            if time.monotonic() >= look_at:
                self._look()
                look_at = time.monotonic() + LOOK_SECONDS
            if self._is_stopping.is_set():
                self._stop_all()
        for number in sorted(running):
            _say(f"{_mark(number)}the program did not end here, so that its last lines may be missing")

    def _print(self, number: int, output: Output) -> None:
        """The supervisor reads what is printed here as it reads the output of any driver."""
        pipes = {STDOUT: sys.stdout, STDERR: sys.stderr}
        for source, line, is_update in output.lines:
            if not is_update:
                pipes[source].write(f"{_mark(number)}{line}\n")
            if number == 0:
                self._source.line(line)
        for source, state in output.states:
            # Whatever comes next begins the line anew.
            pipes[source].write(f"{_mark(number)}{state}\r")
        sys.stdout.flush()
        sys.stderr.flush()

    def _account(self, number: int, output: Output) -> None:
        """Says what of a program's output is not among the lines, and what of it was ended."""
        lines, size = output.dropped
        if lines:
            self._spool.lines_lost(lines, size, f"{_mark(number)}printed faster than it could be recorded")
        if output.cut_bytes:
            self._spool.lines_lost(0, output.cut_bytes, f"{_mark(number)}lines longer than {LINE_BYTES // 2**20} MiB were cut")
        if output.is_cut_off:
            self._spool.lines_lost(0, 0, f"{_mark(number)}the output was not read to its end, since another process holds it open")
        if output.left:
            _say(
                f"{_mark(number)}the program has ended, so processes that it left running were ended too: {'; '.join(output.left)}. "
                "Let the program wait for them (in a shell: wait)"
            )

    def _ended(self, number: int, code: int) -> None:
        if code == 0:
            return
        if self._failed == 0:
            self._failed = code
            if len(self._ranks) > 1 and not self._is_stopping.is_set():
                how = f"signal {-code}" if code < 0 else f"exit code {code}"
                _say(f"the program on node {number} ended with {how}, so it is stopped on all nodes")
        self._give_up = min(self._give_up, time.monotonic() + OTHERS_SECONDS)
        self._stop_all()

    def _stop_all(self) -> None:
        if self._told:
            return
        self._told = True
        for rank in self._ranks:
            # In threads: a node that is gone does not answer.
            threading.Thread(target=_quietly, args=(rank.stop,), daemon=True).start()

    def _look(self, everything: bool = False) -> None:
        """At the files of the program. ``everything``: it has ended."""
        self._source.look(everything)
        if self._batches:
            self._batches.look(everything)
        tally = self._source.tally
        if tally and time.monotonic() >= self._hint_at:
            self._hint_at = float("inf")
            if tally.seen and not tally.matched:
                _say(tally.finding())

    def _say_finding(self) -> None:
        """What the source of the metrics has seen; metrics that could not be read are a gap of the record."""
        tally = self._source.tally
        if tally is None:
            return
        if tally.refused:
            self._spool.missing(tally.refused, tally.loss())
        _say(tally.finding())

    def _report(self, step: int, values: Mapping[str, float]) -> None:
        if step > self._step:
            self._step = step
            self._spool.stage(f"step {step}", step=step)
        self._spool.metrics(step, values)


def _quietly(call: Any) -> None:
    try:
        call()
    except Exception:  # noqa: BLE001 - the end of that rank is reported where its output is taken
        pass


def _die_by(number: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    os.kill(os.getpid(), number)


def _mark(number: int) -> str:
    """Stands before the lines of every node but the first."""
    return f"[node {number}] " if number > 0 else ""


def _say(text: str) -> None:
    print(f"echelon: {text}", file=sys.stderr, flush=True)


def _source_of(settings: Settings, report: Report) -> Source:
    """The source that the settings name. ``report`` takes the step and the metrics."""
    given = settings.metrics
    if "lines" in given:
        return PrintedPatterns(given["lines"], report)
    if "jsonPrefix" in given:
        return PrintedJson(given["jsonPrefix"], report)
    if "jsonFile" in given:
        return JsonFile(settings.directory, given["jsonFile"], report)
    if "tensorboard" in given:
        return EventFiles(settings.directory, given["tensorboard"], report)
    return NoSource()


def _unpack(settings: Settings) -> None:
    """Writes the files into the working directory; one that begins with `#!` can be executed. NotStartable."""
    try:
        for name, text in settings.files.items():
            path = os.path.join(settings.directory, name)
            if not is_inside(path, settings.directory):
                raise NotStartable(f"{name} would be written outside of the working directory")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(path, 0o700 if text.startswith("#!") else 0o600)
    except OSError as error:
        raise NotStartable(f"the program's files cannot be written to {settings.directory}: {error}") from None
