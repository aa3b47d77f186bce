"""Batches as a trainer with a known fault would report them.

Each fault has occurred in a public trainer without crashing it. It is planted at its place in the pipeline, and everything
after it is computed anew: the reported numbers are the faulty trainer's own, not altered results.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from echelon_capture.format.observations import canonical_text

from ..local.estimators import (
    EstimatorSettings,
    Rows,
    advantages,
    combined,
    episode_advantages,
    history_clusters,
    level_advantages,
    step_rewards,
)

Columns = dict[str, Any]  # the arguments of build_batch
_PER_ROW = (
    "group", "trajectory", "observation", "action", "step", "reward", "action_valid", "token_level_reward_sum",
    "response_length", "step_reward", "advantage",
)  # fmt: skip
_NEEDED = ("observation", "reward", "action_valid", "token_level_reward_sum")


class FaultError(ValueError):
    """The fault cannot show in this batch; the message says why."""


def shuffled_rows(columns: Columns) -> Columns:
    """Rows are shuffled before the estimator, which takes the batch's order for the order of time."""
    order = np.random.default_rng(0).permutation(len(columns["group"]))
    shuffled = {key: [columns[key][row] for row in order] for key in _PER_ROW if columns.get(key) is not None}
    return _estimated({**columns, **shuffled}, _settings(columns))


def groups_of_one(columns: Columns) -> Columns:
    """Rows are grouped by trajectory instead of by task, so that nothing is compared with its alternatives."""
    return _estimated({**columns, "group": columns["trajectory"]}, _settings(columns))


def wrong_gamma(columns: Columns) -> Columns:
    """The configured discount never reaches the returns, which take the default of 1."""
    settings = _settings(columns)
    if settings.gamma == 1:
        raise FaultError("wrong-gamma needs a batch whose discount is not 1")
    return _estimated(columns, _settings(columns, gamma=1.0))


def sample_std(columns: Columns) -> Columns:
    """The deviation of a cluster is taken as a sample's, n - 1 in its denominator."""
    settings = _hgpo_settings(columns, "sample-std")
    if settings.mode != "mean_std_norm":
        raise FaultError("sample-std needs a batch in mode mean_std_norm")
    return _estimated(columns, settings, lambda rows, s: _hgpo(rows, s, sample=True))


def zero_levels_kept(columns: Columns) -> Columns:
    """Levels without information (advantage 0) keep their weight and thin out the others."""
    settings = _hgpo_settings(columns, "zero-levels-kept")
    return _estimated(columns, settings, lambda rows, s: _hgpo(rows, s, keep_zeros=True))


def off_by_one_weights(columns: Columns) -> Columns:
    """Levels are weighted by k instead of k + 1: 1:2:3 in the place of 2:3:4."""
    settings = _hgpo_settings(columns, "off-by-one-weights")
    return _estimated(columns, settings, lambda rows, s: _hgpo(rows, s, weight_base=0.0))


FAULTS: dict[str, Callable[[Columns], Columns]] = {
    "none": lambda columns: columns,
    "shuffled-rows": shuffled_rows,
    "sample-std": sample_std,
    "zero-levels-kept": zero_levels_kept,
    "groups-of-one": groups_of_one,
    "wrong-gamma": wrong_gamma,
    "off-by-one-weights": off_by_one_weights,
}


def _settings(columns: Columns, **other: Any) -> EstimatorSettings:
    if missing := [key for key in _NEEDED if columns.get(key) is None]:
        raise FaultError(f"the batch has no {', '.join(missing)}, which a faulty estimator would compute from")
    known = EstimatorSettings.__dataclass_fields__
    return EstimatorSettings(**{**{k: v for k, v in columns["estimator"].items() if k in known}, **other})


def _hgpo_settings(columns: Columns, fault: str) -> EstimatorSettings:
    settings = _settings(columns)
    if settings.name != "hgpo":
        raise FaultError(f"{fault} is a fault of hgpo, and this batch is of {settings.name}")
    return settings


def _numbered(ids: list[Any]) -> np.ndarray:
    known: dict[Any, int] = {}
    return np.array([known.setdefault(one, len(known)) for one in ids])


def _estimated(
    columns: Columns,
    settings: EstimatorSettings,
    estimate: Callable[[Rows, EstimatorSettings], np.ndarray] = advantages,
) -> Columns:
    """The columns with returns and advantages as the settings and the estimator give them."""
    trajectory = _numbered(columns["trajectory"])
    valid = np.array(columns["action_valid"], bool)
    rows = Rows(
        group=_numbered(columns["group"]),
        trajectory=trajectory,
        observation=_numbered([canonical_text(one) for one in columns["observation"]]),
        step_reward=step_rewards(np.array(columns["reward"], float), trajectory, valid, settings),
        score=np.array(columns["token_level_reward_sum"], np.float32),
    )
    return {**columns, "step_reward": rows.step_reward, "advantage": estimate(rows, settings)}


def _hgpo(
    rows: Rows,
    settings: EstimatorSettings,
    *,
    sample: bool = False,
    keep_zeros: bool = False,
    weight_base: float = 1.0,
) -> np.ndarray:
    """HGPO with one of its rules replaced."""
    by_deviation = settings.mode == "mean_std_norm"
    levels = []
    if settings.base_group:
        base = episode_advantages(rows, by_deviation)
        levels.append((1.0, base, base != 0))
    for k, clusters in enumerate(history_clusters(rows, settings.history_length), start=1):
        values = level_advantages(rows, clusters, by_deviation, sample)
        counts = values != 0
        if keep_zeros:
            counts = np.zeros(len(values), bool)
            counts[clusters.order] = np.repeat(clusters.size > 1, clusters.size)
        levels.append(((k + weight_base) ** settings.length_weight_alpha, values, counts))
    return combined(levels)
