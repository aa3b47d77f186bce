"""Captures what verl's RayPPOTrainer computes, without a change to verl.

    from echelon_capture.verl import follow

    follow()
    trainer.fit()

Call it in the process that runs `fit`, which is the Ray task of verl's TaskRunner. Wrapped are `compute_advantage` of
the trainer's module, `RayPPOTrainer.fit` (to know the step) and `Tracking.log` (every metric).
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any, Callable

import echelon_capture as capture

TRAINER_MODULE = "verl.trainer.ppo.ray_trainer"
_MARK = "_echelon_capture"

# adv_estimator → its estimator here, from the arguments of compute_advantage. The others become gaps.
_ESTIMATORS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "grpo": lambda call: {"name": "grpo", "normalize_by_std": bool(call["norm_adv_by_std_in_grpo"])},
    "rloo": lambda call: {"name": "rloo"},
    "rloo_vectorized": lambda call: {"name": "rloo", "singleton": "zero"},
}


def follow(module: str = TRAINER_MODULE) -> None:
    """Captures the batches and metrics of every RayPPOTrainer of this process from now on. `module`: name of the module
    whose `compute_advantage` and `RayPPOTrainer` are used. ImportError or AttributeError if they are not there."""
    trainers = importlib.import_module(module)
    if hasattr(trainers, _MARK):
        return
    running: list[Any] = [None]
    original, fit = trainers.compute_advantage, trainers.RayPPOTrainer.fit

    @functools.wraps(original)
    def compute_advantage(*arguments: Any, **keywords: Any) -> Any:
        result = original(*arguments, **keywords)
        _capture(running[0], original, arguments, keywords, result)
        return result

    @functools.wraps(fit)
    def remembered(self: Any, *arguments: Any, **keywords: Any) -> Any:
        running[0] = self
        try:
            return fit(self, *arguments, **keywords)
        finally:
            running[0] = None
            # Ray may end the process without Python's exit functions.
            capture.close()

    trainers.compute_advantage = compute_advantage
    trainers.RayPPOTrainer.fit = remembered
    setattr(trainers, _MARK, True)
    _wrap_log(importlib.import_module("verl.utils.tracking").Tracking)


def _wrap_log(tracking: Any) -> None:
    log = tracking.log

    @functools.wraps(log)
    def logged(self: Any, data: Any, step: Any, *arguments: Any, **keywords: Any) -> Any:
        capture.metrics(step, data)
        return log(self, data, step, *arguments, **keywords)

    tracking.log = logged


def _capture(trainer: Any, original: Callable, arguments: tuple, keywords: dict[str, Any], result: Any) -> None:
    step, rows = 0, 0
    try:
        bound = inspect.signature(original).bind(*arguments, **keywords)
        bound.apply_defaults()
        call = bound.arguments
        step, rows = int(trainer.global_steps), len(result.batch["advantages"])
        capture.batch(step, **_columns(call, result), provenance=_provenance(trainer))
    except Exception as error:  # noqa: BLE001 - the capture must never fail a training
        capture.gap(step, rows, f"{type(error).__name__}: {error}")


def _columns(call: dict[str, Any], result: Any) -> dict[str, Any]:
    name = str(getattr(call["adv_estimator"], "value", call["adv_estimator"]))
    if name not in _ESTIMATORS:
        raise ValueError(f"not verifiable: the capture does not know the estimator {name!r}")
    tensors, mask = result.batch, result.batch["response_mask"]
    # A row has one advantage at all its response tokens. The first of them need not be the first of the row.
    first = mask.long().argmax(-1).unsqueeze(-1)
    return {
        "estimator": _ESTIMATORS[name](call),
        "group": result.non_tensor_batch["uid"],
        "trajectory": range(len(mask)),
        # As verl computes it, so that it has the same bits.
        "token_level_reward_sum": tensors["token_level_rewards"].sum(-1),
        "response_length": mask.sum(-1).long(),
        "advantage": tensors["advantages"].gather(-1, first).squeeze(-1),
    }


def _provenance(trainer: Any) -> dict[str, Any]:
    return {"group_size": int(trainer.config.actor_rollout_ref.rollout.n)}
