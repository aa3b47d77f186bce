"""The estimators against recorded outputs of the recipe, worked values, and their edges."""

import math
from pathlib import Path

import numpy as np
import pytest

from echelon_capture.format import read_batch_file
from echelon_capture.format.observations import canonical_text
from echelon_rayworker.engines.local.estimators import (
    EstimatorSettings,
    Rows,
    advantages,
    grpo,
    positions,
    step_rewards,
)

GOLDEN = Path(__file__).parents[3] / "test" / "golden"


def numbered(ids) -> np.ndarray:
    known: dict = {}
    return np.array([known.setdefault(one, len(known)) for one in ids], int)


def settings_of(estimator: dict) -> EstimatorSettings:
    known = EstimatorSettings.__dataclass_fields__
    return EstimatorSettings(**{key: value for key, value in estimator.items() if key in known})


def rows_of(columns: dict) -> Rows:
    count = len(columns["group"])
    returns = np.array(columns["step_reward"], np.float32)
    score = columns.get("token_level_reward_sum")
    return Rows(
        group=numbered(columns["group"]),
        trajectory=numbered(columns["trajectory"]),
        observation=numbered(canonical_text(one) for one in columns.get("observation") or [0] * count),
        step_reward=returns,
        score=np.array(score if score is not None else [0] * count, np.float32),
    )


def cases() -> list:
    return list(_cases())


def _cases():
    real = ("real-alfworld.json.gz", "real-taubench.json.gz")
    for name in ("hgpo.json", "gigpo-grpo.json", "hgpo-large.json.gz", *real):
        for columns in read_batch_file(GOLDEN / name):
            if columns["estimator"]["name"] in ("hgpo", "gigpo", "grpo") and len(columns["group"]):
                yield pytest.param(columns, id=f"{name}-{columns['name']}")


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("columns", cases())
def test_recorded_outputs_of_the_recipe(columns):
    ours = advantages(rows_of(columns), settings_of(columns["estimator"]))
    reported = np.array(columns["advantage"], np.float32)
    # Where equal returns leave a rounded residue, which one depends on the order of summation: few rows may differ.
    agree = np.isclose(ours, reported, rtol=1e-3, atol=1e-4, equal_nan=True)
    assert agree.mean() >= (0.5 if columns["name"].startswith("late") else 0.99)


@pytest.mark.parametrize("columns", [case for case in cases() if case.values[0].get("reward") is not None])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_recorded_returns_of_the_recipe(columns):
    valid = np.array(columns.get("action_valid") or [True] * len(columns["group"]))
    ours = step_rewards(
        np.array(columns["reward"], float), numbered(columns["trajectory"]), valid, settings_of(columns["estimator"])
    )
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, columns["step_reward"], rtol=1e-5, atol=1e-6)


def small(observations: str, returns, group="", trajectory="", score=None) -> Rows:
    count = len(observations)
    return Rows(
        group=numbered(group or "g" * count),
        trajectory=numbered(trajectory),
        observation=numbered(observations),
        step_reward=np.array(returns, np.float32),
        score=np.array(score if score is not None else [0] * count, np.float32),
    )


def test_worked_values_of_hgpo():
    rows = small("XSXSYS", [0, 9, 0, 3, 0, 0], trajectory="112233", score=[10, 10, 0, 0, 0, 0])
    plain = EstimatorSettings(mode="mean_norm")
    np.testing.assert_allclose(advantages(rows, plain), [0, 3.8, 0, -2.2, 0, -4], atol=1e-5)
    based = EstimatorSettings(mode="mean_norm", base_group=True)
    expected = [6.6667, 4.2778, -3.3333, -2.3889, -3.3333, -3.7778]
    np.testing.assert_allclose(advantages(rows, based), expected, atol=1e-4)


def test_worked_values_of_a_trajectory_alone():
    rows = small("AAAB", [8, 9, 9.5, 10], trajectory="1111")
    expected = [-1.336303, -0.493093, 1.027615, 0]
    np.testing.assert_allclose(advantages(rows, EstimatorSettings()), expected, atol=1e-5)


def test_worked_values_of_grpo_and_gigpo():
    rows = small("ABCABD", [9, 9.5, 10, 0, 0, 0], trajectory="111222", score=[10, 10, 10, 0, 0, 0])
    np.testing.assert_allclose(grpo(rows, EstimatorSettings()), [0.9129] * 3 + [-0.9129] * 3, atol=1e-4)
    expected = [1.62, 1.62, 0.9129, -1.62, -1.62, -0.9129]
    np.testing.assert_allclose(advantages(rows, EstimatorSettings(name="gigpo")), expected, atol=1e-4)


def test_a_group_of_one_row():
    rows = small("A", [7], trajectory="1", score=[7])
    assert math.isclose(grpo(rows, EstimatorSettings())[0], 7 / (1 + 1e-6), rel_tol=1e-6)
    assert advantages(rows, EstimatorSettings())[0] == 0


def test_rows_of_interleaved_trajectories_keep_their_time():
    assert positions(numbered("abab")).tolist() == [0, 0, 1, 1]


def test_the_penalty_does_not_reach_earlier_steps():
    got = step_rewards(np.array([0, 0, 10.0]), numbered("aaa"), np.array([True, False, True]), EstimatorSettings())
    np.testing.assert_allclose(got, [9.025, 9.4, 10], rtol=1e-6)


@pytest.mark.parametrize("name", ["hgpo", "gigpo", "grpo"])
def test_advantages_are_float32_and_do_not_mix_groups(name):
    rows = small("SSSS", [1, 2, 30, 40], group="aabb", trajectory="1234", score=[1, 2, 30, 40])
    got = advantages(rows, EstimatorSettings(name=name, mode="mean_norm", normalize_by_std=False))
    assert got.dtype == np.float32
    assert np.allclose(got[0] + got[1], 0, atol=1e-5) and np.allclose(got[2] + got[3], 0, atol=1e-4)
