"""Follows the trainers of a whole test run, without a change to them or to the tests."""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import TYPE_CHECKING, Any, Callable, Mapping

if TYPE_CHECKING:
    from .training_verifier import TrainingVerifier

_CORE = "verl.trainer.ppo.core_algos"


def follow_trl(verifier: TrainingVerifier) -> None:
    """Verifies the batches of every GRPOTrainer that is made from now on, also of its subclasses. ImportError without TRL and
    echelon-capture."""
    from echelon_capture.trl import follow

    trainer = importlib.import_module("trl").GRPOTrainer
    make = trainer.__init__

    @functools.wraps(make)
    def made(self: Any, *arguments: Any, **keywords: Any) -> None:
        make(self, *arguments, **keywords)
        try:
            follow(self, verifier)
        except Exception as error:  # noqa: BLE001 - a test of another kind must not fail
            verifier.gap(0, 0, f"{type(error).__name__}: {error}")

    trainer.__init__ = made


def _grpo(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "grpo", "epsilon": call["epsilon"], "normalize_by_std": bool(call["norm_adv_by_std_in_grpo"])}


# verl's functions → their estimator, from the arguments of the call.
_VERL: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "compute_grpo_outcome_advantage": _grpo,
    "compute_rloo_outcome_advantage": lambda call: {"name": "rloo"},
    "compute_rloo_vectorized_outcome_advantage": lambda call: {"name": "rloo", "singleton": "zero"},
    "compute_opo_outcome_advantage": lambda call: {"name": "opo"},
}


def follow_verl(verifier: TrainingVerifier) -> None:
    """Verifies every call of verl's estimators in core_algos that are known here. Call it before other modules import them by
    name. ImportError without verl."""
    core = importlib.import_module(_CORE)
    registry: dict[str, Any] = getattr(core, "ADV_ESTIMATOR_REGISTRY", {})
    for name, estimator_of in _VERL.items():
        original = getattr(core, name, None)
        if original is None:
            continue
        wrapped = _verified(original, estimator_of, verifier)
        setattr(core, name, wrapped)
        for key, registered in registry.items():
            if registered is original:
                registry[key] = wrapped


def _verified(original: Callable[..., Any], estimator_of: Callable[[Mapping[str, Any]], dict[str, Any]], verifier: TrainingVerifier) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def call(*arguments: Any, **keywords: Any) -> Any:
        result = original(*arguments, **keywords)
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        try:
            _record(verifier, bound.arguments, estimator_of(bound.arguments), result[0])
        except Exception as error:  # noqa: BLE001 - a verification must never fail a training
            verifier.gap(0, 0, f"{type(error).__name__}: {error}")
        return result

    return call


def _record(verifier: TrainingVerifier, call: Mapping[str, Any], estimator: dict[str, Any], advantages: Any) -> None:
    mask, rewards = call["response_mask"], call["token_level_rewards"]
    # A row has one advantage at all its response tokens. The first of them need not be the first of the row.
    first = mask.long().argmax(-1).unsqueeze(-1)
    verifier.batch(
        verifier.batches + 1,
        estimator=estimator,
        group=call["index"],
        trajectory=range(len(mask)),
        # As verl computes it, so that it has the same bits.
        token_level_reward_sum=rewards.sum(-1),
        advantage=advantages.gather(-1, first).squeeze(-1),
    )
