"""HGPO in float64, for `advantages: exact`: what the recipe's formula gives without rounding errors.

The recipe works in float32. Where all returns of a cluster are equal, its mean may be off by one unit in the last
place; the residue is not 0, so that it counts as a level of its own, and mean_std_norm blows it up. Here a cluster
of equal returns contributes nothing, as the formula says, and everything else is computed in float64.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Hashable, Mapping, Sequence

import numpy as np

EPSILON = 1e-6


def step_returns(
    reward: np.ndarray, trajectory: Sequence[Hashable], valid: np.ndarray, gamma: float, penalty: float
) -> np.ndarray:
    """Discounted returns within each trajectory, less the penalty of each invalid step (after discounting)."""
    returns = np.array(reward, dtype=np.float64)
    following: dict[Hashable, float] = {}
    for row in range(len(returns) - 1, -1, -1):
        returns[row] += gamma * following.get(trajectory[row], 0.0)
        following[trajectory[row]] = returns[row]
    return returns - penalty * (1.0 - np.asarray(valid, dtype=np.float64))


def hgpo(
    returns: np.ndarray,
    score: np.ndarray,
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable],
    observation: Sequence[Hashable],
    facts: Mapping[str, Any],
) -> np.ndarray:
    """One advantage a row. `observation`: hashable, equal where the recipe takes them for equal; rows of a trajectory
    in the order of time; `facts`: history_length, mode, length_weight_alpha, base_group."""
    by_deviation = facts["mode"] == "mean_std_norm"
    weighted = np.zeros(len(returns))
    total = np.zeros(len(returns))

    def add(rows: np.ndarray, values: np.ndarray, weight: float) -> None:
        counts = values != 0  # NaN counts, as it does in the recipe
        weighted[rows[counts]] += weight * values[counts]
        total[rows[counts]] += weight

    if facts["base_group"]:
        members = defaultdict(list)
        for row, name in enumerate(group):
            members[name].append(row)
        for rows in members.values():
            add(np.array(rows), _base(score[rows], by_deviation), 1.0)
    for (k, _, _), rows in _clusters(group, trajectory, observation, facts["history_length"]).items():
        if len(rows) > 1:
            values = _compared(returns[rows], by_deviation, ddof=0)
            add(np.array(rows), values, (k + 1.0) ** facts["length_weight_alpha"])
    return weighted / (total + EPSILON)


def _clusters(group, trajectory, observation, history_length: int) -> dict[tuple, list[int]]:
    """Rows of a group whose last k observations are equal, for k = 1 … history_length + 1."""
    clusters: dict[tuple, list[int]] = defaultdict(list)
    histories: dict[tuple, list[Hashable]] = defaultdict(list)
    for row, now in enumerate(observation):
        history = histories[group[row], trajectory[row]]
        history.append(now)
        for k in range(1, min(history_length + 1, len(history)) + 1):
            clusters[k, group[row], tuple(history[-k:])].append(row)
    return clusters


def _compared(values: np.ndarray, by_deviation: bool, ddof: int) -> np.ndarray:
    if (values == values[0]).all():
        return np.zeros(len(values))
    with np.errstate(invalid="ignore"):
        difference = values - values.mean()
        return difference / (values.std(ddof=ddof) + EPSILON) if by_deviation else difference


def _base(score: np.ndarray, by_deviation: bool) -> np.ndarray:
    """The comparison of whole trajectories over all rows of a group; a single row passes its score through."""
    if len(score) == 1:
        return score / (1 + EPSILON) if by_deviation else score.astype(np.float64)
    return _compared(score, by_deviation, ddof=1)
