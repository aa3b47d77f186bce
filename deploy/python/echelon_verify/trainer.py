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
from typing import TYPE_CHECKING, Any, cast

from .recorder import Recorder
from .report import ArrayReport

if TYPE_CHECKING:
    # transformers is not installed where this package is checked.
    class _TrainerCallback: ...
else:
    from transformers import TrainerCallback as _TrainerCallback

_log = logging.getLogger("echelon_verify")


class AdvantageCallback(_TrainerCallback):
    """Verifies batches on the process of rank 0, and stops all processes after the step whose batch is wrong.

    A GRPOTrainer of TRL is followed by itself, with the package echelon-capture. A trainer of another kind hands over its batches:
    `callback.recorder.batch(step, ...)` takes the columns of `echelon_capture.batch`. What cannot be verified stops nothing and
    is counted.
    """

    def __init__(self, trainer: Any) -> None:
        """Wraps `trainer.log`. ImportError for a GRPOTrainer without echelon-capture."""
        self.recorder = Recorder(self._seen)
        self.report: ArrayReport | None = None
        """The report of the first batch with a wrong row; None if there was none."""
        self._trainer = trainer
        self._logged = [0, 0, 0]
        self._wrap_log(trainer)
        if hasattr(trainer, "_generate_and_score_completions") and trainer.accelerator.is_main_process:
            from echelon_capture.trl import follow

            follow(trainer, self.recorder)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stops the training, with a last line of the log, if a row was wrong."""
        if self._is_wrong_anywhere():
            control.should_training_stop = True
            control.should_log = True

    def _seen(self, report: ArrayReport) -> None:
        if report.wrong == 0 or self.report is not None:
            return
        self.report = report
        _log.error("The training stops after this step, because its advantages are wrong.\n%s", report.failure_text())

    def _is_wrong_anywhere(self) -> bool:
        """Whether rank 0 saw a wrong row. All processes call this at the same step, and stop together."""
        own = self.report is not None
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
        now = [self.recorder.rows_wrong, self.recorder.rows, len(self.recorder.gaps)]
        new = [one - before for one, before in zip(now, self._logged)]
        if not any(new):
            return {}
        self._logged = now
        names = ("echelon/rows_wrong", "echelon/rows", "echelon/batches_unverified")
        return dict(zip(names, map(float, new)))
