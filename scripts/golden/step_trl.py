"""Optimizer steps computed by TRL's own `GRPOTrainer._compute_loss` on the CPU, as echelon-batch/3.

    python scripts/golden/step_trl.py FILE

Run it in an environment made from trl.txt. The trainer is an object without a model: its log-probs are the tensors of the step, and
its ranks are computed one after the other. The gradient coefficients are the gradients of the log-prob tensor after `backward()`.
"""

import collections
import itertools
import sys
import types

import torch
from trl import GRPOTrainer

from step_batches import WIDTH, Step, write

LENGTH = 11
LOSSES = ["grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo", "vespo", "delta", "sequence"]
CONFIGS = {
    "grpo": dict(name="ppo-clip", clipLow=0.2, clipHigh=0.28),
    "cispo": dict(name="cispo", clipLow=None, cap=1.28),
    "sapo": dict(name="sapo", tauPositive=1, tauNegative=1.05),
    "vespo": dict(name="vespo", kPositive=2, lambdaPositive=3, kNegative=3, lambdaNegative=2),
    "delta": dict(name="ppo-clip", clipLow=0.2, clipHigh=0.28, delta=1.8),
    "sequence": dict(name="gspo", clipLow=0.02, clipHigh=0.04),
}
KLS = [(0.0, False), (0.04, True), (0.04, False)]
CORRECTIONS = [None, "token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]
MAX = 1.4


class Accelerator:
    def __init__(self, ranks):
        self.num_processes = ranks

    def reduce(self, x, reduction=None):
        return x

    def gather(self, x):
        return x


def trainer_of(loss, ranks, accumulation, beta, bias, correction):
    self = object.__new__(GRPOTrainer)
    kind = {"delta": "grpo", "sequence": "grpo"}.get(loss, loss)
    self.__dict__.update(
        loss_type=kind, beta=beta, epsilon_low=0.02 if loss == "sequence" else 0.2,
        epsilon_high={"sequence": 0.04, "cispo": 1.28}.get(loss, 0.28),
        importance_sampling_level="sequence" if loss == "sequence" else "token", off_policy_mask_threshold=None,
        top_entropy_quantile=1.0, aux_loss_enabled=False, use_vllm=correction is not None,
        vllm_importance_sampling_correction=correction is not None, max_completion_length=LENGTH,
        current_gradient_accumulation_steps=accumulation, accelerator=Accelerator(ranks), _entropy_bonus_enabled=False,
        model=types.SimpleNamespace(training=True), _metrics={"train": collections.defaultdict(list)},
        args=types.SimpleNamespace(
            use_bias_correction_kl=bias, delta=1.8 if loss == "delta" else None, sapo_temperature_pos=1.0,
            sapo_temperature_neg=1.05, vespo_k_pos=2.0, vespo_lambda_pos=3.0, vespo_k_neg=3.0, vespo_lambda_neg=2.0,
            steps_per_generation=accumulation,
        ),
    )
    return self


def weights(step, mode):
    """The importance ratios that TRL computes in `_generate_and_score_completions`, and the correction that they are."""
    if mode is None:
        return None, None
    level, action = mode.split("_")
    log_ratio = (step.old - step.rollout) * step.mask
    if level == "sequence":
        log_ratio = log_ratio.sum(-1, keepdim=True)
    ratio = torch.exp(log_ratio)
    if action == "truncate":
        ratio = torch.clamp(ratio, max=MAX)
    else:
        ratio = ratio.masked_fill(ratio > MAX, value=0.0)
    correction = dict(level=level, statistic="ratio" if level == "token" else "sum", action=action, high=MAX)
    return ratio, {**correction, "action": {"truncate": "truncate", "mask": "mask"}[action]}


def aggregation_of(loss, tokens, ranks):
    mean = dict(scope="micro-batch", rowCount="all")
    if loss in ("grpo", "sapo", "delta", "sequence"):
        return dict(mode="seq-mean-token-mean", **mean)
    if loss == "bnpo":
        return dict(mode="token-mean", scope="micro-batch")
    if loss == "luspo":
        return dict(mode="seq-mean-token-sum", **mean)
    if loss == "dr_grpo":
        return dict(mode="seq-mean-token-sum-norm", scaleFactor=LENGTH, **mean)
    return dict(mode="constant", denominator=max(tokens, 1) / ranks)


def run(seed, loss, dtype, ranks, accumulation, kl, correction):
    beta, bias = kl
    step = Step(seed, dtype, ranks, accumulation, rows=3, masked_row=seed % 4 == 0)
    ratio, stated = weights(step, correction)
    tokens = step.mask.sum()
    gradient, layout, total, clipped, kls = torch.zeros_like(step.mask), [], 0.0, [], []
    for k, place in enumerate(step.layout):
        own = step.rows_of(k)
        log_prob = step.log_prob[own].clone().requires_grad_()
        self = trainer_of(loss, ranks, accumulation, beta, bias, correction)
        self._get_per_token_logps_and_entropies = lambda *_, **__: (log_prob, step.entropy[own], None)
        ids = torch.zeros(len(own), WIDTH, dtype=torch.long)
        inputs = dict(
            prompt_ids=ids[:, :1], prompt_mask=ids[:, :1], completion_ids=ids, completion_mask=step.mask[own],
            advantages=step.advantage[own], old_per_token_logps=step.old[own], ref_per_token_logps=step.reference[own],
            num_items_in_batch=tokens,
        )
        if ratio is not None:
            inputs["importance_sampling_ratio"] = ratio[own]
        value = GRPOTrainer._compute_loss(self, None, inputs)
        value.backward()
        gradient[own] = log_prob.grad.float()
        total += value.item()
        metrics = self._metrics["train"]
        clipped.append(metrics["clip_ratio/region_mean"][0] if metrics["clip_ratio/region_mean"] else None)
        kls.append(metrics["kl"][0] if metrics["kl"] else None)
        scale = 1 if loss in ("dapo", "cispo", "vespo") else 1 / accumulation
        layout.append({**place, "gradientScale": scale, "reportedLoss": value.item()})
    reported = {"loss": dict(value=total / ranks, reduction="sum-of-micro-batches")}
    if loss in ("grpo", "bnpo", "dr_grpo", "dapo", "luspo"):
        reported["clipFraction"] = dict(value=sum(clipped) / len(clipped), reduction="mean-of-micro-batches")
    settings = dict(
        trainer="trl", trainerVersion="1.16.0", policyLoss=CONFIGS.get(loss, CONFIGS["grpo"]),
        aggregation=aggregation_of(loss, tokens.item(), ranks), dataParallelSize=ranks, microBatches=layout, reported=reported,
    )
    columns = []
    if beta:
        settings["kl"] = dict(estimator="k3", coefficient=beta, weight="ratio" if bias else "none")
        columns.append(("referenceLogProb", step.reference))
    if stated:
        settings["rolloutCorrection"] = stated
        columns += [("rolloutLogProb", step.rollout), ("rolloutWeight", ratio.expand(-1, WIDTH))]
    name = f"{loss} kl {beta}{' biased' if bias else ''} weight {correction} {ranks}x{accumulation} {str(dtype)[6:]}"
    return step.batch(name, settings, gradient, columns)


def main(path):
    batches = []
    layouts = [(1, 1), (1, 4), (2, 2)]
    for at, (loss, layout, turn) in enumerate(itertools.product(LOSSES, layouts, range(6))):
        kl = KLS[(at + turn) % 3]
        correction = CORRECTIONS[(at // 2) % 5]
        if loss == "sequence":
            # One ratio per row: weights per token and a KL term times that ratio have another gradient.
            kl = KLS[0] if kl == KLS[1] else kl
            correction = correction if correction in (None, "sequence_truncate", "sequence_mask") else None
        dtype = torch.bfloat16 if at % 4 == 3 else torch.float32
        batches.append(run(1000 + at, loss, dtype, *layout, kl, correction))
    write(path, batches)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1])
