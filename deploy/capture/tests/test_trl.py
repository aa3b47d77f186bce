# needs: trl
"""The hook for TRL, with TRL's own GRPOTrainer."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from echelon_capture import trl as hook

pytest.importorskip("trl")

GOLDEN = Path(__file__).parents[3] / "scripts" / "golden"


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Trains one run of scripts/golden/trl_run.py with the hook."""
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


@pytest.mark.parametrize("name", ["decimal", "weights", "none", "batch", "gdpo", "unscorable", "evaluated"])
def test_every_advantage_of_a_training_is_captured_and_exact(folder, verify, trained, name):
    trained(name)
    assert hook.capture.close()
    _, reports = verify(folder)
    assert [report["name"] for report in reports] == ["step 1", "step 2", "step 3"]
    assert all(report["ok"] and report["exact"] + report["rounding"] == 16 for report in reports)
    steps = [json.loads(line)["step"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert set(steps) == {1, 2, 3}


@pytest.mark.parametrize("name", ["decimal", "weights", "batch", "gdpo"])
@pytest.mark.parametrize(
    "fault",
    [lambda advantages, size: advantages * math.sqrt(size / (size - 1)), lambda advantages, size: advantages.flip(0)],
    ids=["population-deviation", "reverse-order"],
)
def test_a_fault_in_the_advantages_of_a_training_is_found_in_each_step(folder, verify, trained, monkeypatch, name, fault):
    import trl_run

    generate = trl_run.GRPOTrainer._generate_and_score_completions

    def faulty(trainer, *arguments, **keywords):
        result = generate(trainer, *arguments, **keywords)
        result["advantages"] = fault(result["advantages"], trainer.num_generations)
        return result

    monkeypatch.setattr(trl_run.GRPOTrainer, "_generate_and_score_completions", faulty)
    trained(name)
    assert hook.capture.close()
    status, reports = verify(folder)
    assert status == 1 and len(reports) == 3
    assert all(report["wrong"] > 0 and not report["ok"] for report in reports)


def test_a_training_that_is_not_verifiable_is_all_gaps(folder, trained, read_lines, monkeypatch):
    monkeypatch.setattr(hook, "estimator_of", lambda trainer: {}["unknown"])
    trained("decimal")
    hook.capture.close()
    assert [gap["step"] for gap in read_lines(folder / "gaps.jsonl")] == [1, 2, 3]
    assert not list(folder.glob("step-*"))
