"""The bugs of docs/evidence/step-detection.md, planted into TRL's GRPOTrainer, by their sources there."""

from __future__ import annotations

import contextlib

from trl_ranks_support import MICRO_BATCHES, full_window, generated, items, scaled

LONG = dict(max_completion_length=24, max_steps=1)
TWO_PASSES = dict(num_iterations=2, max_steps=2, learning_rate=0.05)
KL = dict(loss_type="grpo", beta=0.5, max_completion_length=24, max_steps=2, learning_rate=0.05)


def both(*plants):
    """Several plants, the first one innermost."""

    @contextlib.contextmanager
    def plant(trainer, size):
        with contextlib.ExitStack() as stack:
            for one in plants:
                stack.enter_context(one(trainer, size))
            yield

    return plant


def loss(change):
    """Plants another loss: `change(trainer, own, model, inputs)`."""

    @contextlib.contextmanager
    def plant(trainer, _size):
        own = trainer._compute_loss
        trainer._compute_loss = lambda model, inputs: change(trainer, own, model, inputs)
        yield

    return plant


def given(change):
    """Plants other inputs of the loss: `change(trainer, inputs)` gives those that differ."""
    return loss(lambda trainer, own, model, inputs: own(model, {**inputs, **change(trainer, inputs)}))


@contextlib.contextmanager
def with_settings(trainer, **settings):
    """The trainer with other settings for a while."""
    owners = {name: trainer if hasattr(trainer, name) else trainer.args for name in settings}
    stated = {name: getattr(owner, name) for name, owner in owners.items()}
    for name, value in settings.items():
        setattr(owners[name], name, value)
    try:
        yield
    finally:
        for name, value in stated.items():
            setattr(owners[name], name, value)


def ignored(**settings):
    """The loss has other settings than the trainer."""

    def change(trainer, own, model, inputs):
        with with_settings(trainer, **settings):
            return own(model, inputs)

    return loss(change)


def own_loss(compute):
    """Plants a loss of its own: `compute(trainer, inputs, log_prob, mask)`, of the log-probs with their graph."""

    def change(trainer, _own, model, inputs):
        import torch

        ids, kept = (torch.cat([inputs[f"prompt_{key}"], inputs[f"completion_{key}"]], dim=1) for key in ("ids", "mask"))
        width = inputs["completion_ids"].size(1)
        log_prob = trainer._get_per_token_logps_and_entropies(model, ids, kept, width, compute_entropy=True)[0]
        return compute(trainer, inputs, log_prob, inputs["completion_mask"])

    return loss(change)


def of_rows(trainer, terms, mask):
    """TRL's loss `grpo` of the losses of tokens."""
    return ((terms * mask).sum(-1) / mask.sum(-1).clamp(min=1)).mean() / trainer.current_gradient_accumulation_steps


def engine(change=lambda log_probs: log_probs, correction=True, mode="token_truncate", high=1.05, loads=int):
    """The trainer believes that vLLM generates: log-probs of the trainer's own model, with a little noise, and `change`. `loads`: the
    step whose weights it has, by the step of the trainer."""

    @contextlib.contextmanager
    def plant(trainer, _size):
        own = trainer._generate
        trainer.use_vllm, trainer.vllm_importance_sampling_correction = True, correction
        trainer.vllm_importance_sampling_mode = mode
        trainer.vllm_importance_sampling_clip_min, trainer.vllm_importance_sampling_clip_max = None, high

        def generate(prompts):
            # As TRL notes that vLLM loaded the weights.
            trainer._last_loaded_step = loads(trainer.state.global_step)
            with with_settings(trainer, use_vllm=False):
                found = list(own(prompts))
            found[4] = [change(scored(trainer, *row)).tolist() for row in zip(found[0], found[1])]
            return tuple(found)

        trainer._generate = generate
        yield

    return plant


def scored(trainer, prompt, completion):
    import torch

    with torch.no_grad():
        scores = trainer.model(input_ids=torch.tensor([[*prompt, *completion]])).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
    found = scores.gather(-1, torch.tensor(completion)[:, None])[:, 0]
    return (found + 0.03 * torch.randn(len(completion))).clamp(max=-1e-4)


@contextlib.contextmanager
def tools(trainer, _size):
    """The second token of each completion comes from a tool."""
    own = trainer._generate

    def generate(prompts):
        found = list(own(prompts))
        found[2] = [[0 if at == 1 else 1 for at in range(len(ids))] for ids in found[1]]
        return tuple(found)

    trainer._generate = generate
    yield


@contextlib.contextmanager
def counted_before(trainer, size):
    """The count has the tokens of all completions, also of those that are masked afterwards."""
    import torch

    own, score = trainer._generate, trainer._generate_and_score_completions
    count = [0]

    def generate(prompts):
        found = own(prompts)
        count[0] = sum(len(ids) for ids in found[1])
        return found

    def faulty(inputs):
        result = score(inputs)
        total = torch.tensor(float(count[0]))
        torch.distributed.all_reduce(total)
        result["num_items_in_batch"] = total
        return result

    trainer._generate, trainer._generate_and_score_completions = generate, faulty
    yield


def of_all(tensor):
    """The sum over the ranks."""
    import torch

    tensor = tensor.clone()
    torch.distributed.all_reduce(tensor)
    return tensor


def counting(change):
    """Plants another count where the trainer counts: `change(result)` gives that of one rank."""

    def changed(result, _rank):
        result["num_items_in_batch"] = of_all(change(result))

    return generated(changed)


def column(key, change):
    """Plants other values of a column of the generation."""

    def changed(result, _rank):
        result[key] = change(result)

    return generated(changed)


def half_count(result, _rank):
    import torch

    count = result["num_items_in_batch"]
    result["num_items_in_batch"] = count.to(torch.bfloat16).to(torch.int64)
    assert result["num_items_in_batch"] != count, "the count is a bfloat16 number"


def squared_as_mask(trainer, inputs):
    return {"advantages": inputs["advantages"] ** 2}


def without_graph(trainer, own, model, inputs):
    found = own(model, inputs)
    return found.detach() + 0 * found


def kl_reported_only(trainer, own, model, inputs):
    value = own(model, inputs).detach()
    with with_settings(trainer, beta=0.0):
        trained = own(model, inputs)
    return trained + (value - trained.detach())


def gap_of(inputs, log_prob):
    return inputs["ref_per_token_logps"] - log_prob


def k3(inputs, log_prob):
    gap = gap_of(inputs, log_prob)
    return gap.exp() - gap - 1


def policy(trainer, inputs, log_prob):
    old, advantages = inputs.get("old_per_token_logps"), inputs["advantages"].unsqueeze(1)
    ratio = (log_prob - (log_prob.detach() if old is None else old)).exp()
    return -(ratio * advantages).min(ratio.clamp(1 - trainer.epsilon_low, 1 + trainer.epsilon_high) * advantages)


def weighted_kl(trainer, inputs, log_prob, mask):
    terms = policy(trainer, inputs, log_prob) + trainer.beta * k3(inputs, log_prob)
    return of_rows(trainer, terms * inputs["importance_sampling_ratio"], mask)


def kl_of_k2(trainer, inputs, log_prob, mask):
    return of_rows(trainer, policy(trainer, inputs, log_prob) + trainer.beta * gap_of(inputs, log_prob) ** 2 / 2, mask)


def kl_of_rows(trainer, inputs, log_prob, mask):
    count = inputs["num_items_in_batch"] / trainer.accelerator.num_processes
    kl = of_rows(trainer, trainer.beta * k3(inputs, log_prob), mask)
    return (policy(trainer, inputs, log_prob) * mask).sum() / count + kl


def mean_weight(result):
    gap = (result["old_per_token_logps"] - result["sampling_per_token_logps"]) * result["completion_mask"]
    mean = gap.sum(-1, keepdim=True) / result["completion_mask"].sum(-1, keepdim=True)
    return mean.exp().clamp(max=1.05)


def capped(result):
    gap = (result["old_per_token_logps"] - result["sampling_per_token_logps"]) * result["completion_mask"]
    return gap.exp().clamp(max=1.05)


def retokenized(result):
    import torch

    ids = result["completion_ids"].clone()
    ids[::4, 0] = torch.where(ids[::4, 0] == 3, 4, 3)
    return ids


@contextlib.contextmanager
def trained_twice(trainer, _size):
    own = trainer._prepare_inputs

    def prepare(inputs):
        result = dict(own(inputs))
        for key, value in result.items():
            if getattr(value, "ndim", 0) > 0:
                result[key] = value.clone()
                result[key][1] = value[0]
        return result

    trainer._prepare_inputs = prepare
    yield


def without_tool_mask(result, _rank):
    del result["tool_mask"]


def clip_fraction(change):
    """Plants another reported clip fraction: `change(fraction)`."""

    def changed(trainer, own, model, inputs):
        found = own(model, inputs)
        fractions = trainer._metrics["train"]["clip_ratio/region_mean"]
        fractions[-1] = change(fractions[-1])
        return found

    return loss(changed)


@contextlib.contextmanager
def mean_of_means(trainer, size):
    """The metrics of a micro-batch are means over ranks of means over tokens."""
    own = trainer.accelerator.reduce

    def reduce(tensor, reduction="sum"):
        import torch

        if tensor.shape != (2,):
            return own(tensor, reduction=reduction)
        mean = of_all(tensor[0] / tensor[1].clamp(min=1)) / size
        return torch.stack([mean, torch.ones_like(mean)])

    trainer.accelerator.reduce = reduce
    try:
        yield
    finally:
        trainer.accelerator.reduce = own


def placeholders(log_probs):
    log_probs[:8] = 0
    return log_probs


def half(log_probs):
    import torch

    return log_probs.to(torch.bfloat16).float()


def likeliest(log_probs):
    return log_probs.where(log_probs > -2, -0.3 * log_probs / log_probs)


_ROWS = 4
_OF_MICRO_BATCH = items(lambda inputs, count, size: inputs["completion_mask"].sum() * MICRO_BATCHES * size)
_ALL = items(lambda inputs, count, size: of_all(inputs["completion_mask"].sum()) * MICRO_BATCHES)

PLANTED = {
    "SkyRL #1296": (_OF_MICRO_BATCH, LONG),
    "verl #7200, #7225": (items(lambda inputs, count, size: inputs["completion_mask"].sum() * size), LONG),
    "prime-rl #2562": (column("num_items_in_batch", lambda result: result["completion_mask"].sum() * 2), LONG),
    "prime-rl #1961; verl #3332, #3994": (ignored(loss_type="bnpo"), LONG),
    "Liger #1202, TRL #5690": (_OF_MICRO_BATCH, LONG),
    "verl #5625; Trinity-RFT #336; open-instruct #1161": (ignored(loss_type="bnpo"), LONG),
    "slime #365": (both(tools, counting(lambda result: result["completion_mask"].sum())), LONG),
    "TRL #6439": (counted_before, dict(mask_truncated_completions=True, max_completion_length=24, max_steps=1)),
    "slime #657": (
        both(engine(mode="token_mask"), counting(lambda result: (result["importance_sampling_ratio"] * result["completion_mask"] > 0).sum())),
        LONG,
    ),
    "verl #5366, #3741": (scaled(lambda size: _ROWS), dict(loss_type="luspo", **LONG)),
    "verl #5417": (scaled(lambda size: 1 / size), LONG),
    "TRL #6024 (#5619)": (scaled(lambda size: 1 / 2), dict(steps_per_generation=2 * MICRO_BATCHES, **LONG)),
    "ms-swift #10116": (scaled(lambda size: 1 / MICRO_BATCHES), LONG),
    "ms-swift #10084": (full_window, LONG),
    "slime #987": (scaled(lambda size: size), LONG),
    "slime #990; SkyRL #1420": (scaled(lambda size: 1 / 4), LONG),
    "SkyRL #1751": (scaled(lambda size: 4), LONG),
    "Relax #173": (scaled(lambda size: MICRO_BATCHES * size), LONG),
    "slime --calculate-per-token-loss": (
        counting(lambda result: result["completion_mask"].sum(-1).clamp(min=1).sum()),
        dict(mask_truncated_completions=True, max_completion_length=12, max_steps=1),
    ),
    "sums of bfloat16 masks": (generated(half_count), LONG),
    "verl YAML: clip_ratio alone has no effect": (ignored(epsilon_high=0.2), dict(epsilon_high=0.28, **TWO_PASSES)),
    "RLinf #29": (ignored(delta=None), dict(delta=1.4, **TWO_PASSES)),
    "torchforge #571": (given(lambda trainer, inputs: {"old_per_token_logps": None}), TWO_PASSES),
    "TRL #6945": (both(engine(), given(lambda trainer, inputs: {"old_per_token_logps": inputs["sampling_per_token_logps"]})), LONG),
    "SkyRL #1053": (given(lambda trainer, inputs: {"advantages": inputs["advantages"] * 0 + 1, "old_per_token_logps": None}), LONG),
    "TRL and ms-swift CISPO at defaults": (ignored(epsilon_high=0.28), dict(loss_type="cispo", epsilon_high=1.28, **TWO_PASSES)),
    "verl #2506": (given(squared_as_mask), LONG),
    "miles #1966": (loss(without_graph), LONG),
    "unsloth-zoo #1286": (items(lambda inputs, count, size: count * float("nan")), LONG),
    "Liger #1082, #1088; TRL #5031; open-instruct #1735": (
        both(engine(), given(lambda trainer, inputs: {"importance_sampling_ratio": inputs["importance_sampling_ratio"] * 0 + 1})),
        LONG,
    ),
    "TRL #5814": (both(engine(mode="sequence_truncate"), column("importance_sampling_ratio", mean_weight)), LONG),
    "arcee NeMo-RL #24": (both(engine(mode="token_mask"), column("importance_sampling_ratio", capped)), LONG),
    "ms-swift: weight on the KL term": (both(engine(), own_loss(weighted_kl)), dict(use_bias_correction_kl=False, **KL)),
    "verl-agent, Flash-RL configurations": (
        both(
            engine(correction=False),
            loss(lambda trainer, own, model, inputs: weighed(trainer, own, model, inputs)),
        ),
        LONG,
    ),
    "SkyRL #1353": (loss(kl_reported_only), dict(**KL)),
    "NeMo-RL #2506": (ignored(use_bias_correction_kl=False), dict(use_bias_correction_kl=True, num_iterations=2, **KL)),
    "RLinf #129": (own_loss(kl_of_k2), dict(use_bias_correction_kl=False, num_iterations=2, **KL)),
    "SkyRL: KL denominator": (own_loss(kl_of_rows), dict(beta=0.5, use_bias_correction_kl=False, **TWO_PASSES)),
    "TRL #5224, #5238, #5239": (column("completion_ids", retokenized), LONG),
    "rLLM #816": (engine(placeholders), LONG),
    "slime #1995": (engine(lambda log_probs: log_probs * 0), LONG),
    "slime #245": (engine(half), LONG),
    "prime-rl #2975": (trained_twice, LONG),
    "NeMo-RL #2176": (both(tools, generated(without_tool_mask)), LONG),
    "AReaL #941": (engine(loads=lambda step: -1), dict(max_completion_length=24, max_steps=2)),
    "miles #1829 (guard)": (engine(loads=lambda step: 0), dict(max_completion_length=24, max_steps=2)),
    "TRL #6789": (engine(lambda log_probs: log_probs + 0.105), LONG),
    "TRL #4159; NeMo-RL #3392; prime-rl #697; verl #3133; slime #557": (engine(lambda log_probs: 1.6 * log_probs), LONG),
    "ms-swift #8427; SkyRL #1367": (engine(lambda log_probs: log_probs.roll(1)), LONG),
    "NeMo-RL #3297": (engine(likeliest), LONG),
    "RLinf #1475": (clip_fraction(lambda fraction: 84 * fraction), TWO_PASSES),
    "mean of means": (mean_of_means, dict(max_completion_length=24, **TWO_PASSES)),
    "SkyRL #1296 (without gradients)": (column("num_items_in_batch", lambda result: result["completion_mask"].sum()), dict(every=2, max_steps=2)),
    "slime #365 (without gradients)": (
        both(tools, counting(lambda result: result["completion_mask"].sum())), dict(every=2, max_completion_length=24, max_steps=2),
    ),
}  # fmt: skip


def weighed(trainer, own, model, inputs):
    gap = inputs["old_per_token_logps"] if inputs.get("old_per_token_logps") is not None else inputs["sampling_per_token_logps"]
    ratio = (gap - inputs["sampling_per_token_logps"]).exp() if gap is not inputs["sampling_per_token_logps"] else 1 + 0.1 * (gap < -2)
    with with_settings(trainer, vllm_importance_sampling_correction=True):
        return own(model, {**inputs, "importance_sampling_ratio": ratio})


# The same settings without a bug.
RIGHT = {
    "long": (None, LONG),
    "tools": (tools, LONG),
    "truncated": (None, dict(mask_truncated_completions=True, max_completion_length=24, max_steps=1)),
    "luspo": (None, dict(loss_type="luspo", **LONG)),
    "windows": (None, dict(steps_per_generation=2 * MICRO_BATCHES, **LONG)),
    "two passes": (None, TWO_PASSES),
    "delta": (None, dict(delta=1.4, **TWO_PASSES)),
    "cispo": (None, dict(loss_type="cispo", epsilon_high=1.28, **TWO_PASSES)),
    "kl": (None, dict(use_bias_correction_kl=True, num_iterations=2, **KL)),
    "kl in dapo": (None, dict(beta=0.5, use_bias_correction_kl=False, **TWO_PASSES)),
    "engine": (engine(), LONG),
    "engine, masked": (engine(mode="token_mask"), LONG),
    "engine, sequences": (engine(mode="sequence_truncate"), LONG),
    "engine, uncorrected": (engine(correction=False), LONG),
    "off-policy mask": (None, dict(off_policy_mask_threshold=0.001, loss_type="grpo", beta=0.5, **TWO_PASSES)),
    "off-policy mask of rows": (None, dict(off_policy_mask_threshold=0.001, importance_sampling_level="sequence", loss_type="grpo", **TWO_PASSES)),
    "engine, off-policy mask": (engine(), dict(off_policy_mask_threshold=0.001, **LONG)),
    "engine, kl": (engine(), dict(use_bias_correction_kl=False, **KL)),
    "layout": (None, dict(every=2, max_steps=2)),
}

_AFTER = "The reduction over micro-batches comes after what the hook records, which are values of micro-batches."
NOT_PLANTED = {
    "verl #4852": "TRL divides by the tokens before rejection.",
    "verl #4778": _AFTER,
    "prime-rl loss/mean; SkyRL #1893": _AFTER,
    "verl-agent actor/kl_loss": _AFTER,
    "AReaL #1572": "TRL reports no KL divergence to the old policy.",
    "rLLM #497": "The hook does not record the reported mismatch.",
    "slime #2114; SkyRL #1633": "The hook does not record the reported KL term.",
}
