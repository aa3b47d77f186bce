"""Optimizer steps computed by NeMo-RL's own `ClippedPGLossFn` on the CPU, as echelon-batch/3.

    python scripts/golden/step_nemo_rl.py SOURCES FILE

published.py says what SOURCES holds; only the loss class, `calculate_kl` and `masked_mean` are run. As its training does, the counts
of valid tokens and samples are those of all ranks, and the loss is multiplied by the ranks.
"""

import itertools
import sys
import types

import torch
from published import load

from step_batches import WIDTH, Step, write

FILE = "nemo_rl/algorithms/loss/loss_functions.py"
CLIP = dict(clipLow=0.2, clipHigh=0.28)
LOSSES = {
    "clip": (dict(name="ppo-clip", **CLIP), {}),
    "dual": (dict(name="ppo-clip", dualClip=3, **CLIP), dict(ratio_clip_c=3.0)),
    "cispo": (dict(name="cispo", **CLIP), dict(use_cispo=True)),
    "gspo": (dict(name="gspo", **CLIP), dict(sequence_level_importance_ratios=True, token_level_loss=False)),
    "reinforce": (dict(name="reinforce"), dict(disable_ppo_ratio=True)),
    "on-policy": (dict(name="ppo-clip", **CLIP), dict(force_on_policy_ratio=True)),
}
LEVELS = {"token": True, "sequence": False}
CORRECTIONS = {
    None: (None, {}),
    "plain": (dict(action="truncate"), {}),
    "tis": (dict(action="truncate", low=0, high=1.4), dict(truncated_importance_sampling_type="tis")),
    "icepop": (dict(action="mask", low=0.7, high=1.4), dict(truncated_importance_sampling_type="icepop")),
    "seq-mask-tis": (
        dict(level="sequence", statistic="mean", action="mask", low=0.9, high=1.1, keptWeight="token"),
        dict(truncated_importance_sampling_type="seq-mask-tis"),
    ),
}
KLS = [None, "k1", "k2", "k3"]


def loss_class():
    enum = lambda *names: types.SimpleNamespace(**{name: name for name in names})
    utils = load("nemo-rl", "nemo_rl/algorithms/utils.py", "calculate_kl", "masked_mean")
    known = {name: utils[name] for name in ("calculate_kl", "masked_mean")}
    return load(
        "nemo-rl", FILE, "ClippedPGLossFn", LossType=enum("TOKEN_LEVEL", "SEQUENCE_LEVEL"), LossInputType=enum("LOGPROB"),
        MetricNormalizer=enum("TOKENS", "SEQUENCES", "NONE"), **known,
    )["ClippedPGLossFn"]  # fmt: skip


def config_of(loss, is_token, kl, correction):
    _, limits = CORRECTIONS[correction]
    stated, _ = CORRECTIONS[correction]
    return types.SimpleNamespace(**{
        **dict(
            disable_ppo_ratio=False, token_level_loss=is_token, sequence_level_importance_ratios=False, ratio_clip_min=0.2,
            ratio_clip_max=0.28, ratio_clip_c=None, reference_policy_kl_penalty=0.05 if kl else 0.0,
            reference_policy_kl_type=kl or "k3", kl_input_clamp_value=20.0, kl_output_clamp_value=10.0, use_kl_in_reward=False,
            use_importance_sampling_correction=correction is not None, truncated_importance_sampling_type=None,
            truncated_importance_sampling_ratio=stated and stated.get("high"),
            truncated_importance_sampling_ratio_min=stated and stated.get("low"), use_on_policy_kl_approximation=False,
            force_on_policy_ratio=False, use_cispo=False, positive_example_nll_weight=0.0,
        ),
        **LOSSES[loss][1], **limits,
    })  # fmt: skip


def run(make, at, loss, is_token, kl, correction, dtype, ranks, micro_batches):
    step = Step(4000 + at, dtype, ranks, micro_batches, masked_row=at % 4 == 0)
    if loss == "on-policy":
        step.old = step.log_prob
    function = make(config_of(loss, is_token, kl, correction))
    before = lambda x: torch.cat([torch.zeros_like(x[:, :1]), x], dim=1)
    # The loss mask of a sample that is not valid is 0; its tokens stay in the token mask.
    valid = (step.mask.sum(1) > 0).float()
    tokens, rows = step.mask.sum(), valid.sum()
    gradient, layout, total = torch.zeros_like(step.mask), [], 0.0
    for k, place in enumerate(step.layout):
        own = step.rows_of(k)
        log_prob = step.log_prob[own].clone().requires_grad_()
        data = dict(
            token_mask=before(step.mask[own]), sample_mask=valid[own], prev_logprobs=before(step.old[own]),
            advantages=before(step.advantage[own, None].expand(-1, WIDTH)), generation_logprobs=before(step.rollout[own]),
            reference_policy_logprobs=before(step.reference[own]),
        )
        value, metrics = function(log_prob, data, rows, tokens)
        (value * ranks).backward()
        gradient[own] = log_prob.grad.float()
        total += metrics["loss"]
        layout.append({**place, "gradientScale": ranks, "reportedLoss": value.item() * ranks})
    aggregation = dict(mode="token-mean") if is_token else dict(mode="seq-mean-token-mean", rowCount=int(rows))
    settings = dict(
        trainer="nemo-rl", policyLoss=LOSSES[loss][0], aggregation=aggregation, dataParallelSize=ranks, microBatches=layout,
        reported={"loss": dict(value=total, reduction="sum-of-micro-batches")},
    )
    columns = []
    if kl:
        clamps = dict(inputClamp=20, outputClamp=10)
        settings["kl"] = dict(estimator=kl, coefficient=0.05, weight="probability", **clamps)
        columns.append(("referenceLogProb", step.reference))
    if correction:
        stated = CORRECTIONS[correction][0]
        level = dict(level="sequence", statistic="sum") if loss == "gspo" else {}
        settings["rolloutCorrection"] = {**stated, **level}
        columns.append(("rolloutLogProb", step.rollout))
    level = "token" if is_token else "sequence"
    name = f"{loss} {level} kl {kl} weight {correction} {ranks}x{micro_batches} {str(dtype)[6:]}"
    return step.batch(name, settings, gradient, columns)


def main(path):
    make, batches, layouts = loss_class(), [], [(1, 1), (1, 3), (2, 2)]
    for at, (loss, level, layout) in enumerate(itertools.product(LOSSES, LEVELS, [*layouts, *layouts])):
        if (loss, level) in (("gspo", "token"), ("cispo", "sequence")):
            continue
        correction = list(CORRECTIONS)[(at + at // 5) % 5]
        if loss == "gspo" and correction in ("icepop", "seq-mask-tis"):
            correction = "tis"
        dtype = torch.bfloat16 if at % 4 == 3 else torch.float32
        batches.append(run(make, at, loss, LEVELS[level], KLS[(at // 2) % 4], correction, dtype, *layout))
    write(path, batches)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[2])
