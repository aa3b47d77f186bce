"""Optimizer steps computed by SkyRL's own policy losses and loss reductions on the CPU, as echelon-batch/3.

    python scripts/golden/step_skyrl.py CHECKOUT FILE

CHECKOUT is a work tree of SkyRL; only its ppo_utils.py, off_policy_correction_utils.py and torch_utils.py are run, with torch, ray, omegaconf,
jaxtyping and loguru. As its trainer does, the advantages are divided by the denominator first, and the loss is multiplied by the ranks.
"""

import os
import sys
import types

import torch

from step_batches import WIDTH, Step, write

CLIP = dict(clipLow=0.2, clipHigh=0.28)
LOSSES = {
    "regular": dict(name="ppo-clip", logRatioClamp=20, **CLIP),
    "dual_clip": dict(name="ppo-clip", logRatioClamp=20, dualClip=3, **CLIP),
    "gspo": dict(name="gspo", **CLIP),
    "cispo": dict(name="cispo", clipLow=0.5, clipHigh=0.7, logRatioClamp=20),
    "sapo": dict(name="sapo", tauPositive=1, tauNegative=1.05, logRatioClamp=20),
    "cross_entropy": dict(name="cross-entropy"),
}
REDUCTIONS = {
    "token_mean": dict(mode="token-mean", scope="global"),
    "token_mean_legacy": dict(mode="token-mean", scope="micro-batch"),
    "sequence_mean": dict(mode="seq-mean-token-mean", scope="global"),
    "seq_mean_token_sum_norm": dict(mode="seq-mean-token-sum-norm", scope="global", scaleFactor=40),
    "prompt_mean": dict(mode="prompt-mean", scope="global"),
}


def load(checkout):
    sys.path.insert(0, checkout)
    for name in ("skyrl", "skyrl.backends", "skyrl.backends.skyrl_train", "skyrl.backends.skyrl_train.utils"):
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(checkout, *name.split("."))]
        sys.modules[name] = package
    config = types.ModuleType("skyrl.train.config")
    config.AlgorithmConfig = type("AlgorithmConfig", (), {})
    sys.modules["skyrl.train"] = types.ModuleType("skyrl.train")
    sys.modules["skyrl.train.config"] = config
    from skyrl.backends.skyrl_train.utils import ppo_utils

    return ppo_utils


def config_of(loss, reduction, tis):
    correction = types.SimpleNamespace(
        tis_ratio_type=tis, token_tis_ratio_clip_high=1.4, sequence_tis_ratio_clip_high=1.4,
        sequence_mask_metric=None, outlier_token_is_threshold_low=None, outlier_token_is_threshold_high=None,
        token_mask_is_threshold_low=None, token_mask_is_threshold_high=None,
    )
    return types.SimpleNamespace(
        policy_loss_type=loss, loss_reduction=reduction, eps_clip_low=0.2, eps_clip_high=0.28, clip_ratio_c=3.0,
        off_policy_correction=correction, sapo=types.SimpleNamespace(tau_pos=1.0, tau_neg=1.05),
        cispo=types.SimpleNamespace(cispo_anchor="old", cispo_eps_clip_low=0.5, cispo_eps_clip_high=0.7),
    )


def run(utils, at, loss, reduction, ranks, micro_batches, tis, dtype):
    step = Step(3000 + at, dtype, ranks, micro_batches, rows=2, masked_row=at % 4 == 0)
    config = config_of(loss, reduction, tis)
    rows = step.count
    prompts = [(start, start + 2) for start in range(0, rows, 2)]
    advantages = utils.apply_loss_reduction_to_advantages_minibatch(
        step.advantage[:, None].expand(-1, WIDTH).clone(), step.mask, reduction, 2, 40, prompts
    )
    function = utils.PolicyLossRegistry.get(loss)
    if loss == "cross_entropy":
        advantages = advantages * 0
    gradient, layout = torch.zeros_like(step.mask), []
    for k, place in enumerate(step.layout):
        own = step.rows_of(k)
        log_prob = step.log_prob[own].clone().requires_grad_()
        value, _ = function(
            log_prob, step.old[own], advantages[own], config, loss_mask=step.mask[own],
            rollout_logprobs=step.rollout[own] if tis else None,
        )
        (value * ranks).backward()
        gradient[own] = log_prob.grad.float()
        layout.append({**place, "gradientScale": ranks, "reportedLoss": value.item() * ranks})
    aggregation = dict(REDUCTIONS[reduction])
    if loss == "cross_entropy":
        # Its loss ignores the advantages, so that their division is lost.
        aggregation = dict(mode="token-sum")
    if reduction == "token_mean_legacy" and loss != "cross_entropy":
        layout = [dict(one, gradientScale=1 / micro_batches) for one in layout]
    settings = dict(
        trainer="skyrl", policyLoss=LOSSES[loss], aggregation=aggregation, dataParallelSize=ranks, microBatches=layout,
    )
    columns = []
    if tis:
        settings["rolloutCorrection"] = dict(level=tis, action="truncate", high=1.4, exponentClamp=20)
        columns.append(("rolloutLogProb", step.rollout))
    batch = step.batch(f"{loss} {reduction} tis {tis} {ranks}x{micro_batches} {str(dtype)[6:]}", settings, gradient, columns)
    return {**batch, "group": [f"p{row // 2}" for row in range(rows)]}


def main(checkout, path):
    utils = load(checkout)
    layouts = [(1, 1), (1, 3), (2, 2)]
    batches, at = [], 0
    for loss in LOSSES:
        for reduction in REDUCTIONS:
            for ranks, micro_batches in layouts:
                # One ratio per row with weights per token has two forms of the gradient.
                tis = None if loss in ("gspo", "cross_entropy") else (None, "token", "sequence")[at % 3]
                dtype = torch.bfloat16 if at % 5 == 4 else torch.float32
                batches.append(run(utils, at, loss, reduction, ranks, micro_batches, tis, dtype))
                at += 1
    write(path, batches)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
