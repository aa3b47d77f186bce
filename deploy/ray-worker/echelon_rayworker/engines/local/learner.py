"""Proximal policy optimisation of the bilinear policy: clipped ratio, KL to the starting policy, Adam.

An optimizer step accumulates the gradients of micro-batches, which have an equal number of trajectories and so an unequal number
of actions. The loss is the mean over the actions of all micro-batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .policy import Choices, DenseChoices, densify, log_probabilities

DUAL_CLIP = 3.0  # bounds the loss of a row with a negative advantage, as verl does
ENTROPY_COEFFICIENT = 0.001
GRADIENT_CLIP = 1.0
LOG_RATIO_CLAMP = 20.0
MINI_BATCHES = 4
MICRO_BATCHES = 4

# What an update may do wrong, for demonstrations. Each has occurred in a public trainer.
FAULTS = {
    "none": "",
    "token-mean-per-micro-batch": "each micro-batch divides by its own actions",
    "kl-without-gradient": "the KL term is computed without gradients",
    "old-log-probs-unused": "the ratio is 1 for every action",
}


@dataclass(frozen=True)
class Known:
    """What an update knows of each collected row before it begins. `chosen` indexes candidates."""

    chosen: np.ndarray
    advantage: np.ndarray
    trajectory: np.ndarray
    old: np.ndarray
    reference: np.ndarray


@dataclass(frozen=True)
class OptimizerStep:
    """One optimizer step as its loss consumed it. `gradient`: the derivative of the loss by the log-prob of each row's action."""

    number: int
    epoch: int
    row: np.ndarray
    micro_batch: np.ndarray
    log_prob: np.ndarray
    gradient: np.ndarray
    denominators: list[int]
    metrics: dict[str, float]
    known: Known


@dataclass
class Learner:
    """The policy's weights with Adam's state. `reference` are the starting policy's weights. `last`: the last optimizer step."""

    weights: np.ndarray
    reference: np.ndarray
    learning_rate: float
    epochs: int
    clip_ratio: float
    kl_coefficient: float
    fault: str = "none"
    updates: int = 0
    first_moment: np.ndarray = field(init=False)
    second_moment: np.ndarray = field(init=False)
    last: OptimizerStep = field(init=False)

    def __post_init__(self) -> None:
        self.first_moment = np.zeros_like(self.weights)
        self.second_moment = np.zeros_like(self.weights)

    def update(
        self, choices: Choices, chosen: np.ndarray, advantage: np.ndarray, trajectory: np.ndarray, chance: np.random.Generator
    ) -> dict[str, float]:
        """Several passes over a batch. `chosen` indexes candidates. Returns metrics under the recipe's names."""
        dense = densify(choices, self.weights)
        old = log_probabilities(self.weights, dense)
        reference = log_probabilities(self.reference, dense)[chosen]
        known = Known(chosen, advantage, trajectory, old[chosen], reference)
        kept: dict[str, list[float]] = {}
        for epoch in range(self.epochs):
            for rows in np.array_split(chance.permutation(choices.rows), MINI_BATCHES):
                self.last = self._optimizer_step(dense, known, np.sort(rows), epoch)
                for name, value in self.last.metrics.items():
                    kept.setdefault(name, []).append(value)
        means = {name: float(np.mean(values)) for name, values in kept.items()}
        means["actor/entropy_loss"] = float(-(np.exp(old) * old).sum() / max(choices.rows, 1))
        means["actor/lr"] = self.learning_rate
        return means

    def _optimizer_step(self, dense: DenseChoices, known: Known, rows: np.ndarray, epoch: int = 0) -> OptimizerStep:
        parts = _micro_batches(known.trajectory, rows)
        own_mean = self.fault == "token-mean-per-micro-batch"
        denominators = [len(own) * len(parts) if own_mean else len(rows) for own in parts]
        done = [self._micro_batch(dense, known, own, denominator) for own, denominator in zip(parts, denominators)]
        gradient = sum(one["weights"] for one in done)
        norm = float(np.sqrt(np.vdot(gradient, gradient)))
        self._adam(gradient * np.float32(min(1.0, GRADIENT_CLIP / (norm + 1e-6))))
        metrics = {name: float(sum(one["metrics"][name] for one in done)) for name in done[0]["metrics"]}
        return OptimizerStep(
            number=self.updates,
            epoch=epoch,
            row=rows,
            micro_batch=np.repeat(np.arange(len(parts)), [len(own) for own in parts]),
            log_prob=np.concatenate([one["log_prob"] for one in done]),
            gradient=np.concatenate([one["gradient"] for one in done]),
            denominators=denominators,
            metrics={**metrics, "actor/grad_norm": norm},
            known=known,
        )

    def _micro_batch(self, dense: DenseChoices, known: Known, rows: np.ndarray, denominator: int) -> dict[str, Any]:
        """The gradient of the weights and of the log-probs, and the micro-batch's part of the metrics."""
        part, chosen = _part(dense, rows, known.chosen)
        advantage, old = known.advantage[rows], known.old[rows]
        every = log_probabilities(self.weights, part)
        new, probability = every[chosen], np.exp(every)
        log_ratio = np.zeros_like(new) if self.fault == "old-log-probs-unused" else _clamped(new - old)
        ratio = np.exp(log_ratio)
        low, high = np.float32(1 - self.clip_ratio), np.float32(1 + self.clip_ratio)
        plain, clipped = -advantage * ratio, -advantage * np.clip(ratio, low, high)
        bound = np.where(advantage < 0, -advantage * np.float32(DUAL_CLIP), np.inf)
        loss = np.minimum(np.maximum(plain, clipped), bound)
        active = (plain >= clipped) & (plain < bound) & (np.abs(log_ratio) < LOG_RATIO_CLAMP)
        difference = _clamped(known.reference[rows] - new)
        divergence = np.exp(difference) - difference - 1
        moves = (np.abs(difference) < LOG_RATIO_CLAMP) & (self.fault != "kl-without-gradient")
        by_divergence = np.where(moves, np.float32(self.kl_coefficient) * (1 - np.exp(difference)), np.float32(0))

        count = np.float32(denominator)
        by_choice = np.where(active, plain, np.float32(0)) + by_divergence
        entropy = -np.add.reduceat(probability * every, part.start[:-1])
        slope = -probability * by_choice[part.row]
        slope[chosen] += by_choice
        slope += np.float32(ENTROPY_COEFFICIENT) * probability * (every + entropy[part.row])
        slope /= count
        by_row = np.add.reduceat(slope[:, None] * part.command, part.start[:-1], axis=0)
        metrics = {
            "actor/pg_loss": loss.sum() / count,
            "actor/pg_clipfrac": (clipped > plain).sum() / count,
            "actor/ppo_kl": (old - new).sum() / count,
            "actor/kl_loss": divergence.sum() / count,
        }
        return {"weights": part.context.T @ by_row, "log_prob": new, "gradient": by_choice / count, "metrics": metrics}

    def _adam(self, gradient: np.ndarray) -> None:
        self.updates += 1
        self.first_moment += np.float32(0.1) * (gradient - self.first_moment)
        self.second_moment += np.float32(0.001) * (gradient * gradient - self.second_moment)
        first = self.first_moment / np.float32(1 - 0.9**self.updates)
        second = self.second_moment / np.float32(1 - 0.999**self.updates)
        self.weights -= np.float32(self.learning_rate) * first / (np.sqrt(second) + np.float32(1e-8))


def _clamped(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -LOG_RATIO_CLAMP, LOG_RATIO_CLAMP)


def _micro_batches(trajectory: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
    """The rows, which are sorted and so stand trajectory by trajectory, in parts of equally many trajectories."""
    first = np.flatnonzero(np.diff(trajectory[rows], prepend=-1))
    parts = np.split(rows, [own[0] for own in np.array_split(first, MICRO_BATCHES)[1:] if len(own)])
    return [own for own in parts if len(own)]


def _part(dense: DenseChoices, rows: np.ndarray, chosen: np.ndarray) -> tuple[DenseChoices, np.ndarray]:
    """The choices of some rows, and where their chosen candidates stand among the part's candidates."""
    lengths = np.diff(dense.start)[rows]
    start = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(start[-1]) - np.repeat(start[:-1], lengths)
    candidates = np.repeat(dense.start[:-1][rows], lengths) + within
    row = np.repeat(np.arange(len(rows)), lengths)
    part = DenseChoices(dense.context[rows], dense.command[candidates], row, start)
    return part, start[:-1] + chosen[rows] - dense.start[:-1][rows]
