"""Advantages by GRPO, GiGPO and HGPO, as verl-agent's trainers compute them, in float32.

Inputs are arrays with one entry per row (a row is one step of one trajectory), rows in the batch's order, which is
time order within each trajectory. `group` and `trajectory` are integers; `observation` is an integer that is equal
where the anchor observations are. Outputs are float32 arrays of the same length.

Statistics run over all rows of a group or cluster, so that long trajectories weigh more. The deviation is the
population's in HGPO's clusters, the sample's elsewhere (a row alone has mean 0 and deviation 1 there).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EPSILON = np.float32(1e-6)


@dataclass(frozen=True)
class EstimatorSettings:
    """What changes the numbers. `mode` is "mean_std_norm" or "mean_norm"."""

    name: str = "hgpo"
    history_length: int = 2
    mode: str = "mean_std_norm"
    length_weight_alpha: float = 1.0
    base_group: bool = False
    step_advantage_weight: float = 1.0
    normalize_by_std: bool = True
    gamma: float = 0.95
    invalid_action_penalty: float = 0.1


@dataclass(frozen=True)
class Rows:
    """What an estimator needs of a batch. `step_reward` and `score` are float32, after the penalty."""

    group: np.ndarray
    trajectory: np.ndarray
    observation: np.ndarray
    step_reward: np.ndarray
    score: np.ndarray


def step_rewards(
    reward: np.ndarray, trajectory: np.ndarray, action_valid: np.ndarray, settings: EstimatorSettings
) -> np.ndarray:
    """Discounted returns G_t = r_t + gamma G_{t+1}, less the penalty where an action was not valid."""
    returns = np.zeros(len(reward), np.float32)
    gamma = np.float32(settings.gamma)
    running: dict[int, np.float32] = {}
    rewards = reward.astype(np.float32)
    for row in range(len(reward) - 1, -1, -1):
        key = int(trajectory[row])
        returns[row] = running[key] = rewards[row] + gamma * running.get(key, np.float32(0))
    return returns - penalties(action_valid, settings)


def scores(
    reward: np.ndarray, trajectory: np.ndarray, action_valid: np.ndarray, settings: EstimatorSettings
) -> np.ndarray:
    """The trajectory's total reward on each of its rows, less that row's penalty: its token-level rewards' sum."""
    total = np.zeros(int(trajectory.max(initial=-1)) + 1, np.float32)
    np.add.at(total, trajectory, reward.astype(np.float32))
    return total[trajectory] - penalties(action_valid, settings)


def penalties(action_valid: np.ndarray, settings: EstimatorSettings) -> np.ndarray:
    return np.float32(settings.invalid_action_penalty) * (1 - action_valid.astype(np.float32))


@dataclass(frozen=True)
class Clusters:
    """Rows sorted by cluster: `order` are rows, `first` the place of each cluster's first row, `size` its rows."""

    order: np.ndarray
    first: np.ndarray
    size: np.ndarray

    @staticmethod
    def of(label: np.ndarray, rows: np.ndarray) -> Clusters:
        """Clusters of equal `label` among `rows` (labels run along with them)."""
        sort = np.argsort(label, kind="stable")
        _, first, size = np.unique(label[sort], return_index=True, return_counts=True)
        return Clusters(rows[sort], first, size)

    def moments(self, values: np.ndarray, sample: bool) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the cluster of each row in `order`. One row alone: see the callers."""
        ordered = values[self.order]
        if not len(ordered):
            return ordered, ordered
        size = self.size.astype(np.float32)
        mean = np.repeat(np.add.reduceat(ordered, self.first) / size, self.size)
        squares = np.add.reduceat((ordered - mean) ** 2, self.first)
        deviation = np.sqrt(squares / np.maximum(size - np.float32(sample), 1))
        return mean, np.repeat(deviation, self.size)


def compared(values: np.ndarray, clusters: Clusters, by_deviation: bool, alone: np.ndarray) -> np.ndarray:
    """(value - mean) / (sample deviation + epsilon) of each row in its cluster; `alone` for clusters of one row."""
    result = np.zeros(len(values), np.float32)
    mean, deviation = clusters.moments(values, sample=True)
    difference = values[clusters.order] - mean
    result[clusters.order] = difference / (deviation + EPSILON) if by_deviation else difference
    single = clusters.order[np.repeat(clusters.size == 1, clusters.size)]
    result[single] = alone[single]
    return result


def episode_advantages(rows: Rows, by_deviation: bool) -> np.ndarray:
    """Whole trajectories compared: GRPO's advantage, GiGPO's episode term, HGPO's base group."""
    alone = rows.score / (1 + EPSILON) if by_deviation else rows.score
    clusters = Clusters.of(rows.group, np.arange(len(rows.group)))
    return compared(rows.score, clusters, by_deviation, alone)


def grpo(rows: Rows, settings: EstimatorSettings) -> np.ndarray:
    return episode_advantages(rows, settings.normalize_by_std)


def gigpo(rows: Rows, settings: EstimatorSettings) -> np.ndarray:
    """Episode term plus the weighted comparison of rows with an equal current observation."""
    by_deviation = settings.mode == "mean_std_norm"
    _, label = np.unique(np.stack([rows.group, rows.observation]), axis=1, return_inverse=True)
    clusters = Clusters.of(label.ravel(), np.arange(len(rows.group)))
    alone = np.zeros(len(rows.group), np.float32)
    steps = compared(rows.step_reward, clusters, by_deviation, alone)
    return episode_advantages(rows, by_deviation) + np.float32(settings.step_advantage_weight) * steps


def positions(trajectory: np.ndarray) -> np.ndarray:
    """Each row's place among the rows of its trajectory, from 0."""
    clusters = Clusters.of(trajectory, np.arange(len(trajectory)))
    place = np.empty(len(trajectory), np.int32)
    place[clusters.order] = np.arange(len(trajectory)) - np.repeat(clusters.first, clusters.size)
    return place


def history_clusters(rows: Rows, history_length: int) -> list[Clusters]:
    """For k = 1 … K+1: clusters of rows of a group whose last k observations, the current included, are equal."""
    count = len(rows.group)
    place = positions(rows.trajectory)
    by_trajectory = Clusters.of(rows.trajectory, np.arange(count))
    previous = np.full(count, -1)
    follows = place[by_trajectory.order] > 0
    previous[by_trajectory.order[follows]] = by_trajectory.order[np.flatnonzero(follows) - 1]
    # The window of length k+1 that ends at a row: its own observation and the window of length k before it.
    observation = np.unique(np.stack([rows.group, rows.observation]), axis=1, return_inverse=True)[1].ravel()
    window, levels = observation, []
    for k in range(1, history_length + 2):
        reaches = np.flatnonzero(place >= k - 1)
        levels.append(Clusters.of(window[reaches], reaches))
        following = np.full(count, -1)
        further = np.flatnonzero(place >= k)
        pairs = np.stack([observation[further], window[previous[further]]])
        following[further] = np.unique(pairs, axis=1, return_inverse=True)[1].ravel()
        window = following
    return levels


def level_advantages(rows: Rows, clusters: Clusters, by_deviation: bool, sample: bool = False) -> np.ndarray:
    """Each row's advantage in its cluster; 0 (contributes nothing) if it is alone or has none."""
    result = np.zeros(len(rows.group), np.float32)
    mean, deviation = clusters.moments(rows.step_reward, sample)
    difference = rows.step_reward[clusters.order] - mean
    values = difference / (deviation + EPSILON) if by_deviation else difference
    result[clusters.order] = np.where(np.repeat(clusters.size == 1, clusters.size), np.float32(0), values)
    return result


def combined(levels: list[tuple[float, np.ndarray, np.ndarray]]) -> np.ndarray:
    """Weighted mean over levels of (weight, advantages, mask of the rows that count); 0 if none counts."""
    weighted = np.zeros_like(levels[0][1])
    total = np.zeros_like(weighted)
    for weight, values, counts in levels:
        weighted += np.where(counts, np.float32(weight) * values, np.float32(0))
        total += np.where(counts, np.float32(weight), np.float32(0))
    return weighted / (total + EPSILON)


def hgpo(rows: Rows, settings: EstimatorSettings) -> np.ndarray:
    """Levels k = 1 … K+1 with weight (k+1)^alpha, less those whose advantage is exactly 0; base group: weight 1."""
    by_deviation = settings.mode == "mean_std_norm"
    alpha = settings.length_weight_alpha
    levels = []
    if settings.base_group:
        base = episode_advantages(rows, by_deviation)
        levels.append((1.0, base, base != 0))
    for k, clusters in enumerate(history_clusters(rows, settings.history_length), start=1):
        values = level_advantages(rows, clusters, by_deviation)
        levels.append(((k + 1.0) ** alpha, values, values != 0))
    return combined(levels)


ESTIMATORS = {"hgpo": hgpo, "gigpo": gigpo, "grpo": grpo}


def advantages(rows: Rows, settings: EstimatorSettings) -> np.ndarray:
    return ESTIMATORS[settings.name](rows, settings)
