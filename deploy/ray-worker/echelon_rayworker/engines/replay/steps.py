"""An optimizer step on the rows of a recorded batch, right or as a trainer with a known bug would give it.

The rows, actions and advantages are the recorded ones. The record has no log-probs, so those of the current, old and reference
policy are drawn; the loss is PPO clip with a KL term, in float32, over two ranks with two micro-batches each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Columns = dict[str, Any]  # the arguments of build_batch
RANKS, PER_RANK = 2, 2
CLIP_LOW, CLIP_HIGH, KL_COEFFICIENT = 0.2, 0.28, 0.05

# Each has occurred in a public trainer, and none changes a value that trainers log.
STEP_FAULTS = {
    "token-mean-per-micro-batch": "each micro-batch divides by its own tokens",
    "kl-without-gradient": "the KL term is computed without gradients",
    "clip-higher-ignored": "the upper clip width is the lower one",
    "old-log-probs-unused": "the ratio is 1 for every token",
    "ranks-not-reduced": "the factor of the ranks is missing",
}


def step_of(columns: Columns, step: int, fault: str) -> Columns:
    """The argument of build_step_batch. A row is a trajectory, a token is one of its actions."""
    names = list(dict.fromkeys(columns["trajectory"]))
    places = {name: [] for name in names}
    for row, name in enumerate(columns["trajectory"]):
        places[name].append(row)
    order = np.concatenate([places[name] for name in names])
    lengths = np.array([len(places[name]) for name in names])
    part = np.concatenate([np.full(len(rows), k) for k, rows in enumerate(np.array_split(names, RANKS * PER_RANK))])
    texts = [str(columns["action"][row]) for row in order] if columns.get("action") is not None else []
    ids = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    chance = np.random.default_rng([7, step])
    old = np.float32(-0.01 - 3 * chance.random(len(order)) * chance.random(len(order)))
    new = np.minimum(np.float32(-0.001), old + np.float32(0.8) * np.float32(chance.random(len(order)) - 0.5))
    reference = np.minimum(np.float32(-0.001), old + np.float32(0.2) * np.float32(chance.random(len(order)) - 0.5))
    advantage = np.array([columns["advantage"][row] for row in order], np.float32)
    own = np.bincount(part, weights=lengths).astype(np.float32)[np.repeat(part, lengths)]
    by_token = _coefficient(new, old, reference, advantage, fault)
    first = [places[name][0] for name in names]
    return {
        "name": f"update {step}",
        "step": _settings(step, len(order)),
        "group": [columns["group"][row] for row in first],
        "trajectory": names,
        "microBatch": part,
        "idTexts": {number: text for text, number in ids.items()},
        "tokens": {
            "offset": np.concatenate([[0], np.cumsum(lengths)]),
            **({"id": [ids[text] for text in texts]} if texts else {}),
            "logProb": new, "oldLogProb": old, "referenceLogProb": reference, "reportedAdvantage": advantage,
            "lossGradient": _divided(by_token, own, fault),
        },
    }  # fmt: skip


def _coefficient(
    new: np.ndarray, old: np.ndarray, reference: np.ndarray, advantage: np.ndarray, fault: str
) -> np.ndarray:
    """The derivative of each token's loss by its log-prob, before denominators."""
    ratio = np.ones_like(new) if fault == "old-log-probs-unused" else np.exp(new - old)
    high = CLIP_LOW if fault == "clip-higher-ignored" else CLIP_HIGH
    clipped = np.where(advantage > 0, ratio > np.float32(1 + high), ratio < np.float32(1 - CLIP_LOW))
    policy = np.where(clipped, np.float32(0), -advantage * ratio)
    if fault == "kl-without-gradient":
        return policy
    return policy + np.float32(KL_COEFFICIENT) * (np.float32(1) - np.exp(reference - new))


def _divided(by_token: np.ndarray, own: np.ndarray, fault: str) -> np.ndarray:
    """By the tokens of all micro-batches, times the ranks over which gradients are averaged. `own`: those of the micro-batch."""
    if fault == "token-mean-per-micro-batch":
        return by_token / own / np.float32(PER_RANK)
    return by_token / np.float32(len(by_token)) * np.float32(1 if fault == "ranks-not-reduced" else RANKS)


def _settings(step: int, tokens: int) -> Columns:
    return {
        "optimizerStep": step,
        "trainer": "echelon-replay",
        "policyLoss": {"name": "ppo-clip", "clipLow": CLIP_LOW, "clipHigh": CLIP_HIGH},
        "kl": {"estimator": "k3", "coefficient": KL_COEFFICIENT, "placement": "loss"},
        "aggregation": {"mode": "token-mean", "scope": "global"},
        "dataParallelSize": RANKS,
        "precision": "float32",
        "microBatches": [
            {"rank": rank, "index": index, "reportedDenominator": tokens}
            for rank in range(RANKS)
            for index in range(PER_RANK)
        ],
    }
