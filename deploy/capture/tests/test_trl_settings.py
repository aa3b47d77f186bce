"""What the hook for TRL states of a trainer's settings."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from echelon_capture import trl as hook


class GRPOTrainer(SimpleNamespace):
    """Settings of a trainer of this name."""


class RLOOTrainer(SimpleNamespace):
    """The same."""


@pytest.mark.parametrize(
    ("scale", "changes"),
    [
        ("group", {"epsilon": 1e-4}), (True, {"epsilon": 1e-4}), ("batch", {"epsilon": 1e-4, "deviation_over": "batch"}),
        ("none", {"normalize_by_std": False}), (False, {"normalize_by_std": False}),
    ],
)  # fmt: skip
def test_the_estimator_follows_the_settings(scale, changes):
    stated = hook.estimator_of(GRPOTrainer(scale_rewards=scale))
    assert stated.pop("forms", "recipe") == "recipe"
    assert stated == {"name": "grpo", "singleton": "zero", "missing": "exclude", **changes}


def test_several_rewards_are_the_estimator_gdpo():
    stated = hook.estimator_of(GRPOTrainer(multi_objective_aggregation="normalize_then_sum"))
    assert stated == {"name": "gdpo", "missing": "exclude"}


def test_an_unknown_aggregation_is_refused():
    with pytest.raises(ValueError, match="multi_objective_aggregation='other'"):
        hook.estimator_of(GRPOTrainer(multi_objective_aggregation="other"))


def test_functions_of_one_name_keep_their_columns_apart():
    scored = np.array([[1.0, 2.0], [3.0, math.nan]])
    trainer = SimpleNamespace(reward_func_names=["judge", "judge"], reward_weights=np.array([1.0, 0.5]))
    columns = hook._reward_functions(trainer, scored)
    assert [list(values) for values in columns["rewards"].values()] == [[1.0, 3.0], pytest.approx([2.0, math.nan], nan_ok=True)]
    assert columns["reward_weights"] == {"judge#0": 1.0, "judge#1": 0.5}


def test_a_trainer_is_known_by_its_class_and_not_by_its_methods():
    assert hook.estimator_of(RLOOTrainer(beta=0.0, normalize_advantages=False))["name"] == "rloo"
    assert hook.estimator_of(type("Mine", (GRPOTrainer,), {})(scale_rewards="group"))["name"] == "grpo"
    with pytest.raises(ValueError, match="normalize_advantages=True"):
        hook.estimator_of(RLOOTrainer(beta=0.0, normalize_advantages=True))
    with pytest.raises(ValueError, match="what Other computes is not known; state its `estimator`"):
        hook.estimator_of(type("Other", (SimpleNamespace,), {})(scale_rewards="group"))


@pytest.mark.parametrize(
    ("version", "missing", "forms"), [("1.16.0", "exclude", "recipe"), ("1.5.1", "zero", None), ("0.24.0", "zero", None)]
)
def test_the_version_decides_what_a_missing_reward_is_and_whether_the_form_is_known(monkeypatch, version, missing, forms):
    monkeypatch.setattr(hook, "version_of", lambda package: version)
    stated = hook.estimator_of(GRPOTrainer(scale_rewards="group"))
    assert (stated["missing"], stated.get("forms")) == (missing, forms)
