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
from importlib.metadata import PackageNotFoundError
from typing import Any, Mapping

import echelon_capture as capture

from .forms import form_of

from .follower import Follower
from .steps import reason_of, version_of
from .trl_received import received_advantages
from .trl_rows import rollouts_of


def follow(trainer: Any, into: Follower = capture, estimator: Mapping[str, Any] | None = None) -> None:
    """Captures the batches, metrics and checkpoints of a GRPOTrainer from now on. Batches of evaluations are ignored.
    `into` receives them; default: this package, which writes them. `estimator`: that of a trainer that computes advantages of
    its own. AttributeError if the trainer does not have the two methods."""
    rewards: list[Any] = [None]
    rollouts_of(trainer)
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
            _capture(into, trainer, rewards[0], result, estimator)
        return result

    trainer._calculate_rewards = _calculate_rewards
    trainer._generate_and_score_completions = _generate_and_score_completions
    trainer.add_callback(_callback(into))


def estimator_of(trainer: Any) -> dict[str, Any]:
    """The estimator that the trainer's class and settings select. ValueError if no estimator is known for them."""
    kind = _kind_of(trainer)
    if kind == "RLOOTrainer":
        return _rloo(trainer)
    if kind is None:
        raise ValueError(f"not verifiable: what {type(trainer).__name__} computes is not known; state its `estimator`")
    names = ("multi_objective_aggregation", "scale_rewards")
    settings = {name: getattr(trainer, name, None) for name in names}
    version = _version()
    form = form_of("trl", {**settings, "before_1_6": version is not None and version < (1, 6)})
    if form is None:
        raise ValueError(f"not verifiable: {', '.join(f'{name}={value!r}' for name, value in settings.items())}")
    # Since then the deviation is written out, about the mean. Before, torch chose its form by the device.
    pinned = {"forms": "recipe"} if version is not None and version >= (1, 6) and form.estimator["name"] == "grpo" else {}
    return {**form.of(settings), **pinned}


def _version() -> tuple[int, ...] | None:
    """Major and minor version of TRL; None if it is not installed, or of no such form."""
    try:
        return tuple(int(part) for part in version_of("trl").split(".")[:2])
    except (ValueError, PackageNotFoundError):
        return None


_KNOWN = ("GRPOTrainer", "RLOOTrainer")


def _kind_of(trainer: Any) -> str | None:
    """The trainer of TRL whose estimator a trainer has: by its class, not by its methods, which others have as well."""
    names = [one.__name__ for one in type(trainer).__mro__]
    return next((name for name in names if name in _KNOWN), None)


def _rloo(trainer: Any) -> dict[str, Any]:
    off = {"beta": 0.0, "normalize_advantages": False, "reward_clip_range": None}
    others = {name: getattr(trainer, name, value) for name, value in off.items() if getattr(trainer, name, value) != value}
    if others:
        raise ValueError(f"not verifiable: {', '.join(f'{name}={value!r}' for name, value in others.items())}")
    return {"name": "rloo", "singleton": "zero", "missing": "exclude"}


def _capture(into: Follower, trainer: Any, rewards: Any, result: Any, estimator: Mapping[str, Any] | None) -> None:
    # The rows train the step that follows.
    step, rows = int(trainer.state.global_step) + 1, 0
    try:
        rows = len(rewards)
        size = int(trainer.num_generations)
        into.batch(
            step,
            estimator=dict(estimator or estimator_of(trainer)),
            group=[row // size for row in range(rows)],
            trajectory=range(rows),
            token_level_reward_sum=_scores(trainer, rewards),
            **_reward_functions(trainer, rewards),
            response_length=_lengths(result, rows),
            advantage=received_advantages(trainer, result, rows),
            provenance={"group_size": size, "groups": rows // size, "rows_collected": rows},
        )
    except Exception as error:  # noqa: BLE001 - the capture must never fail a training
        into.gap(step, rows, reason_of(error))


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
