# needs: verl
"""Captured optimizer steps of verl's own engine on the CPU: its forward and backward passes, losses and updates,
without the sharding of FSDP."""

from __future__ import annotations

import functools

import pytest

import echelon_capture
from echelon_capture import verl_steps
from steps_support import by_case, identified, verified
from verl_support import batch_of, config_of, engine_of, model_of

RUNS = {
    "token mean": {},
    "sequence mean with KL": dict(loss_agg_mode="seq-mean-token-mean", use_kl_loss=True, kl_loss_type="low_var_kl", kl_loss_coef=0.05),
    "sequence sum, k3+": dict(loss_agg_mode="seq-mean-token-sum", use_kl_loss=True, kl_loss_type="k3+", kl_loss_coef=0.05),
    "sums over the width, cispo": dict(loss_agg_mode="seq-mean-token-sum-norm", loss_mode="cispo"),
    "gspo with entropy": dict(loss_mode="gspo", entropy_coeff=0.01),
    "rollout weights": dict(weights=True),
}


@pytest.fixture(scope="module")
def workers():
    """verl's module of the training worker, with one process of gloo."""
    pytest.importorskip("verl.workers.engine_workers")
    import torch
    from verl.workers import engine_workers
    from verl.workers.engine.fsdp import transformer_impl

    torch.distributed.init_process_group("gloo", init_method="tcp://127.0.0.1:29791", rank=0, world_size=1)
    transformer_impl.get_device_id = lambda: "cpu"
    yield engine_workers
    torch.distributed.destroy_process_group()


@pytest.fixture
def train(workers, monkeypatch):
    """Six updates of three passes over two batches; returns the weights. `follow`: with the hook."""
    import torch
    from verl.workers.utils import losses

    followed = ((losses, "get_policy_loss_fn"), (losses, "kl_penalty"), (workers.TrainingWorker, "set_loss_fn"))

    def run(changes, follow=False):
        own = dict(changes)
        weighted, mode = own.pop("weights", False), own.pop("loss_mode", "vanilla")
        with monkeypatch.context() as patched:
            for owner, name in followed:
                patched.setattr(owner, name, getattr(owner, name))
            patched.delattr(losses, verl_steps._MARK, raising=False)
            if follow:
                verl_steps.follow_steps(every=1, profile="full")
            torch.manual_seed(7)
            model = model_of()
            worker = object.__new__(workers.TrainingWorker)
            worker.engine = engine_of(model)
            worker.set_loss_fn(functools.partial(losses.ppo_loss, config=config_of(mode, **own)))
            for _ in range(2):
                data = batch_of(model, weighted)
                for _ in range(3):
                    worker.engine.train_batch(data.clone(), worker.loss_fn)
        # Otherwise the next test that follows in this process finds the mark without the hook.
        vars(losses).pop(verl_steps._MARK, None)
        assert echelon_capture.close()
        return [value.clone() for value in model.state_dict().values()]

    return run


def test_every_token_of_an_update_is_verified_and_the_update_has_the_same_bits(folder, into, train):
    for name, changes in RUNS.items():
        into(name)
        alone = train(changes)
        followed = train(changes, follow=True)
        assert all((one == other).all() for one, other in zip(alone, followed, strict=True)), name
    _, found = by_case(folder)
    assert set(found) == set(RUNS)
    for name, reports in found.items():
        assert len(reports) == 6
        for report in reports:
            gradient = next(stage for stage in report["stages"] if stage["stage"] == "gradient")
            assert report["consistent"], (name, report)
            assert (gradient["wrong"], gradient["unverifiable"]) == (0, 0), (name, report)


def test_a_planted_bug_of_an_update_is_found_and_named(folder, train, monkeypatch):
    from verl.trainer.ppo import core_algos

    own = core_algos.agg_loss

    def of_micro_batch(loss_mat, loss_mask, loss_agg_mode, batch_num_tokens=None, **info):
        return own(loss_mat, loss_mask, loss_agg_mode, **info)

    monkeypatch.setattr(core_algos, "agg_loss", of_micro_batch)
    train({}, follow=True)
    status, reports = verified(folder)
    assert status == 1
    assert "token-mean per micro-batch; you said token-mean over all ranks" in identified(reports[-1]["file"])
