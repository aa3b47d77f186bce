"""Compares the advantages that the loss of TRL's GRPOTrainer receives with those that were estimated for the same rows, on every process.

A process has its own rows; the trainer's log has the estimated advantages of all. No process waits for another.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

from .row_marks import ROW
from .trl_rows import rollouts_of


def estimated_advantages(trainer: Any, result: Any, rows: int) -> Any:
    """The advantages of all processes as the estimator gave them, of which `result` has those of this one."""
    own = result["advantages"]
    return own if len(own) == rows else list(trainer._logs["advantages"])[-rows:]


def received_advantages(trainer: Any, result: Any, rows: int) -> Any:
    """The same, with what the loss of this process receives in the place of its own rows."""
    own, advantages = result["advantages"], estimated_advantages(trainer, result, rows)
    if advantages is not own:
        first = trainer.accelerator.process_index * len(own)
        advantages[first : first + len(own)] = own.tolist()
    return advantages


def watch(trainer: Any, differs: Callable[[int, int, str], None]) -> None:
    """Calls `differs` with the training step, the number of rows and a text, when rows of this process reach the loss with
    another advantage than the estimated one."""
    rollouts = rollouts_of(trainer)
    score, compute = trainer._generate_and_score_completions, trainer._compute_loss
    estimated: list[Any] = [None]

    @functools.wraps(score)
    def _generate_and_score_completions(*arguments: Any, **keywords: Any) -> Any:
        is_training = trainer.model.training
        result = score(*arguments, **keywords)
        if is_training:
            estimated[0] = _own(trainer, result)
        return result

    @functools.wraps(compute)
    def _compute_loss(model: Any, inputs: Any, *arguments: Any, **keywords: Any) -> Any:
        if trainer.model.training and rollouts.latest is not None and estimated[0] is not None:
            _compare(rollouts.latest, estimated[0], inputs, differs)
        return compute(model, inputs, *arguments, **keywords)

    trainer._generate_and_score_completions, trainer._compute_loss = _generate_and_score_completions, _compute_loss


def _own(trainer: Any, result: Any) -> Any:
    """The estimated advantages of this process's rows; None if the trainer does not show them. Those of the main process are in the
    batch, which has what its loss receives."""
    try:
        own, count = result["advantages"], trainer.accelerator.num_processes
        if trainer.accelerator.is_main_process:
            return own.detach().clone()
        all_rows = list(trainer._logs["advantages"])[-count * len(own) :]
        first = trainer.accelerator.process_index * len(own)
        return own.new_tensor(all_rows[first : first + len(own)]) if len(all_rows) == count * len(own) else own.detach().clone()
    except Exception:  # noqa: BLE001 - the capture must never fail a training
        return None


def _compare(rollout: Any, estimated: Any, inputs: Any, differs: Callable[[int, int, str], None]) -> None:
    try:
        at, received = inputs[ROW] - rollout.first, inputs["advantages"]
        expected = estimated[at]
        # An advantage of each token is that of its row.
        same = received == (expected if received.dim() == 1 else expected.unsqueeze(-1))
        wrong = (~same if same.dim() == 1 else ~same.all(-1)).nonzero()[:, 0].tolist()
    except Exception:  # noqa: BLE001 - the capture must never fail a training
        return
    if wrong:
        row, first = int(at[wrong[0]]) + rollout.first, wrong[0]
        text = f"row {row} was estimated {float(expected[first]):g}, and the loss receives {float(received[first].reshape(-1)[0]):g}"
        differs(rollout.number, len(wrong), text)
