# needs: trl
"""The callback that verifies a training while it runs, in trainings of TRL on the CPU."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

trl = pytest.importorskip("trl")
from echelon_verify.trainer import AdvantageCallback  # noqa: E402

GOLDEN = Path(__file__).parents[3] / "scripts" / "golden"


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Trains two steps with the callback and what is planted before it; returns trainer and callback."""
    monkeypatch.syspath_prepend(str(GOLDEN))
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("trl_run", None)
    import trl_run

    originals = {}

    def run(plant=lambda trainer: None, kind=None, config={}, **options):
        made = {}
        trainer_class = kind or trl_run.GRPOTrainer
        own = originals.setdefault(trainer_class, trainer_class.train)

        def followed(trainer):
            plant(trainer)
            callback = AdvantageCallback(trainer, **options)
            trainer.add_callback(callback)
            made.update(trainer=trainer, callback=callback)
            own(trainer)

        monkeypatch.setattr(trainer_class, "train", followed)
        if kind is not None:
            monkeypatch.setattr(trl_run, "GRPOTrainer", kind)
            monkeypatch.setattr(trl_run, "GRPOConfig", trl.RLOOConfig)
        trl_run.train("run", dict(rewards=[trl_run.decimal], config={"max_steps": 2, **config}))
        return made["trainer"], made["callback"]

    return run


def rolled_after_generation(trainer):
    own = trainer._prepare_inputs

    def faulty(inputs):
        result = own(inputs)
        return {**result, "advantages": result["advantages"].roll(1)}

    trainer._prepare_inputs = faulty


def test_a_right_training_is_verified_to_its_end(train, caplog):
    trainer, callback = train()
    assert (trainer.state.global_step, callback.verifier.rows, callback.verifier.rows_wrong) == (2, 32, 0)
    assert (callback.verifier.gaps, callback.received_wrong) == ([], 0)
    assert "Loss, denominators and gradients are not" in caplog.text


def over_the_batch(trainer):
    """A mean and deviation of all rows in the place of those of each group."""
    own = trainer._generate_and_score_completions
    rewards = []
    calculate = trainer._calculate_rewards
    trainer._calculate_rewards = lambda *given: rewards.append(calculate(*given)) or rewards[-1]

    def mine(inputs):
        result = own(inputs)
        scores = rewards[-1].nansum(dim=1)
        return {**result, "advantages": (scores - scores.mean()) / (scores.std() + 1e-4)}

    trainer._generate_and_score_completions = mine


def test_advantages_over_the_whole_batch_are_named_as_such(train, caplog):
    trainer, callback = train(over_the_batch)
    assert trainer.state.global_step == 1
    assert "the mean and deviation were taken over the whole batch, not over each group" in callback.report.explanation
    assert callback.report.likely_cause and "over the whole batch" in caplog.text


def test_advantages_that_move_by_a_row_after_the_generation_stop_the_training_and_reach_the_tracker(train, caplog):
    trainer, callback = train(rolled_after_generation)
    assert trainer.state.global_step == 1
    assert callback.received_wrong > 0
    assert callback.verifier.rows_wrong == 0
    logged = [line["echelon/rows_wrong"] for line in trainer.state.log_history if "echelon/rows_wrong" in line]
    assert sum(logged) == callback.received_wrong
    assert "reach the loss with other advantages than the estimated ones" in caplog.text


def test_a_callback_that_only_warns_stops_nothing(train, caplog):
    trainer, callback = train(rolled_after_generation, stop=False)
    assert trainer.state.global_step == 2
    assert callback.received_wrong > 0
    assert "The training continues." in caplog.text


def test_a_healthy_rloo_training_is_verified_as_rloo_and_its_other_settings_are_said_to_be_unverified(train, caplog):
    trainer, callback = train(kind=trl.RLOOTrainer, config=dict(beta=0.0))
    assert (trainer.state.global_step, callback.verifier.rows, callback.verifier.rows_wrong) == (2, 32, 0)
    with caplog.at_level(logging.WARNING):
        trainer, callback = train(kind=trl.RLOOTrainer, config=dict(beta=0.0, normalize_advantages=True))
    assert trainer.state.global_step == 2
    assert len(callback.verifier.gaps) == 2
    assert "The advantages of step 1 are not verified: ValueError: not verifiable: normalize_advantages=True" in caplog.text


def test_a_stated_estimator_is_used_for_a_trainer_of_ones_own(train):
    def halved(trainer):
        own = trainer._generate_and_score_completions

        def mine(inputs):
            result = own(inputs)
            result["advantages"] = result["advantages"] * 0.5
            return result

        trainer._generate_and_score_completions = mine

    trainer, _ = train(halved)
    assert trainer.state.global_step == 1
    none = {"name": "grpo", "normalize_by_std": False, "singleton": "zero", "missing": "exclude"}
    trainer, callback = train(config=dict(scale_rewards="none"), estimator=none)
    assert (trainer.state.global_step, callback.verifier.rows_wrong) == (2, 0)
