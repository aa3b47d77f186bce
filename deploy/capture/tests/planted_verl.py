"""The bugs of docs/evidence/step-detection.md, planted into verl's engine and losses, by their sources there."""

from __future__ import annotations

import contextlib
import copy
from types import SimpleNamespace

from echelon_capture import verl_rows
from verl_ranks_support import LOCAL, MICRO_BATCHES, ROWS, aggregates, counted, own_count, rejected_after_the_count, scaled

_ONE = dict(updates=1, sure=True, followed=True)
LONG = dict(**_ONE, rows=dict(longest=24))
DRIFTED = dict(**_ONE, rows=dict(longest=40, drift=0.5))
TOOLS = dict(**_ONE, rows=dict(longest=24, tools=True))
KL = dict(use_kl_loss=True, kl_loss_type="low_var_kl", kl_loss_coef=0.5, **DRIFTED)


def policy(change):
    """Plants another policy loss: `change(own, arguments)`."""

    @contextlib.contextmanager
    def plant(_rank, _size):
        from verl.workers.utils import losses

        own = losses.get_policy_loss_fn

        def get_policy_loss_fn(name):
            found = own(name)

            def planted(**keywords):
                return change(found, keywords)

            return planted

        losses.get_policy_loss_fn = get_policy_loss_fn
        yield

    return plant


def given(change):
    """Plants other arguments of the policy loss: `change(arguments)` gives those that differ."""
    return policy(lambda own, arguments: own(**{**arguments, **change(arguments)}))


def ignored(**settings):
    """The policy loss has other settings than the actor."""

    def change(arguments):
        config = copy.copy(arguments["config"])
        for name, value in settings.items():
            object.__setattr__(config, name, value)
        return {"config": config}

    return given(change)


def replaced(name, change):
    """Plants another function of the module of the losses: `change(own, …)`; verl_ranks_support.py restores it."""

    @contextlib.contextmanager
    def plant(_rank, _size):
        from verl.workers.utils import losses

        own = getattr(losses, name)
        setattr(losses, name, lambda *arguments, **keywords: change(own, *arguments, **keywords))
        try:
            yield
        finally:
            setattr(losses, name, own)

    return plant


def metric(name, change):
    """Plants another reported value of a micro-batch: `change(value)`."""

    def changed(own, *arguments, **keywords):
        found, metrics = own(*arguments, **keywords)
        metrics[name].values[-1] = change(metrics[name].values[-1])
        return found, metrics

    return replaced("ppo_loss", changed)


def weighted_kl():
    """The rollout weight multiplies the KL term as well."""
    weights = []

    def seen(own, arguments):
        weights[:] = [arguments["rollout_is_weights"]]
        return own(**arguments)

    kl = replaced("kl_penalty", lambda own, **keywords: own(**keywords) * weights[0])

    @contextlib.contextmanager
    def plant(rank, size):
        with policy(seen)(rank, size), kl(rank, size):
            yield

    return plant


def kl_of_rows(own, loss_mat, loss_mask, loss_agg_mode, **_info):
    """The KL term has row means of its micro-batch."""
    return own(loss_mat, loss_mask, "seq-mean-token-mean", **LOCAL) / MICRO_BATCHES


def kl_after_first(own, arguments):
    """The reported KL is a mean over other tokens than those of the loss."""
    found, metrics = own(**arguments)
    mask = arguments["response_mask"].clone()
    mask[:, 0] = False
    gap = (arguments["old_log_prob"] - arguments["log_prob"]) * mask
    return found, {**metrics, "actor/ppo_kl": (gap.sum() / mask.sum()).item()}


def local_count(own, config, model_output, data, dp_group=None):
    from verl.utils import tensordict_utils as tu

    data = data.clone()
    tu.assign_non_tensor(data, batch_num_tokens=float(data["response_mask"].sum()))
    return own(config=config, model_output=model_output, data=data, dp_group=dp_group)


def half_count(info, _mat, _mask):
    import torch

    count = float(torch.tensor(float(info["batch_num_tokens"])).bfloat16())
    assert count != float(info["batch_num_tokens"]), "the count is a bfloat16 number"
    return dict(batch_num_tokens=count)


def old_of_the_engine(data):
    data["old_log_probs"] = data["rollout_log_probs"]


def retokenized(data):
    data["responses"][::2, 0] = (data["responses"][::2, 0] + 1) % 32


def tools_trained(data):
    data["response_mask"] = data["loss_mask"] = data["attention_mask"][:, 4:]


def tools_counted(data):
    data["loss_mask"] = data["attention_mask"][:, 4:]


def places(rank, size):
    """The same rows on every rank."""
    import torch

    from echelon_capture.row_marks import STEP

    return torch.arange(ROWS) + 3 * STEP + 0 * rank * size


def engine(change, **more):
    """Settings of a case with log-probs of the rollout engine."""
    return dict(**_ONE, profile="standard", rows=dict(longest=40, engine=change), **more)


def unlikely(log_probs):
    return log_probs.where(log_probs > -2.5, log_probs * 0 - 0.3)


def corrected(planted, threshold, level):
    """The driver is configured with rollout weights, and makes others: `planted(log_ratios, mask)`."""

    def change(data):
        from verl.utils import tensordict_utils as tu

        config = SimpleNamespace(algorithm=dict(rollout_correction=dict(rollout_is=level, rollout_is_threshold=threshold)))
        tu.assign_non_tensor(data, **{verl_rows.CORRECTION: verl_rows.correction_of(config)})
        data["rollout_is_weights"] = planted(data["old_log_probs"] - data["rollout_log_probs"], data["response_mask"])

    return engine(lambda log_probs: 1.02 * log_probs, received=change)


def of_means(log_ratios, mask):
    """The weight of a row is made of the mean of its log-ratios, not of their sum."""
    mean = (log_ratios * mask).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True)
    return mean.exp().clamp(max=5.0) * mask


def capped(log_ratios, mask):
    """A weight beyond the limits is capped, not masked."""
    return log_ratios.exp().clamp(max=1.01) * mask


def placeholders(log_probs):
    log_probs[:, :8] = 0
    return log_probs


_MEAN_OF_MEANS = aggregates(lambda own, mat, mask, mode, info, size: own(mat, mask, mode, **LOCAL) / MICRO_BATCHES)
_CROSS_ENTROPY = given(lambda a: {"advantages": a["advantages"] * 0 + 1, "old_log_prob": a["log_prob"].detach()})
_RANDOM_WEIGHTS = given(lambda a: {"rollout_is_weights": (0.3 * a["advantages"] + 0.2 * a["old_log_prob"]).exp()})

PLANTED = {
    "SkyRL #1296": (_MEAN_OF_MEANS, LONG),
    "verl #7200, #7225": (counted(lambda info, mat, mask: LOCAL), LONG),
    "prime-rl #2562": (own_count, LONG),
    "prime-rl #1961; verl #3332, #3994": (_MEAN_OF_MEANS, LONG),
    "Liger #1202, TRL #5690": (_MEAN_OF_MEANS, LONG),
    "verl #5625; Trinity-RFT #336; open-instruct #1161": (
        aggregates(lambda own, mat, mask, mode, info, size: own(mat, mask, mode, **LOCAL) * len(mask) / ROWS), LONG,
    ),
    "slime #365": (None, dict(received=tools_counted, **TOOLS)),
    "TRL #6439": (rejected_after_the_count, LONG),
    "verl #4852": (rejected_after_the_count, LONG),
    "verl #5366, #3741": (counted(lambda info, mat, mask: dict(global_batch_size=1)), dict(loss_agg_mode="seq-mean-token-sum", **LONG)),
    "verl #5417": (counted(lambda info, mat, mask: dict(dp_size=1)), LONG),
    "TRL #6024 (#5619)": (scaled(lambda size: 1 / 2), LONG),
    "ms-swift #10116": (scaled(lambda size: 1 / MICRO_BATCHES), LONG),
    "slime #987": (scaled(lambda size: size), LONG),
    "slime #990; SkyRL #1420": (scaled(lambda size: 1 / 4), LONG),
    "SkyRL #1751": (scaled(lambda size: 4), LONG),
    "Relax #173": (scaled(lambda size: MICRO_BATCHES * size), LONG),
    "slime --calculate-per-token-loss": (
        counted(lambda info, mat, mask: dict(batch_num_tokens=info["batch_num_tokens"] + 2)),
        dict(**_ONE, rows=dict(longest=24, empty=True)),
    ),
    "sums of bfloat16 masks": (counted(half_count), dict(**_ONE, rows=dict(longest=60))),
    "verl YAML: clip_ratio alone has no effect": (ignored(clip_ratio_high=0.2), DRIFTED),
    "RLinf #29": (ignored(clip_ratio_c=1e6), dict(**_ONE, rows=dict(longest=40, drift=1.0))),
    "torchforge #571": (given(lambda a: {"old_log_prob": a["log_prob"].detach()}), DRIFTED),
    "TRL #6945": (None, engine(lambda log_probs: log_probs, received=old_of_the_engine)),
    "SkyRL #1053": (_CROSS_ENTROPY, DRIFTED),
    "TRL and ms-swift CISPO at defaults": (ignored(clip_ratio_high=-0.72), dict(mode="cispo", **DRIFTED)),
    "verl #2506": (given(lambda a: {"response_mask": a["advantages"]}), LONG),
    "miles #1966": (given(lambda a: {"old_log_prob": a["log_prob"]}), LONG),
    "unsloth-zoo #1286": (counted(lambda info, mat, mask: dict(batch_num_tokens=float("nan"))), LONG),
    "Liger #1082, #1088; TRL #5031; open-instruct #1735": (
        given(lambda a: {"rollout_is_weights": None}), dict(weights=True, **engine(lambda log_probs: log_probs)),
    ),
    "TRL #5814": (None, corrected(of_means, 5.0, "sequence")),
    "arcee NeMo-RL #24": (None, corrected(capped, "0.5_1.01", "token")),
    "ms-swift: weight on the KL term": (weighted_kl(), dict(weights=True, **KL)),
    "verl-agent, Flash-RL configurations": (_RANDOM_WEIGHTS, LONG),
    "SkyRL #1353": (replaced("kl_penalty", lambda own, **keywords: own(**keywords).detach()), KL),
    "RLinf #129": (replaced("kl_penalty", lambda own, **keywords: own(**{**keywords, "kl_penalty": "mse"})), KL),
    "SkyRL: KL denominator": (replaced("agg_loss", kl_of_rows), KL),
    "TRL #5224, #5238, #5239": (None, dict(received=retokenized, **LONG)),
    "rLLM #816": (None, engine(placeholders)),
    "slime #1995": (None, engine(lambda log_probs: log_probs * 0)),
    "slime #245": (None, engine(lambda log_probs: log_probs.bfloat16().float())),
    "prime-rl #2975": (None, dict(places=places, **LONG)),
    "NeMo-RL #2176": (None, dict(received=tools_trained, **TOOLS)),
    "TRL #6789": (None, engine(lambda log_probs: log_probs + 0.105)),
    "TRL #4159; NeMo-RL #3392; prime-rl #697; verl #3133; slime #557": (None, engine(lambda log_probs: 1.6 * log_probs)),
    "ms-swift #8427; SkyRL #1367": (None, engine(lambda log_probs: log_probs.roll(1, 1))),
    "NeMo-RL #3297": (None, engine(unlikely)),
    "RLinf #1475": (metric("actor/pg_clipfrac", lambda value: 84 * value), DRIFTED),
    "AReaL #1572": (policy(kl_after_first), DRIFTED),
    "slime #2114; SkyRL #1633": (metric("kl_loss", lambda value: 1.3 * value), KL),
    "SkyRL #1296 (without gradients)": (replaced("ppo_loss", local_count), dict(updates=2, every=2)),
    "slime #365 (without gradients)": (None, dict(updates=2, every=2, received=tools_counted, rows=dict(tools=True))),
}  # fmt: skip

# The same settings without a bug.
RIGHT = {
    "long": (None, LONG),
    "drifted": (None, DRIFTED),
    "far": (None, dict(**_ONE, rows=dict(longest=40, drift=1.0))),
    "tools": (None, TOOLS),
    "empty": (None, dict(**_ONE, rows=dict(longest=24, empty=True))),
    "sums of rows": (None, dict(loss_agg_mode="seq-mean-token-sum", **LONG)),
    "cispo": (None, dict(mode="cispo", **DRIFTED)),
    "weights": (None, dict(weights=True, **engine(lambda log_probs: log_probs))),
    "weights and kl": (None, dict(weights=True, **KL)),
    "kl": (None, KL),
    "engine": (None, engine(lambda log_probs: log_probs)),
    "geo_mean": (None, dict(mode="geo_mean", **KL)),
    "sapo": (None, dict(mode="sapo", **KL)),
    "layout": (None, dict(updates=2, every=2)),
}

_NO_VERSIONS = "The hook records no policy versions."
_AFTER = "The reduction over micro-batches comes after what the hook records, which are values of micro-batches."
NOT_PLANTED = {
    "slime #657": "verl counts the tokens that rejection kept.",
    "ms-swift #10084": "verl divides by counts of the whole batch, and by no number of micro-batches.",
    "NeMo-RL #2506": "verl’s KL term has no ratio as a factor.",
    "AReaL #941": _NO_VERSIONS,
    "miles #1829 (guard)": _NO_VERSIONS,
    "verl #4778": _AFTER,
    "prime-rl loss/mean; SkyRL #1893": _AFTER,
    "verl-agent actor/kl_loss": _AFTER,
    "mean of means": "Within a micro-batch of one rank both means are the same.",
    "rLLM #497": "The hook does not record the reported mismatch.",
}
