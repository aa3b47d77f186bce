"""One run, top to bottom: prepare, start, turn the console into reports, end."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from typing import Any, Optional

from .. import savedsteps
from . import causes, cluster, directorylock, environment
from .child import Child
from .console import CheckpointDone, Console, Fact, Notice, StageReached, StepDone
from .prepare import NotStartable, Prepared, prepare
from .settings import Settings

TICK_SECONDS = 0.5
# Pipes that someone else holds open are given up this long after the launcher has ended.
PIPES_SECONDS = 5.0


def run(settings: Settings, spool: Any) -> int:
    """The exit code. `spool`: where reports go (see echelon_rayworker.spool). Raises NotStartable."""
    # Before anything is read: where a training starts depends on what another one saves.
    held = None if settings.evaluates else _take(settings)
    prepared = prepare(settings)
    if environment.drop_missing_backend(settings.overrides, os.environ):
        _say("the installed vLLM has no attention backend XFORMERS and chooses one itself; set rollout.attentionBackend to choose")
    if prepared.finished:
        spool.stage(f"finished before: step {prepared.start.step} of {settings.steps}", prepared.start.step, settings.steps)
        spool.checkpoint(prepared.start.step, _relative(prepared.start.path, settings))
        _say(f"{prepared.start.path} is the training's last step; a further launch would do one step too many")
        return 0
    return Driver(settings, prepared, spool, held).run()


def _take(settings: Settings) -> Optional[int]:
    try:
        return directorylock.take(settings.checkpoint_dir, os.environ, settings.wait_seconds)
    except directorylock.DirectoryInUse as error:
        raise NotStartable(str(error)) from None
    except OSError as error:
        raise NotStartable(f"checkpoints cannot be written to {settings.checkpoint_dir}: {error.strerror}") from None


class Driver:
    """The run of a prepared attempt."""

    def __init__(self, settings: Settings, prepared: Prepared, spool: Any, held: Optional[int] = None) -> None:
        """``held``: the descriptor that holds the checkpoint directory."""
        self._settings, self._spool, self._held = settings, spool, held
        self._start = prepared.start
        self._console = Console(
            settings.steps,
            validates_first=settings.overrides.flag("trainer.val_before_train", True),
            evaluates=settings.evaluates,
        )
        self._stopping = False
        self._since = time.monotonic()
        self._stage = ""
        self._slowest_step = 0.0
        self._said = False
        self._done = prepared.start.step

    def run(self) -> int:
        """Starts the trainer and returns its exit code after it has ended."""
        if self._start.skipped:
            _say(f"{self._start.skipped}; starts after step {self._start.step} instead")
        self._report(StageReached(self._console.stage))
        if self._settings.evaluates:
            if self._start.path:
                self._spool.checkpoint(self._start.step, _relative(self._start.path, self._settings))
            _say(f"evaluates {self._start.path or 'the base model'}")
        child = Child(self._settings, self._held)
        signal.signal(signal.SIGTERM, lambda *_: self._stop(child))
        self._follow(child)
        code = child.wait()
        if code == 0:
            for fact in self._console.finished():
                self._report(fact)
            self._check_end()
        self._took()
        # Last, so that it stands among the last lines of the attempt.
        if code and not self._stopping and (cause := causes.cause_of_end(list(child.last))):
            _say(f"likely cause: {cause}")
        return 128 + signal.SIGTERM if self._stopping and code else code

    def _stop(self, child: Child) -> None:
        self._stopping = True
        child.stop()

    def _follow(self, child: Child) -> None:
        give_up = float("inf")
        while time.monotonic() < give_up:
            try:
                line = child.lines.get(timeout=TICK_SECONDS)
            except queue.Empty:
                self._look_at_the_clock()
                if child.ended() and give_up == float("inf"):
                    give_up = time.monotonic() + PIPES_SECONDS
                continue
            if line is None:
                return
            for fact in self._console.read(line):
                self._report(fact)

    def _report(self, fact: Fact) -> None:
        if isinstance(fact, StageReached):
            self._took()
            self._stage, self._since, self._said = fact.name, time.monotonic(), False
            self._spool.stage(self._shown(fact.name), step=fact.step, steps=fact.steps)
        elif isinstance(fact, StepDone):
            self._done = max(self._done, fact.step)
            if self._console.hook != "working":
                self._without_hook(fact)
        elif isinstance(fact, CheckpointDone):
            self._register(fact)
        elif isinstance(fact, Notice):
            _say(fact.text)

    def _shown(self, stage: str) -> str:
        if self._settings.evaluates and stage == "validating" and self._start.path:
            return f"{stage} {os.path.basename(self._start.path.rstrip('/'))}"
        return stage

    def _without_hook(self, fact: StepDone) -> None:
        """The console's metrics, rounded as they are, and a gap where the batch would be."""
        self._spool.metrics(fact.step, fact.values)
        if not self._settings.evaluates:
            self._spool.gap(fact.step, 0, self._console.hook or "the capture hook was not loaded")

    def _register(self, fact: CheckpointDone) -> None:
        path = os.path.abspath(fact.path)
        if not os.path.isdir(path):
            _say(f"{path} is not visible here: is the checkpoint directory on the shared file system?")
            return
        self._spool.checkpoint(fact.step, _relative(path, self._settings))

    def _check_end(self) -> None:
        if not self._settings.evaluates and self._settings.steps and self._done < self._settings.steps:
            _say(f"the trainer ended well after step {self._done} of {self._settings.steps}")
        if self._settings.evaluates or self._settings.overrides.number("trainer.save_freq", -1) <= 0:
            return
        if savedsteps.latest_step(self._settings.checkpoint_dir) != self._done:
            _say(f"{self._settings.checkpoint_dir} does not hold step {self._done}, the last one")

    def _took(self) -> None:
        if self._stage:
            seconds = time.monotonic() - self._since
            if self._stage.startswith("step "):
                self._slowest_step = max(self._slowest_step, seconds)
            _say(f"{self._stage} took {seconds:.1f} s")
            self._stage = ""

    def _look_at_the_clock(self) -> None:
        if not self._stage or self._said or self._stopping:
            return
        elapsed = time.monotonic() - self._since
        allowed = self._settings.patience_seconds or causes.patience_seconds(self._stage, self._slowest_step)
        if elapsed > allowed:
            self._said = True
            threading.Thread(target=self._say_delay, args=(self._stage, self._console.marker), daemon=True).start()

    def _say_delay(self, stage: str, marker: str) -> None:
        facts = cluster.state()
        if self._stage != stage:
            return
        cause = causes.cause_of_delay(stage, marker, self._settings.cpus_wanted, facts)
        text = f"{stage}, for {time.monotonic() - self._since:.0f} s so far: {cause}"
        self._spool.stage(text, step=self._console.step, steps=self._console.steps)
        _say(text)


def _relative(path: str, settings: Settings) -> str:
    return os.path.relpath(path, settings.experiment_dir) if path else ""


def _say(text: str) -> None:
    try:
        print(f"echelon: {text}", file=sys.stderr, flush=True)
    except OSError:
        pass
