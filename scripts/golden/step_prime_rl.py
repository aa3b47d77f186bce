"""Optimizer steps computed by prime-rl's own loss functions on the CPU, as echelon-batch/3.

    python scripts/golden/step_prime_rl.py CHECKOUT FILE

CHECKOUT is a work tree of prime-rl; only src/prime_rl/trainer/rl/loss.py of it is run, with torch, jaxtyping and beartype. As its trainer
does, the sums of the samples are divided by the tokens of all ranks, and the gradients multiplied by the ranks.
"""

import os
import sys
import types

import torch

from step_batches import Step, write

LIMITS = [(0.2, 0.2), (0.05, 0.1)]


def load(checkout):
    """The module of the losses, without the configuration classes that it only names."""
    for name, members in {
        "prime_rl": [], "prime_rl.configs": [], "prime_rl.utils": [],
        "prime_rl.configs.trainer": ["CustomLossConfig", "DefaultLossConfig", "IPOLossConfig", "LossConfig"],
        "prime_rl.utils.utils": ["import_object"],
    }.items():
        module = types.ModuleType(name)
        for member in members:
            setattr(module, member, type(member, (), {}))
        sys.modules[name] = module
    path = os.path.join(checkout, "src/prime_rl/trainer/rl/loss.py")
    module = types.ModuleType("prime_rl_loss")
    sys.modules["prime_rl_loss"] = module
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


def run(loss, at, ranks, micro_batches, low, high, dtype):
    step = Step(2000 + at, dtype, ranks, micro_batches, rows=2, spread=0.3 if at % 2 else 0.05)
    config = types.SimpleNamespace(dppo_mask_low=low, dppo_mask_high=high, adv_tau=1.0, kl_tau=1e-3)
    tokens = step.mask.sum()
    gradient, layout, total, masked, ratios = torch.zeros_like(step.mask), [], 0.0, [], torch.zeros_like(step.mask)
    for k, place in enumerate(step.layout):
        value = 0.0
        for row in step.rows_of(k).tolist():
            mask = step.mask[row].bool()
            log_prob = step.log_prob[row].clone().requires_grad_()
            inputs = loss.LossInputs(
                trainer_logprobs=log_prob, inference_logprobs=step.old[row], ref_logprobs=None,
                advantages=step.advantage[row].expand_as(log_prob), loss_mask=mask,
            )
            scaled = loss.default_loss_fn(inputs, config).loss / torch.clamp_min(tokens, 1)
            (scaled * ranks).backward()
            gradient[row] = log_prob.grad.float()
            ratios[row] = torch.exp(log_prob.detach() - step.old[row]).float()
            value += scaled.item() * ranks
        total += value
        layout.append({**place, "gradientScale": ranks, "reportedLoss": value})
    settings = dict(
        trainer="prime-rl", policyLoss=dict(name="prime-rl", clipLow=low, clipHigh=high, klTau=1e-3),
        aggregation=dict(mode="token-mean", scope="global"), dataParallelSize=ranks, microBatches=layout,
        reported={"loss": dict(value=total / ranks, reduction="sum-of-micro-batches")},
    )
    name = f"default {low}-{high} {ranks}x{micro_batches} {str(dtype)[6:]} {at}"
    return step.batch(name, settings, gradient, [("reportedRatio", ratios)])


def main(checkout, path):
    loss = load(checkout)
    layouts = [(1, 1), (1, 3), (2, 2)]
    batches = []
    for at in range(48):
        dtype = torch.bfloat16 if at % 6 == 5 else torch.float32
        batches.append(run(loss, at, *layouts[at % 3], *LIMITS[at // 3 % 2], dtype))
    write(path, batches)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
