"""A guess at the GPU memory of a run, from below: activations come on top."""

from __future__ import annotations

import os
import re

from echelon_rayworker import nodes

from ..answers import Answer
from .overrides import Overrides
from .settings import Settings

# Bytes for each parameter while training, all in float32: weights, gradients, Adam's two moments.
_WEIGHT_BYTES, _GRADIENT_BYTES, _OPTIMIZER_BYTES = 4, 4, 8
# The reference policy has no more than its weights, in bfloat16.
_REFERENCE_BYTES = 2
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)[bB](?![A-Za-z])")


def guess(settings: Settings) -> tuple[float, float] | None:
    """GiB of each GPU for the training's state, and the share of it that generation takes; None where the model's
    name does not tell its size."""
    overrides = settings.overrides
    policy = _billions(overrides, "actor_rollout_ref.model.path")
    values = _billions(overrides, "critic.model.path") if _has_critic(settings) else 0.0
    if policy is None or values is None:
        return None
    total = 0.0
    if not settings.evaluates:
        adapters = overrides.number("actor_rollout_ref.model.lora_rank", 0) > 0
        total += policy * _trained_bytes(overrides, "actor_rollout_ref.actor.fsdp_config", adapters)
        total += values * _trained_bytes(overrides, "critic.model.fsdp_config", False)
        kept = not overrides.flag("actor_rollout_ref.ref.fsdp_config.param_offload", False)
        if kept and not adapters and overrides.flag("actor_rollout_ref.actor.use_kl_loss", False):
            total += policy * _REFERENCE_BYTES
    state = total * 1e9 / max(settings.gpus, 1) / 2**30
    return state, overrides.number("actor_rollout_ref.rollout.gpu_memory_utilization", 0.5)


def _has_critic(settings: Settings) -> bool:
    return not settings.evaluates and settings.overrides.text("algorithm.adv_estimator") == "gae"


def _billions(overrides: Overrides, key: str) -> float | None:
    """Parameters of the model that a key names, as the name says; None if it does not."""
    named = _SIZE.search(os.path.basename((overrides.text(key) or "").rstrip("/")))
    return float(named[1]) if named else None


def _trained_bytes(overrides: Overrides, place: str, adapters: bool) -> int:
    """Bytes of each parameter on the GPUs; of adapters, gradients and moments are not worth counting."""
    weights = 0 if overrides.flag(f"{place}.param_offload", False) else _WEIGHT_BYTES
    if adapters:
        return weights
    return weights + _GRADIENT_BYTES + (0 if overrides.flag(f"{place}.optimizer_offload", False) else _OPTIMIZER_BYTES)


def memory_answers(settings: Settings, looks: list[nodes.Look]) -> list[Answer]:
    """The guess against the smallest GPU of the nodes."""
    guessed = guess(settings)
    if guessed is None:
        return [Answer("memory", True, "the model's name does not tell its size: no guess is made")]
    state, share = guessed
    whose = "policy and critic" if _has_critic(settings) else "the policy"
    text = f"about {state:.0f} GiB of each GPU for weights, gradients and optimizer of {whose}, beside {share:.0%} for generation"
    smallest = min((size / 1024 for one in looks for _, size in one.devices), default=0.0)
    if not smallest:
        return [Answer("memory", True, f"{text}; how much the GPUs have is not known here")]
    left = smallest * (1 - share)
    said = f"{text}; the smallest GPU has {smallest:.0f} GiB, which leaves {left:.0f}"
    remedy = "offload parameters or the optimizer, lower rollout.gpuMemoryUtilization, or use more or larger GPUs"
    return [Answer("memory", state <= left, said, "" if state <= left else remedy, "warning")]
