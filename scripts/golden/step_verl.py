"""Optimizer steps computed by verl's own policy losses, aggregation and KL penalty on the CPU, as echelon-batch/3.

    python scripts/golden/step_verl.py FILE

Run it in an environment made from functions.txt. The composition of the terms is that of `ppo_loss` in verl's workers/utils/losses.py;
the gradient coefficients are the gradients of the log-prob tensor after `backward()`.
"""

import itertools
import sys

import torch
from verl.trainer.ppo import core_algos
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights
from verl.workers.config import ActorConfig
from verl.workers.config.actor import PolicyLossConfig

from step_batches import WIDTH, Step, write

MODES = ["token-mean", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm", "token-sum"]
CLAMP = {"logRatioClamp": 20}
LOSSES = {
    "vanilla": dict(name="ppo-clip", clipLow=0.2, clipHigh=0.2, dualClip=3, **CLAMP),
    "higher": dict(name="ppo-clip", clipLow=0.1, clipHigh=0.28, dualClip=2.5, **CLAMP),
    "gspo": dict(name="gspo", clipLow=0.02, clipHigh=0.04),
    "cispo": dict(name="cispo", clipLow=0.2, clipHigh=0.28, **CLAMP),
    "sapo": dict(name="sapo", tauPositive=1, tauNegative=1.05, **CLAMP),
    "gpg": dict(name="reinforce"),
    "dro": dict(name="dro", beta=0.7),
    "dppo_tv": dict(name="dppo-tv", clipLow=0.05, clipHigh=0.1, cap=3, logRatioClamp=20),
    "geo_mean": dict(name="gmpo", clipLow=0.2, clipHigh=0.25),
}
KLS = {
    None: None,
    "kl": dict(estimator="k1", coefficient=0.1),
    "abs": dict(estimator="abs", coefficient=0.1),
    "mse": dict(estimator="k2", coefficient=0.1),
    "low_var_kl": dict(estimator="k3", coefficient=0.1, inputClamp=20, outputClamp=10),
    "k3+": dict(estimator="k3", coefficient=0.01, inputClamp=20, outputClamp=10, gradientOf="k2"),
}


def config_of(loss, settings, mode, scale_factor):
    policy = dict(loss_mode={"higher": "vanilla"}.get(loss, loss))
    if loss == "dro":
        policy["dro_beta"] = settings["beta"]
    clip = {"clip_ratio_low": settings.get("clipLow", 0.2), "clip_ratio_high": settings.get("clipHigh", 0.2)}
    c = settings.get("dualClip") or settings.get("cap") or 3.0
    config = ActorConfig(
        strategy="fsdp", rollout_n=2, ppo_micro_batch_size_per_gpu=2, clip_ratio_c=float(c), loss_agg_mode=mode,
        loss_scale_factor=scale_factor, policy_loss=PolicyLossConfig(**policy), **clip,
    )
    return config


def weights(step, level):
    """verl's TIS weights and the correction that they are."""
    if level is None:
        return None, None
    log_ratio = step.old.float() - step.rollout.float()
    found, _ = compute_rollout_correction_weights(log_ratio, step.mask, rollout_is=level, rollout_is_threshold=1.4)
    correction = dict(level=level, action="truncate", high=1.4, exponentClamp=20)
    return found, correction


def run(seed, loss, mode, kl, dtype, ranks, micro_batches, level, masked_row):
    settings = LOSSES[loss]
    step = Step(seed, dtype, ranks, micro_batches, masked_row=masked_row)
    scale_factor = 50 if mode == "seq-mean-token-sum-norm" else None
    config = config_of(loss, settings, mode, scale_factor)
    rollout_weights, correction = weights(step, level)
    tokens, rows = step.mask.sum(), step.count
    config.global_batch_info.update(
        dp_size=ranks, batch_num_tokens=tokens.item(), global_batch_size=rows, loss_scale_factor=scale_factor
    )
    gradient, layout = torch.zeros_like(step.mask), []
    means = {"actor/pg_clipfrac": [], "actor/pg_clipfrac_lower": [], "actor/ppo_kl": []}
    sums = {"pg": 0.0, "kl": 0.0}
    for k, place in enumerate(step.layout):
        own = step.rows_of(k)
        log_prob = step.log_prob[own].clone().requires_grad_()
        advantages = step.advantage[own, None].expand(-1, WIDTH) * step.mask[own]
        policy, metrics = core_algos.get_policy_loss_fn(config.policy_loss.loss_mode)(
            old_log_prob=step.old[own], log_prob=log_prob, advantages=advantages, response_mask=step.mask[own],
            loss_agg_mode=mode, config=config,
            rollout_is_weights=None if rollout_weights is None else rollout_weights[own],
        )
        total = policy
        sums["pg"] += policy.item()
        if kl is not None:
            kld = core_algos.kl_penalty(log_prob, step.reference[own], kl)
            kl_loss = core_algos.agg_loss(kld, step.mask[own], mode, **config.global_batch_info)
            total = total + kl_loss * KLS[kl]["coefficient"]
            sums["kl"] += kl_loss.item()
        total.backward()
        gradient[own] = log_prob.grad.float()
        for key in means:
            means[key].append(metrics.get(key))
        layout.append({**place, "reportedLoss": float(total.item())})
    return step, settings, dict(
        gradient=gradient, layout=layout, means=means, sums=sums, correction=correction, weights=rollout_weights
    )


def settings_of(loss, mode, kl, ranks, step, settings, found):
    """What a user would state of the run."""
    reported = {}
    if loss != "geo_mean":
        reported["policyLoss"] = dict(value=found["sums"]["pg"] / ranks, reduction="sum-of-micro-batches")
    if kl is not None and loss != "geo_mean":
        reported["klLoss"] = dict(value=found["sums"]["kl"] / ranks, reduction="sum-of-micro-batches")
    mean = lambda key: sum(found["means"][key]) / len(found["means"][key])
    if loss in ("vanilla", "higher"):
        reported["clipFraction"] = dict(value=mean("actor/pg_clipfrac"), reduction="mean-of-micro-batches")
        reported["clipFractionLower"] = dict(value=mean("actor/pg_clipfrac_lower"), reduction="mean-of-micro-batches")
    if loss in ("vanilla", "higher", "gspo", "cispo", "sapo", "dppo_tv"):
        reported["approxKl"] = dict(value=mean("actor/ppo_kl"), reduction="mean-of-micro-batches")
    aggregation = dict(mode=mode, scope="global", rowCount=step.count)
    if mode == "seq-mean-token-sum-norm":
        aggregation["scaleFactor"] = 50
    kl_term = KLS[kl]
    layout = [dict(one, gradientScale=ranks) for one in found["layout"]]
    if loss == "geo_mean":
        # A plain mean over the rows of each micro-batch, whatever the mode; micro-batches add up.
        aggregation = dict(mode="seq-mean-token-mean", scope="micro-batch")
        layout = [dict(one, gradientScale=1) for one in found["layout"]]
    if loss == "sapo":
        kl_aggregation = aggregation
        aggregation = dict(mode="seq-mean-token-mean", scope="global", rowCount=step.count)
        kl_term = kl_term and dict(kl_term, aggregation=kl_aggregation)
    out = dict(
        optimizerStep=1, trainer="verl", trainerVersion="0.9.1", policyLoss=settings, aggregation=aggregation,
        dataParallelSize=ranks, microBatches=layout, reported=reported,
    )
    if kl_term:
        out["kl"] = kl_term
    if found["correction"]:
        out["rolloutCorrection"] = found["correction"]
    return out


def cases():
    """Every loss with every mode, then KL, corrections, layouts and precisions in turn."""
    layouts = [(1, 1), (1, 3), (2, 1), (2, 2)]
    dtypes = [torch.float32, torch.float32, torch.bfloat16]
    kls, levels = list(KLS), [None, "token", None, "sequence"]
    at = 0
    for loss, mode, layout in itertools.product(LOSSES, MODES, layouts):
        if loss == "geo_mean" and mode != "token-mean":
            continue
        kl = None if loss == "geo_mean" else kls[at % len(kls)]
        level = None if loss in ("geo_mean", "gspo") else levels[(at // 2) % 4]
        yield at, loss, mode, kl, dtypes[at % 3], *layout, level, at % 5 == 0
        at += 1


def main(path):
    batches = []
    for at, loss, mode, kl, dtype, ranks, micro_batches, level, masked_row in cases():
        # Every fully masked row but one of geo_mean has its own zero denominators, which verl divides by.
        step, settings, found = run(at, loss, mode, kl, dtype, ranks, micro_batches, level, masked_row)
        columns = []
        if kl is not None:
            columns.append(("referenceLogProb", step.reference))
        if level is not None:
            columns += [("rolloutLogProb", step.rollout), ("rolloutWeight", found["weights"])]
        name = f"{loss} {mode} kl {kl} weight {level} {ranks}x{micro_batches} {str(dtype)[6:]}"
        stated = settings_of(loss, mode, kl, ranks, step, settings, found)
        batches.append(step.batch(name, stated, found["gradient"], columns))
    write(path, batches)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1])
