"""Captures the optimizer steps of ms-swift's GRPOTrainer, without a change to ms-swift.

    from echelon_capture.swift_steps import follow_steps

    trainer = GRPOTrainer(...)      # of swift.rlhf_trainers
    follow_steps(trainer)
    trainer.train()

Wrapped are three methods of this one trainer: `_compute_loss_and_metrics`, `_get_per_token_logps_and_entropies` and
`_get_rollout_is_correction`. They get the same arguments and return the same tensors. Tested with ms-swift 4.6.0.
"""

from __future__ import annotations

import functools
from typing import Any

from .ranks import Rank
from .steps import Steps, ends, version_of

_PER_MICRO_BATCH = {
    "grpo": "seq-mean-token-mean", "sapo": "seq-mean-token-mean", "bnpo": "token-mean", "dr_grpo": "seq-mean-token-sum-norm",
}  # fmt: skip
_CLIPPED = ("grpo", "bnpo", "dr_grpo", "dapo")
# Settings that change the loss in a way that the format does not state, with the value that switches them off.
_OFF = {
    "top_entropy_quantile": 1.0, "off_policy_sequence_mask_delta": None, "sdar_loss_coef": 0, "chord_sft_iterator": None,
    "use_liger_loss": False,
}  # fmt: skip


def follow_steps(trainer: Any, every: int = 10, profile: str = "minimal") -> None:
    """Captures the optimizer steps of a GRPOTrainer from now on: the tokens of every `every`-th step, the layout of the
    others. `profile`: minimal, standard or full. AttributeError if the trainer does not have the three methods."""
    accelerator = trainer.accelerator
    steps = Steps(every, profile, Rank(getattr(accelerator, "process_index", 0), accelerator.num_processes))
    seen: dict[str, Any] = {}
    compute, log_probs = trainer._compute_loss_and_metrics, trainer._get_per_token_logps_and_entropies
    correct = trainer._get_rollout_is_correction

    @functools.wraps(log_probs)
    def _get_per_token_logps_and_entropies(*arguments: Any, **keywords: Any) -> Any:
        seen["logProb"], seen["entropy"] = found = log_probs(*arguments, **keywords)
        return found

    @functools.wraps(correct)
    def _get_rollout_is_correction(*arguments: Any, **keywords: Any) -> Any:
        found = correct(*arguments, **keywords)
        seen["rolloutWeight"] = found[1]
        return found

    @functools.wraps(compute)
    def _compute_loss_and_metrics(model: Any, model_inputs: Any, grpo_batch: Any) -> Any:
        seen.clear()
        result = compute(model, model_inputs, grpo_batch)
        if trainer.model.training:
            with steps.guarded():
                _take(steps, trainer, (model_inputs, grpo_batch), seen)
        seen.clear()
        return result

    trainer._compute_loss_and_metrics = _compute_loss_and_metrics
    trainer._get_per_token_logps_and_entropies = _get_per_token_logps_and_entropies
    trainer._get_rollout_is_correction = _get_rollout_is_correction
    settings = lambda: settings_of(trainer, steps.stated("reportedDenominator"), steps.micro_batches)  # noqa: E731
    trainer.add_callback(ends(steps, settings))


def _take(steps: Steps, trainer: Any, inputs: tuple[Any, Any], seen: dict[str, Any]) -> None:
    model_inputs, batch = inputs
    mask, truncated = batch.completion_mask, batch.truncated_mask
    if trainer.overlong_filter and bool(truncated.any()):
        mask = mask & ~truncated.unsqueeze(-1)
    width, ids = mask.shape[1], model_inputs["input_ids"]
    # A weight of a row is made of clamped ratios of tokens, which the format does not state.
    of_row = "sequence" in str(trainer.rollout_importance_sampling_mode)
    columns = {
        "mask": mask,
        # Without the filter it is the mask itself, and no other source of it.
        "sampled": batch.completion_mask if trainer.overlong_filter else None,
        # With padding_free the ids of all rows are in one.
        "id": ids[:, -width:] if ids.shape[0] == mask.shape[0] else None,
        "logProb": seen["logProb"],
        "oldLogProb": batch.old_per_token_logps,
        "rolloutLogProb": None if of_row else batch.rollout_per_token_logps,
        "referenceLogProb": batch.ref_per_token_logps,
        "rolloutWeight": seen.get("rolloutWeight"),
        "entropy": seen["entropy"],
    }
    scaler = getattr(trainer.accelerator, "scaler", None)
    is_whole = trainer.loss_type in _PER_MICRO_BATCH
    facts = {
        "lossScale": scaler.get_scale() if scaler is not None else None,
        "reportedDenominator": None if is_whole else batch.num_items_in_batch,
    }
    needed = ("referenceLogProb", "rolloutWeight", *(("sampled",) if trainer.overlong_filter else ()))
    steps.take(int(trainer.state.global_step) + 1, columns, advantage=batch.advantages, facts=facts, needed=needed)


def settings_of(trainer: Any, normalizers: set[float], micro_batches: int) -> dict[str, Any]:
    """What the trainer's settings say of a step of so many micro-batches. `normalizers`: the denominators that these had.
    ValueError for a setting that cannot be verified."""
    for name, off in _OFF.items():
        if getattr(trainer, name, off) != off:
            raise ValueError(f"not verifiable: {name}={getattr(trainer, name)!r}")
    return {
        "trainer": "ms-swift",
        "trainerVersion": version_of("ms-swift"),
        "policyLoss": _policy_loss(trainer),
        "aggregation": _aggregation(trainer, normalizers, micro_batches),
        **_kl(trainer),
        **_correction(trainer),
    }


def _policy_loss(trainer: Any) -> dict[str, Any]:
    name, level = trainer.loss_type, trainer.importance_sampling_level
    clip = {"clipLow": trainer.epsilon_low, "clipHigh": trainer.epsilon_high}
    delta = trainer.args.delta
    if name in _CLIPPED and level == "token":
        return {"name": "ppo-clip", **clip, **({} if delta is None else {"delta": delta})}
    if name in _CLIPPED and delta is None:
        return {"name": "gspo", **clip}
    if name == "cispo" and level == "token":
        return {"name": "cispo", "clipLow": None, "cap": trainer.epsilon_high}
    if name == "sapo" and level == "token":
        return {"name": "sapo", "tauPositive": trainer.tau_pos, "tauNegative": trainer.tau_neg}
    raise ValueError(f"not verifiable: loss_type={name!r} with {level} ratios")


def _aggregation(trainer: Any, normalizers: set[float], micro_batches: int) -> dict[str, Any]:
    if trainer.loss_type in _PER_MICRO_BATCH:
        norm = {"scaleFactor": trainer.max_completion_length} if trainer.loss_type == "dr_grpo" else {}
        return {"mode": _PER_MICRO_BATCH[trainer.loss_type], "scope": "micro-batch", **norm}
    if micro_batches == trainer.args.steps_per_generation:
        # ms-swift counts before the filter of truncated rows.
        return {"mode": "token-mean", "scope": "global", "counts": "sampled" if trainer.overlong_filter else "mask"}
    # The whole rollout batch divides a step of a part of it.
    (denominator,) = normalizers
    return {"mode": "constant", "denominator": denominator / trainer.accelerator.num_processes}


def _kl(trainer: Any) -> dict[str, Any]:
    if trainer.beta == 0 or trainer.kl_in_reward:
        return {}
    return {"kl": {"estimator": "k3", "coefficient": trainer.beta, "inputClamp": 20, "outputClamp": 10}}


def _correction(trainer: Any) -> dict[str, Any]:
    mode = trainer.rollout_importance_sampling_mode
    if mode is None or trainer.disable_rollout_importance_sampling:
        return {}
    level, action = mode.split("_")
    stated = {"level": level, "action": action, "high": trainer.rollout_importance_sampling_threshold, "exponentClamp": 20}
    of_row = {"statistic": "mean", **({"keptWeight": "token"} if action == "mask" else {})} if level == "sequence" else {}
    # The weight multiplies the loss of a token with its KL term.
    return {"rolloutCorrection": {**stated, **of_row, "appliesTo": "all"}}
