# needs: verl-agent
"""Captured optimizer steps of verl-agent's own actor on the CPU. VERL_AGENT_HOME: a checkout of it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import pytest

import echelon_capture
from echelon_capture import verl_agent_steps
from steps_support import identified, verified

HOME = os.environ.get("VERL_AGENT_HOME", "")
STANDINS = Path(__file__).parents[3] / "scripts" / "verl-agent-on-cpu"
CONFIG = dict(
    use_remove_padding=False, use_fused_kernels=False, ulysses_sequence_parallel_size=1, use_torch_compile=False, grad_clip=1.0,
    use_dynamic_bsz=False, ppo_mini_batch_size=8, ppo_micro_batch_size_per_gpu=2, ppo_max_token_len_per_gpu=24, ppo_epochs=3,
    clip_ratio=0.2, clip_ratio_low=0.2, clip_ratio_high=0.28, clip_ratio_c=3.0, entropy_coeff=0.0, loss_agg_mode="token-mean",
    policy_loss=dict(loss_mode="vanilla"), use_kl_loss=True, kl_loss_coef=0.05, kl_loss_type="low_var_kl",
)  # fmt: skip
RUNS = {
    "token mean": {},
    "sequence mean, k2": dict(loss_agg_mode="seq-mean-token-mean", kl_loss_type="k2"),
    "sums over the width": dict(loss_agg_mode="seq-mean-token-sum-norm", kl_loss_type="k1"),
    "dynamic size": dict(use_dynamic_bsz=True),
    "gspo": dict(policy_loss=dict(loss_mode="gspo")),
    "no KL": dict(use_kl_loss=False),
}


def load_actor():
    """verl-agent's module of the actor."""
    sys.path.insert(0, HOME)
    spec = importlib.util.spec_from_file_location("standins", STANDINS / "sitecustomize.py")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    from verl.workers.actor import dp_actor

    return dp_actor


@pytest.fixture(scope="module")
def actor_module():
    """See `load_actor`."""
    if not HOME:
        pytest.skip("VERL_AGENT_HOME is not set")
    return load_actor()


@pytest.fixture
def train(actor_module, monkeypatch):
    """Two updates of a batch of 16 rows with six optimizer steps each; returns the weights. `follow`: with the hook."""
    names = ("compute_policy_loss", "compute_policy_loss_gspo", "kl_penalty")
    for owner, name in (*((actor_module, one) for one in names), (actor_module.DataParallelPPOActor, "_optimizer_step"),
                        (actor_module.DataParallelPPOActor, "_forward_micro_batch")):  # fmt: skip
        monkeypatch.setattr(owner, name, getattr(owner, name))

    def run(changes, follow=False):
        monkeypatch.delattr(actor_module, verl_agent_steps._MARK, raising=False)
        if follow:
            verl_agent_steps.follow_steps(every=1, profile="full")
        return updates(actor_module, changes)

    return run


def updates(actor_module, changes, number=2):
    """The weights after some updates of verl-agent's actor."""
    import torch
    from omegaconf import OmegaConf
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(7)
    size = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2)
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=32, max_position_embeddings=64, **size))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    actor = actor_module.DataParallelPPOActor(OmegaConf.create({**CONFIG, **changes}), model, optimizer)
    for _ in range(number):
        actor.update_policy(batch_of(actor))
    assert echelon_capture.close()
    return [value.clone() for value in model.state_dict().values()]


def batch_of(actor):
    """Rows of 4 prompt tokens and 2 to 6 of a response, with the actor's own old log-probs."""
    import torch
    from verl import DataProto

    lengths = torch.randint(2, 7, (16,))
    mask = (torch.arange(10)[None, :] < 4 + lengths[:, None]).long()
    ids = torch.randint(3, 32, (16, 10)) * mask
    tensors = dict(
        input_ids=ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0), responses=ids[:, 4:],
        advantages=torch.randn(16, 1) * mask[:, 4:],
    )  # fmt: skip
    facts = {"temperature": 1.0, "micro_batch_size": 4, "use_dynamic_bsz": False}
    data = DataProto.from_dict(tensors=tensors, meta_info=facts)
    data.batch["old_log_probs"], _ = actor.compute_log_prob(data)
    data.batch["ref_log_prob"] = data.batch["old_log_probs"] + 0.1 * torch.randn(16, 6)
    return data


@pytest.mark.parametrize("name", RUNS)
def test_every_token_of_an_update_is_verified_and_the_update_has_the_same_bits(folder, train, name):
    alone = train(RUNS[name])
    followed = train(RUNS[name], follow=True)
    assert all((one == other).all() for one, other in zip(alone, followed))
    status, reports = verified(folder)
    assert len(reports) == 12
    for report in reports:
        assert report["ok"], report
    assert status == 0


def rows_first(loss_mat, loss_mask, loss_agg_mode):
    """The mean of the rows' means, whatever is configured."""
    return ((loss_mat * loss_mask).sum(-1) / loss_mask.sum(-1)).mean()


def test_a_planted_bug_of_an_update_is_found_and_named(folder, train, monkeypatch):
    from verl.trainer.ppo import core_algos

    monkeypatch.setattr(core_algos, "agg_loss", rows_first)
    train(dict(use_kl_loss=False), follow=True)
    status, reports = verified(folder)
    assert status == 1
    named = "seq-mean-token-mean over all ranks and micro-batches; you said token-mean per micro-batch"
    assert named in identified(reports[-1]["file"])


@pytest.mark.parametrize("is_faulty", [False, True])
def test_an_update_in_a_ray_process_that_imports_the_library_is_verified_or_its_bug_is_found(folder, is_faulty):
    if not HOME:
        pytest.skip("VERL_AGENT_HOME is not set")
    ray = pytest.importorskip("ray")

    def updated():
        """In a process of Ray: verl-agent imports the external library before it makes the actor."""
        from test_verl_agent_steps import load_actor, rows_first, updates

        module = load_actor()
        importlib.import_module("echelon_capture.external_lib")
        if is_faulty:
            importlib.import_module("verl.trainer.ppo.core_algos").agg_loss = rows_first
        updates(module, dict(use_kl_loss=False), number=1)

    variables = {
        "ECHELON_STEPS_EVERY": "1", "ECHELON_CAPTURE_DIR": str(folder), "VERL_AGENT_HOME": HOME,
        "PYTHONPATH": os.pathsep.join(str(path) for path in (Path(__file__).parent, Path(__file__).parents[1])),
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="r-", dir="/tmp") as directory:  # short: Ray puts sockets below it
        ray.init(
            address="local", num_cpus=1, include_dashboard=False, _node_ip_address="127.0.0.1", _temp_dir=directory,
            runtime_env={"env_vars": variables},
        )  # fmt: skip
        try:
            ray.get(ray.remote(updated).remote())
        finally:
            ray.shutdown()
    status, reports = verified(folder)
    assert len(reports) == 6 and status == (1 if is_faulty else 0)
    assert all(report["ok"] is not is_faulty for report in reports)
    if is_faulty:
        assert "seq-mean-token-mean over all ranks and micro-batches" in identified(reports[-1]["file"])
