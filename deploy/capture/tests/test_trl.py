"""The hook for TRL, with TRL's own GRPOTrainer if TRL is installed."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from echelon_capture import trl as hook

GOLDEN = Path(__file__).parents[3] / "scripts" / "golden"


@pytest.mark.parametrize(
    ("scale", "changes"),
    [
        ("group", {"epsilon": 1e-4}), (True, {"epsilon": 1e-4}), ("batch", {"epsilon": 1e-4, "deviation_over": "batch"}),
        ("none", {"normalize_by_std": False}), (False, {"normalize_by_std": False}),
    ],
)  # fmt: skip
def test_the_estimator_follows_the_settings(scale, changes):
    stated = hook.estimator_of(SimpleNamespace(scale_rewards=scale))
    assert stated == {"name": "grpo", "singleton": "zero", "missing": "exclude", **changes}


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Trains one run of scripts/golden/trl_run.py with the hook."""
    pytest.importorskip("trl")
    monkeypatch.syspath_prepend(str(GOLDEN))
    sys.modules.pop("trl_run", None)
    import trl_run

    train = trl_run.GRPOTrainer.train

    def followed(trainer):
        hook.follow(trainer)
        train(trainer)

    monkeypatch.setattr(trl_run.GRPOTrainer, "train", followed)
    monkeypatch.chdir(tmp_path)
    return lambda name: trl_run.train(name, trl_run.RUNS[name])


def test_several_rewards_are_the_estimator_gdpo():
    stated = hook.estimator_of(SimpleNamespace(multi_objective_aggregation="normalize_then_sum"))
    assert stated == {"name": "gdpo", "missing": "exclude"}


def test_an_unknown_aggregation_is_refused():
    with pytest.raises(ValueError, match="multi_objective_aggregation='other'"):
        hook.estimator_of(SimpleNamespace(multi_objective_aggregation="other"))


def test_functions_of_one_name_keep_their_columns_apart():
    scored = np.array([[1.0, 2.0], [3.0, math.nan]])
    trainer = SimpleNamespace(reward_func_names=["judge", "judge"], reward_weights=np.array([1.0, 0.5]))
    columns = hook._reward_functions(trainer, scored)
    assert [list(values) for values in columns["rewards"].values()] == [[1.0, 3.0], pytest.approx([2.0, math.nan], nan_ok=True)]
    assert columns["reward_weights"] == {"judge#0": 1.0, "judge#1": 0.5}


@pytest.mark.parametrize("name", ["decimal", "weights", "none", "batch", "gdpo", "unscorable", "evaluated"])
def test_every_advantage_of_a_training_is_captured_and_exact(folder, verify, trained, name):
    trained(name)
    assert hook.capture.close()
    _, reports = verify(folder)
    assert [report["name"] for report in reports] == ["step 1", "step 2", "step 3"]
    assert all(report["ok"] and report["exact"] + report["rounding"] == 16 for report in reports)
    steps = [json.loads(line)["step"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert set(steps) == {1, 2, 3}


def test_a_training_that_is_not_verifiable_is_all_gaps(folder, trained, read_lines, monkeypatch):
    monkeypatch.setattr(hook, "estimator_of", lambda trainer: {}["unknown"])
    trained("decimal")
    hook.capture.close()
    assert [gap["step"] for gap in read_lines(folder / "gaps.jsonl")] == [1, 2, 3]
    assert not list(folder.glob("step-*"))
