"""Puts the capture hook into the trainer's process: wraps, without editing, what the recipe looks up at call time.

Wrapped are `compute_advantage` of the trainer's module (every estimator), `TrajectoryCollector.
gather_rollout_data` (the rows at their source), `success_evaluator` of the validation environments with `RayPPOTrainer._validate` (the
games of an evaluation), `Tracking.log` (every metric), `RayPPOTrainer.fit` (to write what
still waits before the process ends, and to fill up the rows that a critic of several GPUs gets) and `adjust_batch` (to seed the
choice of the rows that it copies). A wrapper calls the original with the very arguments and returns the very result; whatever goes wrong on the capture hook's side is counted, said once on the console, and never raised.
"""

from __future__ import annotations

import functools
import importlib
import numbers
import os
import sys
import time
from typing import Any, Callable

from echelon_capture.calls import bound
from echelon_capture.reporter import Reporter
from echelon_capture.verl_agent_rows import follow_rollouts
from echelon_rayworker.spool import SPOOL_VARIABLE, Spool

from . import capture
from .evaluations import Games

TRAINER_MODULE = "recipe.hgpo.hgpo_ray_trainer"
_GRAPHGPO_MODULE = "recipe.GraphGPO.graphgpo_ray_trainer"
FLUSH_SECONDS = 15.0
# What the driver looks for on the console.
ANNOUNCEMENT = "echelon-capture:"
_MARK = "_echelon_hook"


class CaptureHook:
    """The capture hook of one process. `environment`: ECHELON_SPOOL, _EXPERIMENT, _ATTEMPT, _OBSERVATIONS."""

    def __init__(self, environment: Any, spool: Any = None) -> None:
        self.reporter = Reporter(Spool.from_environment(environment) if spool is None else spool)
        self.trainer: Any = None
        self.source: capture.Source | None = None
        self.experiment = environment.get("ECHELON_EXPERIMENT", "")
        self.attempt = int(environment.get("ECHELON_ATTEMPT") or 0)
        self.texts = environment.get("ECHELON_OBSERVATIONS") == "texts"
        self.failures = 0
        self._seconds = 0.0

    def guarded(self, action: Callable[[], Any]) -> Any:
        """The action's result; None if it failed. Failures are counted; the first ones are printed."""
        start = time.perf_counter()
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - the capture hook must never fail a training
            self.failures += 1
            if self.failures <= 3:
                print(f"{ANNOUNCEMENT} failed, the training continues: {type(error).__name__}: {error}", flush=True)
            return None
        finally:
            self._seconds += time.perf_counter() - start

    def step(self) -> int:
        """The trainer's step."""
        return int(self.trainer.global_steps)

    def estimated(self, original: Callable, arguments: tuple, keywords: dict) -> Any:
        """compute_advantage, with its inputs copied before and its output after."""
        call = self.guarded(lambda: bound(original, arguments, keywords))
        before = self.guarded(lambda: self._before(call)) if call else None
        result = original(*arguments, **keywords)
        if call:
            failures = self.failures
            self.guarded(lambda: self._after(call, before, result))
            if self.failures > failures or before is None:
                self.guarded(lambda: self.reporter.gap(self.step(), len(result), "the batch could not be copied"))
        return result

    def _before(self, call: dict[str, Any]) -> dict[str, Any]:
        columns = capture.copy_inputs(call["data"], capture.estimator_name(call["adv_estimator"]))
        if self.texts:
            columns["responses"] = capture.copy_responses(call["data"], getattr(self.trainer, "tokenizer", None))
        return columns

    def _after(self, call: dict[str, Any], columns: dict[str, Any] | None, result: Any) -> None:
        if columns is None:
            return
        name, step, config = capture.estimator_name(call["adv_estimator"]), self.step(), self.trainer.config
        rows = len(columns["group"])
        reason = capture.not_verifiable(call)
        if reason is not None:
            self.reporter.gap(step, rows, f"not verifiable: {reason}")
            return
        facts = {**capture.estimator_facts(name, call, config), "forms": capture.forms_of(name, result)}
        capture.copy_advantages(result, columns)
        provenance = capture.provenance_facts(config, step, self.experiment, self.attempt)
        source, texts = self.source, self.texts
        self.reporter.batch(step, rows, lambda: capture.serialize(columns, facts, provenance, source, texts))

    def collected(self, steps: Any) -> None:
        """The rollout's rows, before anything could reorder them."""
        self.source = None
        self.source = self.guarded(lambda: capture.Source.of(steps))

    def logged(self, data: Any, step: Any) -> None:
        """One call of the recipe's logger."""
        values = {str(name): float(value) for name, value in dict(data).items() if _is_number(value)}
        values["echelon/capture_s"], self._seconds = self._seconds, 0.0
        self.reporter.metrics(int(step), values)


def install(environment: Any = None, spool: Any = None) -> CaptureHook:
    """Installs the capture hook, once a process; returns it. Raises if the recipe is not as expected."""
    trainer = importlib.import_module(_trainer_module())
    installed = getattr(trainer, _MARK, None)
    if installed is not None:
        return installed
    tracking = importlib.import_module("verl.utils.tracking")
    hook = CaptureHook(os.environ if environment is None else environment, spool)
    collector = getattr(trainer, "TrajectoryCollector", None)
    if hasattr(collector, "gather_rollout_data"):
        follow_rollouts(collector, hook.collected)
    _wrap_fit(trainer.RayPPOTrainer, hook)
    if hasattr(trainer, "adjust_batch"):
        trainer.adjust_batch = _seeded(trainer.adjust_batch, hook)
    _wrap_log(tracking.Tracking, hook)
    original = trainer.compute_advantage

    @functools.wraps(original)
    def compute_advantage(*arguments: Any, **keywords: Any) -> Any:
        return hook.estimated(original, arguments, keywords)

    trainer.compute_advantage = compute_advantage
    setattr(trainer, _MARK, hook)
    print(f"{ANNOUNCEMENT} installed, {_spool_state(hook, environment)}", flush=True)
    return hook


def _trainer_module() -> str:
    """The module of the trainer that the program of this process has loaded."""
    return _GRAPHGPO_MODULE if _GRAPHGPO_MODULE in sys.modules else TRAINER_MODULE


def current() -> CaptureHook | None:
    """The installed hook of this process."""
    return getattr(sys.modules.get(_trainer_module()), _MARK, None)


def _wrap_fit(trainer: Any, hook: CaptureHook) -> None:
    original = trainer.fit

    @functools.wraps(original)
    def fit(self: Any, *arguments: Any, **keywords: Any) -> Any:
        hook.trainer = self
        hook.guarded(lambda: _pad_values(self))
        hook.guarded(lambda: _follow_games(self, hook))
        try:
            return original(self, *arguments, **keywords)
        finally:
            # The process is ended right after: what still waits is written now, within a bound.
            hook.guarded(lambda: hook.reporter.flush(FLUSH_SECONDS))

    trainer.fit = fit


def _follow_games(trainer: Any, hook: CaptureHook) -> None:
    """Reports the games of each validation."""
    manager = trainer.val_envs
    if not hasattr(manager, "success_evaluator"):
        return
    games = Games(trainer.config, hook.guarded)
    games.follow(manager)
    original = trainer._validate

    @functools.wraps(original)
    def _validate(*arguments: Any, **keywords: Any) -> Any:
        result = original(*arguments, **keywords)
        hook.guarded(lambda: games.report(manager, hook.reporter.evaluation, hook.step()))
        return result

    trainer._validate = _validate


def _pad_values(trainer: Any) -> None:
    """Lets the critic of several GPUs take any number of rows. The trainer asks it for values before it fills the batch up,
    and the rows are divided among the GPUs: they are filled up for this call alone."""
    critic = getattr(trainer, "critic_wg", None)
    if critic is None or getattr(critic, "world_size", 1) < 2:
        return
    protocol = importlib.import_module("verl.protocol")
    original = critic.compute_values

    @functools.wraps(original)
    def compute_values(data: Any) -> Any:
        padded, added = protocol.pad_dataproto_to_divisor(data, critic.world_size)
        return protocol.unpad_dataproto(original(padded), pad_size=added)

    critic.compute_values = compute_values


def _seeded(original: Callable, hook: CaptureHook) -> Callable:
    """The recipe draws the rows that it copies from numpy's global generator, which nothing seeds. It is seeded by the seed of the
    tasks and the step, so that a step draws the same rows again, also after a resume."""

    @functools.wraps(original)
    def adjust_batch(config: Any, *arguments: Any, **keywords: Any) -> Any:
        hook.guarded(lambda: importlib.import_module("numpy").random.seed([int(config.env.seed), hook.step()]))
        return original(config, *arguments, **keywords)

    return adjust_batch


def _wrap_log(tracking: Any, hook: CaptureHook) -> None:
    original = tracking.log

    @functools.wraps(original)
    def log(self: Any, data: Any, step: Any, *arguments: Any, **keywords: Any) -> Any:
        hook.guarded(lambda: hook.logged(data, step))
        return original(self, data, step, *arguments, **keywords)

    tracking.log = log


def _is_number(value: Any) -> bool:
    if isinstance(value, (numbers.Number, bool)) and not isinstance(value, complex):
        return True
    return hasattr(value, "dtype") and getattr(value, "shape", None) == ()


def _spool_state(hook: CaptureHook, environment: Any) -> str:
    directory = (os.environ if environment is None else environment).get(SPOOL_VARIABLE, "")
    if not directory:
        return "no spool named"
    return "spool writable" if os.access(directory, os.W_OK) else f"spool not visible here: {directory}"
