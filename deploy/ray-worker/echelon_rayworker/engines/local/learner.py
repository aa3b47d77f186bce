"""Proximal policy optimisation of the bilinear policy: clipped ratio, KL to the starting policy, Adam."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .policy import Choices, DenseChoices, densify, log_probabilities

DUAL_CLIP = 3.0  # bounds the loss of a row with a negative advantage, as verl does
ENTROPY_COEFFICIENT = 0.001
GRADIENT_CLIP = 1.0
MINI_BATCHES = 4


@dataclass
class Learner:
    """The policy's weights with Adam's state. `reference` are the starting policy's weights."""

    weights: np.ndarray
    reference: np.ndarray
    learning_rate: float
    epochs: int
    clip_ratio: float
    kl_coefficient: float
    updates: int = 0
    first_moment: np.ndarray = field(init=False)
    second_moment: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.first_moment = np.zeros_like(self.weights)
        self.second_moment = np.zeros_like(self.weights)

    def update(
        self, choices: Choices, chosen: np.ndarray, advantage: np.ndarray, chance: np.random.Generator
    ) -> dict[str, float]:
        """Several passes over a batch. `chosen` indexes candidates. Returns metrics under the recipe's names."""
        dense = densify(choices, self.weights)
        old = log_probabilities(self.weights, dense)
        reference = log_probabilities(self.reference, dense)[chosen]
        kept: dict[str, list[float]] = {}
        for _ in range(self.epochs):
            for rows in np.array_split(chance.permutation(choices.rows), MINI_BATCHES):
                part, places = _part(dense, np.sort(rows), chosen)
                rows = np.sort(rows)
                metrics = self._mini_batch(part, places, advantage[rows], old[chosen[rows]], reference[rows])
                for name, value in metrics.items():
                    kept.setdefault(name, []).append(value)
        means = {name: float(np.mean(values)) for name, values in kept.items()}
        means["actor/entropy_loss"] = float(-(np.exp(old) * old).sum() / max(choices.rows, 1))
        means["actor/lr"] = self.learning_rate
        return means

    def _mini_batch(self, part: DenseChoices, chosen, advantage, old, reference) -> dict[str, float]:
        every = log_probabilities(self.weights, part)
        new, probability = every[chosen], np.exp(every)
        ratio = np.exp(np.clip(new - old, -20, 20))
        low, high = np.float32(1 - self.clip_ratio), np.float32(1 + self.clip_ratio)
        plain, clipped = -advantage * ratio, -advantage * np.clip(ratio, low, high)
        loss = np.maximum(plain, clipped)
        bound = np.where(advantage < 0, -advantage * np.float32(DUAL_CLIP), np.inf)
        active = (plain >= clipped) & (plain < bound)
        difference = np.clip(reference - new, -20, 20)
        divergence = np.exp(difference) - difference - 1

        rows = np.float32(len(advantage))
        by_choice = np.where(active, plain, 0) + np.float32(self.kl_coefficient) * (1 - np.exp(difference))
        entropy = -np.add.reduceat(probability * every, part.start[:-1])
        slope = -probability * by_choice[part.row]
        slope[chosen] += by_choice
        slope += np.float32(ENTROPY_COEFFICIENT) * probability * (every + entropy[part.row])
        slope /= rows
        by_row = np.add.reduceat(slope[:, None] * part.command, part.start[:-1], axis=0)
        gradient = part.context.T @ by_row
        norm = float(np.sqrt(np.vdot(gradient, gradient)))
        self._adam(gradient * np.float32(min(1.0, GRADIENT_CLIP / (norm + 1e-6))))
        return {
            "actor/pg_loss": float(np.minimum(loss, bound).mean()),
            "actor/pg_clipfrac": float((clipped > plain).mean()),
            "actor/ppo_kl": float((old - new).mean()),
            "actor/kl_loss": float(divergence.mean()),
            "actor/grad_norm": norm,
        }

    def _adam(self, gradient: np.ndarray) -> None:
        self.updates += 1
        self.first_moment += np.float32(0.1) * (gradient - self.first_moment)
        self.second_moment += np.float32(0.001) * (gradient * gradient - self.second_moment)
        first = self.first_moment / np.float32(1 - 0.9**self.updates)
        second = self.second_moment / np.float32(1 - 0.999**self.updates)
        self.weights -= np.float32(self.learning_rate) * first / (np.sqrt(second) + np.float32(1e-8))


def _part(dense: DenseChoices, rows: np.ndarray, chosen: np.ndarray) -> tuple[DenseChoices, np.ndarray]:
    """The choices of some rows, and where their chosen candidates stand among the part's candidates."""
    lengths = np.diff(dense.start)[rows]
    start = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(start[-1]) - np.repeat(start[:-1], lengths)
    candidates = np.repeat(dense.start[:-1][rows], lengths) + within
    row = np.repeat(np.arange(len(rows)), lengths)
    part = DenseChoices(dense.context[rows], dense.command[candidates], row, start)
    return part, start[:-1] + chosen[rows] - dense.start[:-1][rows]
