"""A guess at the GPU memory of a run, from below: activations come on top."""

from __future__ import annotations

import os
import re

from echelon_rayworker import nodes

from ..answers import Answer
from .settings import Settings

# Bytes for each parameter while training, all in float32: weights, gradients, Adam's two moments.
_WEIGHT_BYTES, _GRADIENT_BYTES, _OPTIMIZER_BYTES = 4, 4, 8
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)[bB](?![A-Za-z])")


def guess(settings: Settings) -> tuple[float, float] | None:
    """GiB of each GPU for the training's state, and the share of it that generation takes; None where the model's
    name does not tell its size."""
    overrides = settings.overrides
    named = _SIZE.search(os.path.basename((overrides.text("actor_rollout_ref.model.path") or "").rstrip("/")))
    if not named:
        return None
    each = 0
    if not settings.evaluates:
        place = "actor_rollout_ref.actor.fsdp_config"
        each += _GRADIENT_BYTES
        each += 0 if overrides.flag(f"{place}.param_offload", False) else _WEIGHT_BYTES
        each += 0 if overrides.flag(f"{place}.optimizer_offload", False) else _OPTIMIZER_BYTES
    state = float(named[1]) * 1e9 * each / max(settings.gpus, 1) / 2**30
    return state, overrides.number("actor_rollout_ref.rollout.gpu_memory_utilization", 0.5)


def memory_answers(settings: Settings, looks: list[nodes.Look]) -> list[Answer]:
    """The guess against the smallest GPU of the nodes."""
    guessed = guess(settings)
    if guessed is None:
        return [Answer("memory", True, "the model's name does not tell its size: no guess is made")]
    state, share = guessed
    text = f"about {state:.0f} GiB of each GPU for weights, gradients and optimizer, beside {share:.0%} for generation"
    smallest = min((size / 1024 for one in looks for _, size in one.devices), default=0.0)
    if not smallest:
        return [Answer("memory", True, f"{text}; how much the GPUs have is not known here")]
    left = smallest * (1 - share)
    said = f"{text}; the smallest GPU has {smallest:.0f} GiB, which leaves {left:.0f}"
    remedy = "offload parameters or the optimizer, lower rollout.gpuMemoryUtilization, or use more or larger GPUs"
    return [Answer("memory", state <= left, said, "" if state <= left else remedy, "warning")]
