"""Captures what TRL's GRPOTrainer computes, without a change to TRL.

    from echelon_capture.trl import follow

    trainer = GRPOTrainer(...)
    follow(trainer)
    trainer.train()

Wrapped are two methods of this one trainer: `_calculate_rewards`, which returns the rewards of all processes, and
`_generate_and_score_completions`, which returns the advantages. Both get the same arguments and return the same result.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import echelon_capture as capture

from .shared.forms import form_of

from .follower import Follower


def follow(trainer: Any, into: Follower = capture) -> None:
    """Captures the batches, metrics and checkpoints of a GRPOTrainer from now on. Batches of evaluations are ignored.
    `into` receives them; default: this package, which writes them. AttributeError if the trainer does not have the two
    methods."""
    rewards: list[Any] = [None]
    calculate, generate = trainer._calculate_rewards, trainer._generate_and_score_completions

    @functools.wraps(calculate)
    def _calculate_rewards(*arguments: Any, **keywords: Any) -> Any:
        rewards[0] = calculate(*arguments, **keywords)
        return rewards[0]

    @functools.wraps(generate)
    def _generate_and_score_completions(*arguments: Any, **keywords: Any) -> Any:
        is_training = trainer.model.training
        result = generate(*arguments, **keywords)
        if is_training:
            _capture(into, trainer, rewards[0], result)
        return result

    trainer._calculate_rewards = _calculate_rewards
    trainer._generate_and_score_completions = _generate_and_score_completions
    trainer.add_callback(_callback(into))


def estimator_of(trainer: Any) -> dict[str, Any]:
    """The estimator that the trainer's settings select. ValueError if no estimator is known for them."""
    names = ("multi_objective_aggregation", "scale_rewards")
    settings = {name: getattr(trainer, name, None) for name in names}
    form = form_of("trl", settings)
    if form is None:
        raise ValueError(f"not verifiable: {', '.join(f'{name}={value!r}' for name, value in settings.items())}")
    return form.of(settings)


def _capture(into: Follower, trainer: Any, rewards: Any, result: Any) -> None:
    # The rows train the step that follows.
    step, rows = int(trainer.state.global_step) + 1, 0
    try:
        rows = len(rewards)
        size = int(trainer.num_generations)
        into.batch(
            step,
            estimator=estimator_of(trainer),
            group=[row // size for row in range(rows)],
            trajectory=range(rows),
            token_level_reward_sum=_scores(trainer, rewards),
            **_reward_functions(trainer, rewards),
            response_length=_lengths(result, rows),
            advantage=_advantages(trainer, result, rows),
            provenance={"group_size": size, "groups": rows // size, "rows_collected": rows},
        )
    except Exception as error:  # noqa: BLE001 - the capture must never fail a training
        into.gap(step, rows, f"{type(error).__name__}: {error}")


def _scores(trainer: Any, rewards: Any) -> Any:
    """The weighted sum as TRL computes it, so that it has the same bits. NaN if no function scored the row."""
    weights = trainer.reward_weights.to(rewards.device).unsqueeze(0)
    scores = (rewards * weights).nansum(dim=1)
    scores[rewards.isnan().all(dim=1)] = float("nan")
    return scores


def _reward_functions(trainer: Any, rewards: Any) -> dict[str, Any]:
    """The column and the weight of each reward function."""
    names = list(trainer.reward_func_names)
    if len(set(names)) < len(names):
        names = [f"{name}#{at}" for at, name in enumerate(names)]
    weights = trainer.reward_weights.tolist()
    return {"rewards": dict(zip(names, rewards.T)), "reward_weights": dict(zip(names, weights))}


def _advantages(trainer: Any, result: Any, rows: int) -> Any:
    """The advantages of all processes: the result has those of one, the trainer's log has them all."""
    advantages = result["advantages"]
    if len(advantages) != rows:
        advantages = list(trainer._logs["advantages"])[-rows:]
    return advantages


def _lengths(result: Any, rows: int) -> Any:
    """The number of response tokens; None if other processes have some of the rows."""
    mask = result.get("completion_mask")
    return mask.sum(-1) if mask is not None and len(mask) == rows else None


def _callback(into: Follower) -> Any:
    from transformers import TrainerCallback

    class Capture(TrainerCallback):
        """Hands metrics and checkpoints over."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            """A line of the trainer's log."""
            into.metrics(state.global_step, logs or {})

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            """A checkpoint is on disk."""
            into.checkpoint(state.global_step, os.path.join(args.output_dir, f"checkpoint-{state.global_step}"))

    return Capture()
