"""verl's own engine on the CPU, without the sharding of FSDP, and batches for it."""

from __future__ import annotations


def model_of(vocabulary=32):
    from transformers import Qwen2Config, Qwen2ForCausalLM

    size = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2)
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=vocabulary, max_position_embeddings=64, **size))


def config_of(mode="vanilla", **settings):
    from verl.workers.config import ActorConfig
    from verl.workers.config.actor import PolicyLossConfig

    return ActorConfig(
        strategy="fsdp", rollout_n=2, ppo_micro_batch_size_per_gpu=2, clip_ratio_low=0.2, clip_ratio_high=0.28,
        policy_loss=PolicyLossConfig(loss_mode=mode, **({"dro_beta": 0.7} if mode == "dro" else {})), **settings,
    )  # fmt: skip


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
    engine.get_data_parallel_group = lambda: None
    return engine


def batch_of(model, weighted, rows=8, ranks=1, longest=6, drift=0.0, engine=None, tools=False, empty=False):
    """Rows of one of the ranks of 4 prompt tokens and 2 to `longest` of a response, with the model's own old log-probs. `drift`: their
    deviation from it; `engine`: gives the log-probs of the rollout engine from them; `tools`: the second token of
    a response is none of the policy's; `empty`: the first row has no trained token."""
    import torch
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu
    from verl.workers.utils.padding import left_right_2_no_padding

    lengths = torch.randint(2, longest + 1, (rows,))
    mask = (torch.arange(4 + longest)[None, :] < 4 + lengths[:, None]).long()
    ids = torch.randint(3, 32, (rows, 4 + longest)) * mask
    with torch.no_grad():
        scores = model(input_ids=ids, attention_mask=mask).logits[:, 3:-1].log_softmax(-1)
    old = scores.gather(-1, ids[:, 4:, None])[..., 0]
    if drift:
        old = (old + drift * torch.randn_like(old)).clamp(max=-1e-4)
    trained = mask[:, 4:].clone()
    trained[:, 1] *= not tools
    trained[0] *= not empty
    tensors = dict(
        input_ids=ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0), prompts=ids[:, :4],
        responses=ids[:, 4:], response_mask=trained, old_log_probs=old, advantages=torch.randn(rows, 1) * mask[:, 4:],
        ref_log_prob=old + 0.1 * torch.randn(rows, longest),
    )  # fmt: skip
    if weighted:
        tensors["rollout_is_weights"] = torch.rand(rows, longest) + 0.5
    if engine:
        tensors["rollout_log_probs"] = engine((old + 0.01 * torch.randn_like(old)).clamp(max=-1e-4))
    data = left_right_2_no_padding(TensorDict(tensors, batch_size=rows))
    facts = dict(use_remove_padding=False, use_dynamic_bsz=False, micro_batch_size_per_gpu=2, temperature=1.0, calculate_entropy=True)
    tu.assign_non_tensor(data, global_batch_size=rows * ranks, **facts)
    return data
