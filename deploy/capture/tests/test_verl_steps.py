# needs: verl
"""Captured optimizer steps of verl's own engine on the CPU: its forward and backward passes, losses and updates,
without the sharding of FSDP."""

from __future__ import annotations

import functools

import pytest

import echelon_capture
from echelon_capture import verl_steps
from steps_support import identified, verified

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


def engine_of(model):
    import torch
    from types import SimpleNamespace
    from verl.utils import torch_functional
    from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead

    engine = object.__new__(FSDPEngineWithLMHead)
    engine.module, engine.optimizer = model, torch.optim.AdamW(model.parameters(), lr=1e-2)
    engine.engine_config = SimpleNamespace(entropy_checkpointing=False)
    engine.optimizer_config = SimpleNamespace(clip_grad=1.0)
    engine.ulysses_sequence_parallel_size, engine.use_ulysses_sp, engine._qat_enabled = 1, False, False
    engine.ulysses_device_mesh, engine.pad_to_length, engine._autocast_dtype, engine.scaler = None, False, torch.float32, None
    engine.compute_entropy_from_logits = torch_functional.entropy_from_logits
    engine.get_data_parallel_group, engine.get_data_parallel_size = lambda: None, lambda: 1
    return engine


@pytest.fixture
def train(workers, monkeypatch):
    """Six updates of three passes over two batches; returns the weights. `follow`: with the hook."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM
    from verl.workers.config import ActorConfig
    from verl.workers.config.actor import PolicyLossConfig
    from verl.workers.utils import losses

    for owner, name in ((losses, "get_policy_loss_fn"), (losses, "kl_penalty"), (workers.TrainingWorker, "set_loss_fn")):
        monkeypatch.setattr(owner, name, getattr(owner, name))

    def run(changes, follow=False):
        own = dict(changes)
        weighted, mode = own.pop("weights", False), own.pop("loss_mode", "vanilla")
        monkeypatch.delattr(losses, verl_steps._MARK, raising=False)
        if follow:
            verl_steps.follow_steps(every=1, profile="full")
        torch.manual_seed(7)
        size = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2)
        model = Qwen2ForCausalLM(Qwen2Config(vocab_size=32, max_position_embeddings=64, **size))
        worker = object.__new__(workers.TrainingWorker)
        worker.engine = engine_of(model)
        config = ActorConfig(
            strategy="fsdp", rollout_n=2, ppo_micro_batch_size_per_gpu=2, clip_ratio_low=0.2, clip_ratio_high=0.28,
            policy_loss=PolicyLossConfig(loss_mode=mode), **own,
        )  # fmt: skip
        worker.set_loss_fn(functools.partial(losses.ppo_loss, config=config))
        for _ in range(2):
            data = batch_of(model, weighted)
            for _ in range(3):
                worker.engine.train_batch(data.clone(), worker.loss_fn)
        assert echelon_capture.close()
        return [value.clone() for value in model.state_dict().values()]

    return run


def batch_of(model, weighted):
    """Rows of 4 prompt tokens and 2 to 6 of a response, with the model's own old log-probs."""
    import torch
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu
    from verl.workers.utils.padding import left_right_2_no_padding

    lengths = torch.randint(2, 7, (8,))
    mask = (torch.arange(10)[None, :] < 4 + lengths[:, None]).long()
    ids = torch.randint(3, 32, (8, 10)) * mask
    with torch.no_grad():
        scores = model(input_ids=ids, attention_mask=mask).logits[:, 3:-1].log_softmax(-1)
    old = scores.gather(-1, ids[:, 4:, None])[..., 0]
    tensors = dict(
        input_ids=ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0), prompts=ids[:, :4],
        responses=ids[:, 4:], response_mask=mask[:, 4:], old_log_probs=old, advantages=torch.randn(8, 1) * mask[:, 4:],
        ref_log_prob=old + 0.1 * torch.randn(8, 6),
    )  # fmt: skip
    if weighted:
        tensors["rollout_is_weights"] = torch.rand(8, 6) + 0.5
    data = left_right_2_no_padding(TensorDict(tensors, batch_size=8))
    facts = dict(use_remove_padding=False, use_dynamic_bsz=False, micro_batch_size_per_gpu=2, temperature=1.0, calculate_entropy=True)
    tu.assign_non_tensor(data, global_batch_size=8, **facts)
    return data


@pytest.mark.parametrize("name", RUNS)
def test_every_token_of_an_update_is_verified_and_the_update_has_the_same_bits(folder, train, name):
    alone = train(RUNS[name])
    followed = train(RUNS[name], follow=True)
    assert all((one == other).all() for one, other in zip(alone, followed))
    _, reports = verified(folder)
    assert len(reports) == 6
    for report in reports:
        gradient = next(stage for stage in report["stages"] if stage["stage"] == "gradient")
        assert report["consistent"], report
        assert (gradient["wrong"], gradient["unverifiable"]) == (0, 0), report


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
