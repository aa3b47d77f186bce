# needs: swift
"""Captured optimizer steps of ms-swift: its own loss of GRPOTrainer on the CPU.

The trainer is made without its start, which needs a model of its hub, and the test does what the loop of transformers' Trainer does:
it divides the loss by the accumulation steps, updates the weights and calls the callbacks.
"""

from __future__ import annotations

import types

import pytest

import echelon_capture
from echelon_capture import swift_steps
from steps_support import by_case, identified, verified

ROWS, PROMPT, WIDTH, WINDOW, STEPS = 4, 3, 7, 3, 4
SETTINGS = dict(
    loss_type="dapo", importance_sampling_level="token", epsilon_low=0.2, epsilon_high=0.28, beta=0.0, kl_in_reward=False,
    overlong_filter=False, top_entropy_quantile=1.0, compute_entropy=True, off_policy_sequence_mask_delta=None, sdar_loss_coef=0,
    rollout_importance_sampling_mode=None, rollout_importance_sampling_threshold=2.0, log_rollout_offpolicy_metrics=False,
    disable_rollout_importance_sampling=False, tau_pos=1.0, tau_neg=1.05, max_completion_length=WIDTH, _has_teacher=False,
    dynamic_num_samples=False, use_liger_loss=False, chord_sft_iterator=None, model_accepts_loss_kwargs=False, compute_loss_func=None,
    current_gradient_accumulation_steps=WINDOW, temperature=0.9, model_kwarg_keys=(), delta=None,
)  # fmt: skip
RUNS = {
    "dapo": {},
    "dapo, truncated rows filtered": dict(overlong_filter=True),
    "dapo, two-sided": dict(delta=1.1),
    "grpo with KL": dict(loss_type="grpo", beta=0.05),
    "bnpo": dict(loss_type="bnpo"),
    "dr_grpo with KL": dict(loss_type="dr_grpo", beta=0.05),
    "cispo": dict(loss_type="cispo", epsilon_high=1.28),
    "sapo": dict(loss_type="sapo"),
    "sequence ratios": dict(loss_type="grpo", importance_sampling_level="sequence"),
    "sequence ratios with their gradient at each token": dict(loss_type="grpo", importance_sampling_level="sequence_token"),
    "truncated weights with KL": dict(rollout_importance_sampling_mode="token_truncate", rollout_importance_sampling_threshold=1.1, beta=0.05),
    "masked weights": dict(rollout_importance_sampling_mode="token_mask", rollout_importance_sampling_threshold=1.1),
    "truncated weights of rows": dict(rollout_importance_sampling_mode="sequence_truncate", rollout_importance_sampling_threshold=1.02),
}  # fmt: skip


@pytest.fixture
def train(monkeypatch):
    """Trains ms-swift's loss for a few steps; returns the weights. `before`: gets the trainer."""
    trainers = pytest.importorskip("swift.rlhf_trainers")
    import torch

    monkeypatch.setattr("swift.rlhf_trainers.grpo_trainer.gather", lambda value: value)
    monkeypatch.setattr("swift.rlhf_trainers.grpo_trainer.gather_object", lambda value: value)

    def run(changes, before=lambda trainer: None):
        torch.manual_seed(11)
        trainer = trainer_of(trainers.GRPOTrainer, {**SETTINGS, **changes})
        before(trainer)
        optimizer = torch.optim.SGD(trainer.model.parameters(), lr=0.5)
        for step in range(STEPS):
            # Two steps take the same rollouts, so that ratios are not 1.
            batches = batches_of(trainer) if step % 2 == 0 else batches
            for inputs, batch in batches:
                loss, metrics = trainer._compute_loss_and_metrics(trainer.model, dict(inputs), batch)
                trainer._update_metrics(metrics)
                (loss / WINDOW).backward()
            optimizer.step()
            optimizer.zero_grad()
            trainer.state.global_step = step + 1
            for callback in trainer.callbacks:
                callback.on_step_end(trainer.args, trainer.state, None)
        assert echelon_capture.close()
        return [value.clone() for value in trainer.model.parameters()]

    return run


def trainer_of(kind, settings):
    """A GRPOTrainer of one process with these settings and a small model."""
    import collections

    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = torch.nn.Embedding(12, 6), torch.nn.Linear(6, 12)

        def forward(self, input_ids):
            return types.SimpleNamespace(logits=self.head(torch.tanh(self.embedding(input_ids).cumsum(1))))

    own = object.__new__(kind)
    args = dict(delta=settings["delta"], log_entropy=False, steps_per_generation=WINDOW, gradient_accumulation_steps=WINDOW,
                per_device_train_batch_size=ROWS, top_entropy_quantile=1.0, report_to=[])  # fmt: skip
    gathered = lambda value: value if value.dim() > 0 else value.reshape(1)
    accelerator = types.SimpleNamespace(num_processes=1, gather_for_metrics=gathered, scaler=None, is_main_process=False)
    template = types.SimpleNamespace(padding_free=False, sequence_parallel_size=1)
    more = dict(model=Model().train(), args=types.SimpleNamespace(**args), accelerator=accelerator, template=template, callbacks=[],
                state=types.SimpleNamespace(global_step=0), _metrics=collections.defaultdict(lambda: collections.defaultdict(list)))  # fmt: skip
    for name, value in {**settings, **more}.items():
        own.__dict__[name] = value
    own.add_callback = own.callbacks.append
    return own


def batches_of(trainer):
    """The micro-batches of one window, with log-probs of the policy as it is now."""
    import torch
    from swift.rl_core.data import GRPOBatch

    batches = []
    for _ in range(WINDOW):
        ids = torch.randint(0, 12, (ROWS, PROMPT + WIDTH))
        lengths = torch.randint(2, WIDTH + 1, (ROWS,))
        mask = torch.arange(WIDTH)[None, :] < lengths[:, None]
        batch = GRPOBatch(completion_mask=mask, truncated_mask=lengths == WIDTH, seq_lengths=lengths, logits_to_keep=WIDTH)
        with torch.no_grad():
            old, _ = trainer._get_per_token_logps_and_entropies(trainer.model, {"input_ids": ids}, batch)
        batch.old_per_token_logps = old
        batch.ref_per_token_logps = old + 0.2 * torch.randn(old.shape)
        if trainer.rollout_importance_sampling_mode:
            batch.rollout_per_token_logps = old + 0.1 * torch.randn(old.shape)
        batch.advantages = torch.randn(ROWS, 1).expand(ROWS, WIDTH).clone()
        batches.append(({"input_ids": ids}, batch))
    tokens = sum(batch.completion_mask.sum() for _, batch in batches)
    for _, batch in batches:
        batch.num_items_in_batch = tokens
    return batches


def test_every_token_is_verified_and_the_training_has_the_same_bits(folder, into, train):
    for name, changes in RUNS.items():
        into(name)
        alone = train(changes)
        followed = train(changes, lambda trainer: swift_steps.follow_steps(trainer, every=1, profile="full"))
        assert all((one == other).all() for one, other in zip(alone, followed, strict=True)), name
    status, found = by_case(folder)
    assert set(found) == set(RUNS)
    for name, reports in found.items():
        assert len(reports) == STEPS
        for report in reports:
            assert report["ok"] or only_rows_of_weights(report), (name, report)
    assert status == 0


def only_rows_of_weights(report):
    """A weight of a row is taken as the trainer had it, and its own stage is unverifiable."""
    return report["consistent"] and [one["stage"] for one in report["stages"] if one["unverifiable"]] == ["weight"]


def test_a_loss_that_is_divided_by_the_accumulation_steps_once_more_is_found_and_named(folder, train):
    def faulty(trainer):
        swift_steps.follow_steps(trainer, every=1)
        # As ms-swift was before it undid the division of transformers' Trainer.
        trainer._undo_gradient_accumulation_scaling = lambda loss: loss

    train({}, faulty)
    status, reports = verified(folder)
    assert status == 1
    assert f"an extra factor ÷ {WINDOW} (micro-batches of a rank)" in identified(reports[-1]["file"])


def test_a_setting_that_cannot_be_verified_is_a_gap(folder, train, capsys):
    train(dict(loss_type="real", num_generations=2, real_tau=0.5), lambda trainer: swift_steps.follow_steps(trainer, every=1))
    assert "not verifiable: loss_type='real' with token ratios" in capsys.readouterr().err
    assert not list(folder.glob("*.pb"))
