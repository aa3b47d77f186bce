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


def test_every_advantage_of_a_training_is_captured_and_exact(folder, into, verify, trained):
    names = ["decimal", "weights", "none", "batch", "gdpo", "unscorable", "evaluated"]
    for name in names:
        into(name)
        trained(name)
        assert hook.capture.close()
        steps = [json.loads(line)["step"] for line in (folder / name / "metrics.jsonl").read_text().splitlines()]
        assert set(steps) == {1, 2, 3}, name
    _, reports = verify(folder)
    assert [(Path(report["file"]).parent.name, report["name"]) for report in reports] == [
        (name, f"step {number}") for name in sorted(names) for number in (1, 2, 3)
    ]
    assert all(report["ok"] and report["exact"] + report["rounding"] == 16 for report in reports)


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
    gaps = read_lines(folder / "gaps.jsonl")
    assert [gap["step"] for gap in gaps] == [1, 2, 3]
    assert gaps[0]["reason"] == "the trainer is not the version that this hook knows: KeyError: 'unknown'"
    assert not list(folder.glob("step-*"))
