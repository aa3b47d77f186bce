"""A callback that verifies every batch of a `transformers.Trainer`, and stops it at a wrong row.

    from echelon_verify.trainer import AdvantageCallback

    trainer = GRPOTrainer(...)
    trainer.add_callback(AdvantageCallback(trainer))
    trainer.train()

Every line of the trainer's log gets `echelon/rows_wrong`, `echelon/rows` and `echelon/batches_unverified`: the counts since the line
before. The trainer's own logger writes them, so W&B, MLflow, TensorBoard and Trackio have them like any other metric.
"""

from __future__ import annotations

import functools
import importlib
import logging
from typing import TYPE_CHECKING, Any, Mapping, cast

from .training_verifier import TrainingVerifier
from .report import ArrayReport

if TYPE_CHECKING:
    # transformers is not installed where this package is checked.
    class _TrainerCallback: ...
else:
    from transformers import TrainerCallback as _TrainerCallback

_log = logging.getLogger("echelon_verify")


class AdvantageCallback(_TrainerCallback):
    """Verifies batches on the process of rank 0, and stops all processes after the step whose advantages are wrong.

    A GRPOTrainer or RLOOTrainer of TRL is followed by itself, with the package echelon-capture: rank 0 verifies the advantages of all
    processes, and each process that its loss receives them. Loss, denominators and gradients are not watched: record them with
    `echelon_capture.trl_steps` and verify the files. A trainer of another kind hands over its batches: `callback.verifier.batch(step, ...)`
    takes the columns of `echelon_capture.batch`. What cannot be verified stops nothing, is counted, and the first reason is logged.
    """

    def __init__(self, trainer: Any, *, estimator: Mapping[str, Any] | None = None, stop: bool = True) -> None:
        """Wraps `trainer.log`. `estimator`: what a trainer of your own computes, as `echelon_capture.batch` takes it. Default: that of
        the class of TRL from which it derives. `stop`: False only logs a wrong row and counts it. ImportError for a trainer of TRL
        without echelon-capture."""
        self.verifier = TrainingVerifier(self._seen, self._unverified)
        self.report: ArrayReport | None = None
        """The report of the first batch with a wrong row; None if there was none."""
        self.received_wrong = 0
        """Rows of this process that reached the loss with another advantage than the estimated one."""
        self._trainer = trainer
        self._stop = stop
        self._is_wrong = False
        self._logged = [0, 0, 0]
        self._wrap_log(trainer)
        if hasattr(trainer, "_generate_and_score_completions"):
            from echelon_capture.trl import follow
            from echelon_capture.trl_received import watch

            if trainer.accelerator.is_main_process:
                follow(trainer, self.verifier, estimator)
            watch(trainer, self._received)
            if trainer.accelerator.is_main_process:
                # As a warning: the lines of a training show no others by default.
                _log.warning("Advantages are verified. Loss, denominators and gradients are not: record them with echelon_capture.trl_steps.")

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stops the training, with a last line of the log, if a row was wrong."""
        if self._stop and self._is_wrong_anywhere():
            control.should_training_stop = True
            control.should_log = True

    def _seen(self, report: ArrayReport) -> None:
        if report.wrong == 0 or self.report is not None:
            return
        self.report = report
        self._is_wrong = True
        _log.error("%s Its advantages are wrong.\n%s", self._consequence(), report.failure_text())

    def _received(self, step: int, rows: int, text: str) -> None:
        self.received_wrong += rows
        if not self._is_wrong:
            _log.error("%s Rows of step %d reach the loss with other advantages than the estimated ones: %s.", self._consequence(), step, text)
        self._is_wrong = True

    def _unverified(self, step: int, reason: str) -> None:
        _log.warning("The advantages of step %d are not verified: %s. Further ones are only counted.", step, reason)

    def _consequence(self) -> str:
        return "The training stops after this step." if self._stop else "The training continues."

    def _is_wrong_anywhere(self) -> bool:
        """Whether rank 0 saw a wrong row. All processes call this at the same step, and stop together."""
        own = self._is_wrong
        accelerator = self._trainer.accelerator
        if accelerator.num_processes == 1:
            return own
        torch = cast(Any, importlib.import_module("torch"))
        flag = torch.tensor([int(own)], device=accelerator.device)
        return int(accelerator.reduce(flag, "sum").item()) > 0

    def _wrap_log(self, trainer: Any) -> None:
        log = trainer.log

        @functools.wraps(log)
        def logged(logs: dict[str, float], *arguments: Any, **keywords: Any) -> None:
            return log({**logs, **self._counts()}, *arguments, **keywords)

        trainer.log = logged

    def _counts(self) -> dict[str, float]:
        """The counts since the last line; none before the first batch, and in lines between batches."""
        now = [self.verifier.rows_wrong + self.received_wrong, self.verifier.rows, len(self.verifier.gaps)]
        new = [one - before for one, before in zip(now, self._logged)]
        if not any(new):
            return {}
        self._logged = now
        names = ("echelon/rows_wrong", "echelon/rows", "echelon/batches_unverified")
        return dict(zip(names, map(float, new)))
