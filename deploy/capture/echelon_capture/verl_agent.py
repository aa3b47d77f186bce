"""The rows of verl-agent's own trainer (`verl.trainer.main_ppo`): steps of trajectories, which it pads and balances before it
computes the advantages. See verl.py, which captures them."""

from __future__ import annotations

import functools
from typing import Any

from .verl_agent_rows import Source, copy_rows, costs_of, follow_rollouts, positions, rows_collected


class Rollouts:
    """The latest rollout, and what the trainer has done to its rows since then."""

    trainer = "verl-agent"

    def __init__(self, trainers: Any) -> None:
        """`trainers`: the trainer's module, whose collector, `adjust_batch` and `RayPPOTrainer._balance_batch` are wrapped."""
        self._source: Source | None = None
        # Rows that `adjust_batch` added; None if it was not called.
        self._added: int | None = None
        self._is_balanced = False
        follow_rollouts(trainers.TrajectoryCollector, self._collected)
        adjust, balance = trainers.adjust_batch, trainers.RayPPOTrainer._balance_batch

        @functools.wraps(adjust)
        def adjust_batch(config: Any, data: Any, *arguments: Any, **keywords: Any) -> Any:
            before = len(data)
            adjusted = adjust(config, data, *arguments, **keywords)
            self._added = len(adjusted) - before
            return adjusted

        @functools.wraps(balance)
        def _balance_batch(*arguments: Any, **keywords: Any) -> Any:
            self._is_balanced = True
            return balance(*arguments, **keywords)

        trainers.adjust_batch, trainers.RayPPOTrainer._balance_batch = adjust_batch, _balance_batch

    def _collected(self, steps: Any) -> None:
        self._source, self._added, self._is_balanced = None, None, False
        try:
            self._source = Source.of(steps)
        except Exception:  # noqa: BLE001 - the capture must never fail a training
            pass

    def columns(self, result: Any) -> dict[str, Any]:
        """The rows with their steps, as `echelon_capture.batch` takes them."""
        columns = copy_rows(result)
        columns["step"] = self._steps(columns) or positions(columns["trajectory"])
        returns = result.batch.get("step_rewards")
        columns["step_reward"] = None if returns is None else returns.float()
        del columns["marks"], columns["lengths"]
        return columns

    def _steps(self, columns: dict[str, Any]) -> list[int] | None:
        return None if self._source is None else self._source.numbers(columns)

    def costs(self, trainer: Any) -> dict[str, float]:
        """The discount of steps and the penalty of an invalid action."""
        return costs_of(trainer.config)

    def provenance(self, trainer: Any, result: Any) -> dict[str, Any]:
        """How many rows there were, and what was done to them before the advantages."""
        objects = result.non_tensor_batch
        rows = {"group": objects["uid"], "trajectory": objects["traj_uid"], "lengths": objects.get("episode_lengths")}
        collected = rows_collected(rows, self._source)
        # Other copies than those of `adjust_batch` are none of the trainer's design.
        is_padded = self._added is not None and len(rows["group"]) == collected + self._added
        done = [*(["padded"] if is_padded else []), *(["balanced"] if self._is_balanced else [])]
        return {
            "group_size": int(trainer.config.env.rollout.n),
            "rows_collected": collected,
            "preparation": "-".join(done),
        }
