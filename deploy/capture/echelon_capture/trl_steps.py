"""Captures the optimizer steps of TRL's GRPOTrainer, without a change to TRL.

    from echelon_capture.trl_steps import follow_steps

    trainer = GRPOTrainer(...)
    follow_steps(trainer)
    trainer.train()

Wrapped are four methods of this one trainer: `_compute_loss`, `_get_per_token_logps_and_entropies`, and those of trl_rows.py. All get the
same arguments and return the same tensors, with one more beside them: the place of each row. Tested with TRL 1.16.
"""

from __future__ import annotations

import functools
from typing import Any

from .ranks import Rank
from .row_marks import ROW
from .steps import Steps, ends, version_of
from .trl_rows import Rollout, rollouts_of

_PER_MICRO_BATCH = {
    "grpo": "seq-mean-token-mean", "sapo": "seq-mean-token-mean", "bnpo": "token-mean", "dr_grpo": "seq-mean-token-sum-norm",
    "luspo": "seq-mean-token-sum",
}  # fmt: skip
# Switches of losses beside the policy's and the KL term; a version without one has no such loss.
_MORE_LOSSES = ("_entropy_bonus_enabled", "aux_loss_enabled")
_CLIPPED = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo")


def follow_steps(trainer: Any, every: int = 10, profile: str = "minimal") -> None:
    """Captures the optimizer steps of a GRPOTrainer from now on: the tokens of every `every`-th step, the layout of the
    others. `profile`: minimal, standard or full. AttributeError if the trainer does not have the two methods."""
    rollouts = rollouts_of(trainer)
    steps = Steps(every, profile, Rank(trainer.accelerator.process_index, trainer.accelerator.num_processes))
    seen: list[Any] = []
    # Of the generations of the micro-batches since the last update, in updates.
    ages: list[int] = []
    compute, log_probs = trainer._compute_loss, trainer._get_per_token_logps_and_entropies

    @functools.wraps(log_probs)
    def _get_per_token_logps_and_entropies(*arguments: Any, **keywords: Any) -> Any:
        seen[:] = log_probs(*arguments, **keywords)
        return tuple(seen)

    @functools.wraps(compute)
    def _compute_loss(model: Any, inputs: Any, *arguments: Any, **keywords: Any) -> Any:
        loss = compute(model, inputs, *arguments, **keywords)
        if trainer.model.training:
            with steps.guarded():
                _take(steps, trainer, inputs, seen, loss, rollouts.latest)
                if rollouts.latest is not None:
                    ages.append(int(trainer.state.global_step) + 1 - rollouts.latest.number)
        seen.clear()
        return loss

    def staleness() -> dict[str, int]:
        """TRL generates with the weights of the trainer, so that no row is older than its generation."""
        oldest = {"maxStaleness": max(ages)} if ages else {}
        ages.clear()
        return oldest

    trainer._compute_loss = _compute_loss
    trainer._get_per_token_logps_and_entropies = _get_per_token_logps_and_entropies
    settings = lambda: {**settings_of(trainer, steps.micro_batches), **_window(trainer), **staleness(), "reported": _reported(trainer)}  # noqa: E731
    trainer.add_callback(ends(steps, settings))


def _take(steps: Steps, trainer: Any, inputs: Any, seen: list[Any], loss: Any, rollout: Rollout | None) -> None:
    log_prob, entropy = seen[:2]
    columns = {
        "mask": trained_mask(inputs),
        "id": inputs["completion_ids"],
        "logProb": log_prob,
        "oldLogProb": inputs.get("old_per_token_logps"),
        "rolloutLogProb": inputs.get("sampling_per_token_logps"),
        "referenceLogProb": inputs.get("ref_per_token_logps"),
        "rolloutWeight": inputs.get("importance_sampling_ratio"),
        "entropy": entropy,
    }
    scaler = getattr(trainer.accelerator, "scaler", None)
    facts = {
        "pass": (int(trainer._step) // trainer.args.steps_per_generation) % trainer.num_iterations,
        "lossScale": scaler.get_scale() if scaler is not None else None,
        "reportedDenominator": None if trainer.loss_type in _PER_MICRO_BATCH else _normalizer(trainer, inputs),
        "reportedLoss": None if any(getattr(trainer, name, False) for name in _MORE_LOSSES) else loss.detach(),
    }
    # A weight and the off-policy mask are verified from the log-probs that they are made of.
    weighed = ("rolloutWeight", "rolloutLogProb") if "importance_sampling_ratio" in inputs else ()
    if getattr(trainer, "off_policy_mask_threshold", None) is not None:
        weighed = (*weighed, "rolloutLogProb")
    number = int(trainer.state.global_step) + 1
    steps.take(
        number, columns, advantage=inputs["advantages"], facts=facts, needed=("referenceLogProb", *weighed),
        rows=_rows(rollout, inputs) if steps.has_tokens(number) else None,
    )  # fmt: skip


def _rows(rollout: Rollout | None, inputs: Any) -> Any:
    """What is known of the rows of a micro-batch, for the thread that writes."""
    places = inputs.get(ROW)
    if rollout is None or places is None:
        return None
    ids, old = inputs["completion_ids"].detach(), inputs.get("old_per_token_logps")

    def known(_columns: Any) -> dict[str, Any]:
        own = places.cpu().numpy()
        trained = ids.cpu().numpy()
        rows = {"trajectory": rollout.names(own)}
        if rollout.version is not None:
            rows["policyVersionStart"] = [rollout.version] * len(own)
        return {
            "rows": rows,
            "tokens": {"sampled": rollout.sampled(own, trained.shape[1])},
            "digests": rollout.trained(own, trained, None if old is None else old.detach().float().cpu().numpy()),
            "sources": rollout.generated(),
        }

    return known


def _normalizer(trainer: Any, inputs: Any) -> Any:
    """The denominator of the losses that divide by the tokens of the generation, as TRL has it for all processes. It is read where
    it does not wait for the device."""
    count, window, steps = inputs["num_items_in_batch"], trainer.current_gradient_accumulation_steps, trainer.args.steps_per_generation
    return lambda: max(1.0, float(count)) * window / steps


def _window(trainer: Any) -> dict[str, Any]:
    """The rollout batch of which the step trains a part, counted from its masks, not taken from the trainer's count."""
    if trainer.loss_type in _PER_MICRO_BATCH:
        return {}
    masks = [trained_mask(inputs) for inputs in trainer._buffered_inputs]
    return {"window": lambda: {"microBatches": len(masks), "tokens": sum(int(mask.sum()) for mask in masks)}}


def trained_mask(inputs: Any) -> Any:
    """The tokens that contribute to the loss."""
    mask, tools = inputs["completion_mask"], inputs.get("tool_mask")
    return mask if tools is None else mask * tools


def settings_of(trainer: Any, micro_batches: int) -> dict[str, Any]:
    """What the trainer's settings say of a step of so many micro-batches. ValueError for a setting that cannot be verified."""
    policy = {"dapo": "grpo", "bnpo": "grpo", "dr_grpo": "grpo", "luspo": "grpo"}.get(trainer.loss_type, trainer.loss_type)
    return {
        "trainer": "trl",
        "trainerVersion": version_of("trl"),
        "policyLoss": _policy_loss(trainer, policy),
        "aggregation": _aggregation(trainer, micro_batches),
        **_off_policy(trainer),
        **_kl(trainer),
        **_correction(trainer),
    }


def _policy_loss(trainer: Any, policy: str) -> dict[str, Any]:
    of_row = trainer.importance_sampling_level == "sequence"
    clip = {"clipLow": trainer.epsilon_low, "clipHigh": trainer.epsilon_high}
    args = trainer.args
    if getattr(trainer, "top_entropy_quantile", 1.0) != 1.0:
        raise ValueError(f"not verifiable: top_entropy_quantile={trainer.top_entropy_quantile!r}")
    if policy == "grpo" and of_row and args.delta is None:
        return {"name": "gspo", **clip}
    if policy == "grpo" and not of_row:
        return {"name": "ppo-clip", **clip, **({} if args.delta is None else {"delta": args.delta})}
    if policy == "cispo" and not of_row:
        return {"name": "cispo", "clipLow": None, "cap": trainer.epsilon_high}
    if policy == "sapo" and not of_row:
        return {"name": "sapo", "tauPositive": args.sapo_temperature_pos, "tauNegative": args.sapo_temperature_neg}
    if policy == "vespo":
        return {
            "name": "vespo", "kPositive": args.vespo_k_pos, "lambdaPositive": args.vespo_lambda_pos,
            "kNegative": args.vespo_k_neg, "lambdaNegative": args.vespo_lambda_neg,
        }  # fmt: skip
    raise ValueError(f"not verifiable: loss_type={trainer.loss_type!r} with {trainer.importance_sampling_level} ratios")


def _aggregation(trainer: Any, micro_batches: int) -> dict[str, Any]:
    if trainer.loss_type in _PER_MICRO_BATCH:
        mode = _PER_MICRO_BATCH[trainer.loss_type]
        norm = {"scaleFactor": trainer.max_completion_length} if trainer.loss_type == "dr_grpo" else {}
        return {"mode": mode, "scope": "micro-batch", **norm}
    # Otherwise the tokens of the generation batch are not those of the step.
    is_whole = micro_batches == trainer.args.steps_per_generation
    return {"mode": "token-mean", "scope": "global" if is_whole else "window"}


def _off_policy(trainer: Any) -> dict[str, Any]:
    """The mask of rows that moved away from the policy that sampled them. Versions of TRL without it have no such attribute."""
    threshold = getattr(trainer, "off_policy_mask_threshold", None)
    if threshold is None:
        return {}
    # TRL compares with the log-probs of vLLM if it has them.
    has_engine = any("sampling_per_token_logps" in inputs for inputs in trainer._buffered_inputs)
    return {"offPolicyMask": {"threshold": threshold, "sampledBy": "rollout" if has_engine else "old"}}


def _kl(trainer: Any) -> dict[str, Any]:
    if trainer.beta == 0:
        return {}
    weight = "ratio" if getattr(trainer.args, "use_bias_correction_kl", False) else "none"
    return {"kl": {"estimator": "k3", "coefficient": trainer.beta, "weight": weight}}


def _correction(trainer: Any) -> dict[str, Any]:
    if not (trainer.use_vllm and trainer.vllm_importance_sampling_correction):
        return {}
    level, action = trainer.vllm_importance_sampling_mode.split("_")
    limits = {"low": trainer.vllm_importance_sampling_clip_min, "high": trainer.vllm_importance_sampling_clip_max}
    stated = {"level": level, "action": action, **{key: value for key, value in limits.items() if value is not None}}
    return {"rolloutCorrection": stated}


def _reported(trainer: Any) -> dict[str, Any]:
    """The clip fraction as the log will have it: over the tokens of all processes, and then a mean over the window."""
    own = trainer._metrics["train"].get("clip_ratio/region_mean") or []
    window = own[-trainer.current_gradient_accumulation_steps :]
    is_token = trainer.importance_sampling_level == "token" and trainer.args.delta is None
    if trainer.loss_type not in _CLIPPED or not is_token or not window:
        return {}
    return {"clipFraction": {"value": sum(window) / len(window), "reduction": "tokens-then-mean"}}
