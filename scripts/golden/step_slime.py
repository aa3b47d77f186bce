"""Optimizer steps computed by slime's own `loss_function` and `policy_loss_function` on the CPU, as echelon-batch/3.

    python scripts/golden/step_slime.py SOURCES FILE

published.py says what SOURCES holds. The log-probs, which slime computes from logits, are the tensors of the step. As Megatron's
schedule does, the loss is divided by the micro-batches before `backward()`; with `calculate_per_token_loss` it is not, and
Megatron divides the gradients by the tokens after all of them.
"""

import itertools
import sys
import types

import torch
import torch.nn.functional as F
from published import load

from step_batches import Step, write

LOSSES = {
    "clip": (dict(name="ppo-clip", clipLow=0.2, clipHigh=0.28), dict(advantage_estimator="grpo")),
    "dual": (dict(name="ppo-clip", clipLow=0.2, clipHigh=0.28, dualClip=3), dict(advantage_estimator="grpo", eps_clip_c=3.0)),
    "cispo": (dict(name="cispo", clipLow=0.2, clipHigh=0.28), dict(advantage_estimator="cispo")),
    "gspo": (dict(name="gspo", clipLow=0.02, clipHigh=0.04), dict(advantage_estimator="gspo", eps_clip=0.02, eps_clip_high=0.04)),
}
KLS = {
    None: None,
    "k1": dict(estimator="k1"),
    "k2": dict(estimator="k2"),
    "k3": dict(estimator="k3"),
    "low_var_kl": dict(estimator="k3", outputClamp=10),
    "unbiased": dict(estimator="k3", outputClamp=10, weight="ratio"),
}
WEIGHTS = {
    None: None,
    "tis": dict(action="truncate", low=0, high=1.4),
    "icepop": dict(action="mask", low=0.7, high=1.4),
}


def functions():
    """slime's functions with a stand-in of Megatron's process groups: one context-parallel rank."""
    seen = {}
    mpu = types.SimpleNamespace(
        get_context_parallel_world_size=lambda: 1, get_data_parallel_world_size=lambda **_: seen["ranks"],
    )
    utils = load(
        "slime", "slime/utils/ppo_utils.py", "compute_approx_kl", "compute_gspo_kl", "compute_policy_loss", "compute_cispo_loss"
    )
    reduce = load("slime", "slime/backends/megatron_utils/cp_utils.py", "get_sum_of_sample_mean", mpu=mpu)
    found = load(
        "slime", "slime/backends/megatron_utils/loss.py", "vanilla_tis_function", "icepop_function", "policy_loss_function",
        "loss_function", F=F, mpu=mpu, all_gather_with_cp=lambda x, *_: x, _maybe_capture_log_probs=lambda *_: None,
        get_rollout_top_p_logprob_kwargs=lambda *_: {}, get_sum_of_sample_mean=reduce["get_sum_of_sample_mean"],
        get_log_probs_and_entropy=lambda *_, **__: (None, dict(log_probs=seen["log_probs"], entropy=seen["entropy"])),
        **{name: utils[name] for name in ("compute_approx_kl", "compute_gspo_kl", "compute_policy_loss", "compute_cispo_loss")},
    )
    found["load_function"] = lambda name: found[name]
    return found, seen


def run(found, seen, at, loss, per_token, kl, weight, dtype, ranks, micro_batches, siblings):
    step = Step(5000 + at, dtype, ranks, micro_batches, masked_row=at % 4 == 0)
    limits = WEIGHTS[weight] or {}
    args = types.SimpleNamespace(**{
        **dict(
            use_rollout_logprobs=False, use_opsm=False, eps_clip=0.2, eps_clip_high=0.28, eps_clip_c=None,
            get_mismatch_metrics=False, use_tis=weight is not None, tis_clip_low=limits.get("low"), tis_clip=limits.get("high"),
            custom_tis_function_path="icepop_function" if weight == "icepop" else None, entropy_coef=0.0, use_kl_loss=kl is not None,
            use_unbiased_kl=kl == "unbiased", kl_loss_type="low_var_kl" if kl == "unbiased" else kl, kl_loss_coef=0.05,
            calculate_per_token_loss=per_token, loss_type="policy_loss", recompute_loss_function=False, allgather_cp=False,
        ),
        **LOSSES[loss][1],
    })  # fmt: skip
    # Rows in turn are of one rollout, if it has siblings; its tokens are its denominator.
    rollout = torch.arange(step.count) // (2 if siblings else 1)
    totals = torch.zeros(step.count).index_add(0, rollout, step.mask.sum(1))[rollout]
    rollouts = int(rollout.max()) + 1
    seen["ranks"] = ranks
    gradient, layout = torch.zeros_like(step.mask), []
    for k, place in enumerate(step.layout):
        own = step.rows_of(k).tolist()
        cut = lambda x: [x[row, : step.lengths[row]] for row in own]
        log_prob = step.log_prob[own].clone().requires_grad_()
        seen["log_probs"] = [log_prob[i, : step.lengths[row]] for i, row in enumerate(own)]
        seen["entropy"] = cut(step.entropy)
        lengths = step.lengths[own].tolist()
        batch = dict(
            advantages=[step.advantage[row].expand(step.lengths[row]) for row in own], log_probs=cut(step.old),
            rollout_log_probs=cut(step.rollout), ref_log_probs=cut(step.reference), loss_masks=cut(step.mask),
            response_lengths=lengths, total_lengths=lengths, unconcat_tokens=None, rollout_mask_sums=totals[own],
        )
        value, _, _ = found["loss_function"](args, batch, micro_batches, rollouts, log_prob)
        passed = value if per_token else value / micro_batches
        passed.backward()
        gradient[own] = log_prob.grad.float()
        layout.append({**place, "gradientScale": 1 if per_token else ranks, "reportedLoss": passed.item()})
    if per_token:
        aggregation = dict(mode="token-sum")
    elif siblings:
        aggregation = dict(mode="prompt-mean")
    else:
        aggregation = dict(mode="seq-mean-token-mean", rowCount=rollouts)
    settings = dict(
        trainer="slime", policyLoss=LOSSES[loss][0], aggregation=aggregation, dataParallelSize=ranks, microBatches=layout,
    )
    columns = []
    if kl:
        settings["kl"] = dict(coefficient=0.05, **KLS[kl])
        columns.append(("referenceLogProb", step.reference))
    if weight:
        settings["rolloutCorrection"] = WEIGHTS[weight]
        columns.append(("rolloutLogProb", step.rollout))
    mode = "per token" if per_token else "per rollout" if siblings else "per sample"
    name = f"{loss} {mode} kl {kl} weight {weight} {ranks}x{micro_batches} {str(dtype)[6:]}"
    return {**step.batch(name, settings, gradient, columns), "group": [f"rollout {one}" for one in rollout.tolist()]}


def main(path):
    found, seen = functions()
    batches, layouts = [], [(1, 1), (1, 3), (2, 2)]
    for at, (loss, turn, layout) in enumerate(itertools.product(LOSSES, range(6), layouts)):
        kl, weight = list(KLS)[(at + at // 6) % 6], list(WEIGHTS)[(at // 2) % 3]
        if loss == "gspo":
            # One ratio per row with weights per token, and a KL term times it, have two forms of the gradient.
            kl, weight = (None if kl == "unbiased" else kl), None
        dtype = torch.bfloat16 if at % 4 == 3 else torch.float32
        batches.append(run(found, seen, at, loss, turn % 3 == 1, kl, weight, dtype, *layout, siblings=turn % 3 == 2))
    write(path, batches)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[2])
