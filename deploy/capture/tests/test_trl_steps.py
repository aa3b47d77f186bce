# needs: trl
"""Captured optimizer steps of real trainings on the CPU: TRL's GRPOTrainer."""

from __future__ import annotations

from pathlib import Path

import pytest

import echelon_capture
from echelon_capture import trl_steps
from steps_support import by_case, identified, verified

pytest.importorskip("trl")

GOLDEN = Path(__file__).parents[3] / "scripts" / "golden"
# Rows that fall out of reward make the lengths of micro-batches unequal.
SMALL = dict(per_device_train_batch_size=4, gradient_accumulation_steps=4, num_generations=4, learning_rate=1e-2)
# More than the three passes over one generation.
STEPS = 4
RUNS = {
    "dapo": dict(),
    "dapo in two windows": dict(steps_per_generation=8),
    "grpo with KL": dict(loss_type="grpo", beta=0.04),
    "bnpo without bias correction": dict(loss_type="bnpo", beta=0.04, use_bias_correction_kl=False),
    "dr_grpo, three passes": dict(loss_type="dr_grpo", num_iterations=3),
    "cispo, three passes": dict(loss_type="cispo", epsilon_high=1.28, num_iterations=3),
    "sapo, three passes": dict(loss_type="sapo", num_iterations=3),
    "sequence ratios, three passes": dict(loss_type="grpo", importance_sampling_level="sequence", num_iterations=3),
}


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Trains one run of scripts/golden/trl_run.py; returns the weights."""
    monkeypatch.syspath_prepend(str(GOLDEN))
    monkeypatch.chdir(tmp_path)
    import trl_run

    own, make = trl_run.GRPOTrainer.train, trl_run.model

    def saved():
        """The reference policy is loaded by the name of the model."""
        made = make()
        made.save_pretrained("model")
        return type(made).from_pretrained("model")

    monkeypatch.setattr(trl_run, "model", saved)

    def run(config, before=lambda trainer: None):
        trained = []

        def prepared(trainer):
            before(trainer)
            own(trainer)
            trained.append({name: value.clone() for name, value in trainer.model.state_dict().items()})

        monkeypatch.setattr(trl_run.GRPOTrainer, "train", prepared)
        trl_run.train("decimal", dict(rewards=[trl_run.decimal], config={**SMALL, "max_steps": STEPS, **config}))
        assert echelon_capture.close()
        return trained[0]

    return run


def test_every_token_of_a_training_is_verified(folder, into, train):
    for name, config in RUNS.items():
        into(name)
        train(config, lambda trainer: trl_steps.follow_steps(trainer, every=1, profile="full"))
    status, found = by_case(folder)
    assert set(found) == set(RUNS)
    for name, reports in found.items():
        assert [report["name"] for report in reports] == [f"update {number}" for number in range(1, STEPS + 1)]
        for report in reports:
            assert report["ok"], (name, report)
    assert status == 0


@pytest.mark.parametrize("name", ["dapo in two windows", "bnpo without bias correction", "sequence ratios, three passes"])
def test_a_followed_training_has_the_same_bits(folder, train, name):
    alone = train(RUNS[name])
    followed = train(RUNS[name], lambda trainer: trl_steps.follow_steps(trainer, every=1, profile="full"))
    assert all((value == followed[key]).all() for key, value in alone.items())


def per_micro_batch(trainer):
    """As if the tokens of the micro-batch, not of the step, were the denominator."""
    own = trainer._compute_loss

    def faulty(model, inputs):
        return own(model, {**inputs, "num_items_in_batch": inputs["completion_mask"].sum()})

    trainer._compute_loss = faulty


def lower_clip(trainer):
    """As if the setting `epsilon_high` were not used."""
    own = trainer._compute_loss

    def faulty(model, inputs):
        trainer.epsilon_high, stated = 0.01, trainer.epsilon_high
        try:
            return own(model, inputs)
        finally:
            trainer.epsilon_high = stated

    trainer._compute_loss = faulty


def reference_without_gradient(trainer):
    """As if the KL term were computed with a copy of the log-probs: here its reference is the policy itself."""
    own = trainer._compute_loss

    def faulty(model, inputs):
        beta, trainer.beta = trainer.beta, 0.0
        try:
            return own(model, inputs)
        finally:
            trainer.beta = beta

    trainer._compute_loss = faulty


PLANTED = {
    per_micro_batch: ({}, "token-mean per micro-batch; you said token-mean"),
    lower_clip: ({"epsilon_high": 0.28, "num_iterations": 3}, "the gradient stops above 1 between"),
    reference_without_gradient: ({"loss_type": "grpo", "beta": 0.5}, "the KL term has no gradient"),
}


def test_a_planted_bug_of_a_training_is_found_and_named(folder, into, train):
    for fault, (config, _) in PLANTED.items():

        def planted(trainer):
            fault(trainer)
            trl_steps.follow_steps(trainer, every=1)

        into(fault.__name__)
        train(config, planted)
    status, found = by_case(folder)
    assert status == 1
    for fault, (_, named) in PLANTED.items():
        reports = found[fault.__name__]
        wrong = [one for one in reports if any(stage["stage"] == "gradient" and stage["wrong"] for stage in one["stages"])]
        assert wrong, fault.__name__
        assert named in identified(wrong[-1]["file"])


def test_other_steps_have_their_layout_and_no_tokens(folder, train):
    train({"max_steps": 6}, lambda trainer: trl_steps.follow_steps(trainer, every=4))
    names = sorted(path.name for path in folder.glob("*.pb"))
    assert names == [*(f"layout-{number:06d}.pb" for number in (2, 3, 4, 6)), "update-000001.pb", "update-000005.pb"]
    status, reports = verified(*sorted(folder.glob("layout-*.pb")))
    denominators = [stage for report in reports for stage in report["stages"] if stage["stage"] == "denominator"]
    assert status == 3
    assert [(stage["exact"], stage["wrong"]) for stage in denominators] == [(4, 0)] * 4


def test_a_setting_that_cannot_be_verified_is_a_gap_with_the_reason(folder, train, read_lines):
    train({"top_entropy_quantile": 0.5}, lambda trainer: trl_steps.follow_steps(trainer))
    gaps = read_lines(folder / "gaps.jsonl")
    assert len(gaps) == STEPS
    assert "top_entropy_quantile=0.5" in gaps[0]["reason"]
