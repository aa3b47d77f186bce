"""Runs the advantage functions of published trainers on the CPU and writes what they give as golden data.

    python scripts/golden/estimators.py SOURCES > test/golden/trainers/estimators.json

published.py says what SOURCES holds. Only the data of the functions is kept. Needs torch and numpy, nothing else.
"""

import ast
import asyncio
import json
import math
import random
import sys
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from published import REPOSITORIES, WHEELS, load, named, source, statements

SIZE = 4


CASES: list[dict[str, Any]] = []


def keep(form: str, case: dict[str, Any], advantage: Any, **more: Any) -> None:
    values = advantage.tolist() if hasattr(advantage, "tolist") else list(advantage)
    number = lambda x: None if math.isnan(x) else x  # noqa: E731
    kept = {"form": form, "case": case["name"], "group": case["group"], "score": [number(x) for x in case["score"]]}
    if case.get("weights"):
        kept["rewards"] = [[number(x) for x in column] for column in case["rewards"]]
        kept["weights"] = case["weights"]
    CASES.append({**kept, "tokens": case["tokens"], "advantage": [number(float(x)) for x in values], **more})


def inputs() -> list[dict[str, Any]]:
    """Groups of SIZE in blocks. Scores are float32 numbers, as every trainer here has them."""
    draw = random.Random(17)
    kinds = {
        "binary": lambda: float(draw.random() < 0.4),
        "decimal": lambda: draw.choice([0.0, 0.1, 0.35, 1.0]),
        "near": lambda: draw.choice([0.5, 0.5002]),
        "spread": lambda: draw.uniform(-3, 5),
        "large": lambda: 1e6 + draw.randrange(3),
    }
    cases = []
    for name, kind in kinds.items():
        score = [float(np.float32(kind())) for _ in range(6 * SIZE)]
        score[:SIZE] = [float(np.float32(x)) for x in ((1, 0, 0, 0) if name == "binary" else (0.35,) * SIZE)]
        group = [i // SIZE for i in range(len(score))]
        tokens = [draw.randrange(1, 30) for _ in score]
        cases.append({"name": name, "score": score, "group": group, "tokens": tokens})
    return cases


def with_missing(case: dict[str, Any]) -> dict[str, Any]:
    score = [math.nan if i % 7 == 3 else x for i, x in enumerate(case["score"])]
    return {**case, "name": f"{case['name']}-missing", "score": score}


def with_singles(case: dict[str, Any]) -> dict[str, Any]:
    group = [*case["group"], 90, 91]
    return {**case, "name": f"{case['name']}-singles", "group": group, "score": [*case["score"], 0.75, -2.0],
            "tokens": [*case["tokens"], 5, 9]}  # fmt: skip


def with_rewards(case: dict[str, Any]) -> dict[str, Any]:
    draw = random.Random(case["name"])
    format_reward = [float(draw.random() < 0.7) for _ in case["score"]]
    return {**case, "rewards": [case["score"], format_reward], "weights": [1.0, 0.5]}


def f32(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float32)


def tokens_of(case: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token-level rewards with the score at the last token, and the mask."""
    longest = max(case["tokens"])
    mask = torch.zeros(len(case["score"]), longest)
    rewards = torch.zeros(len(case["score"]), longest)
    for row, (n, score) in enumerate(zip(case["tokens"], case["score"], strict=True)):
        mask[row, :n] = 1
        rewards[row, n - 1] = score
    return rewards, mask


def verl() -> None:
    functional = load("verl", "verl/utils/torch_functional.py", "masked_sum", "masked_mean", "masked_var", "masked_whiten")
    names = ["grpo_outcome", "gdpo_outcome", "grpo_passk_outcome", "reinforce_plus_plus_baseline_outcome", "rloo_outcome",
             "opo_outcome", "reinforce_plus_plus_outcome", "gpg_outcome", "rloo_vectorized_outcome"]  # fmt: skip
    space = load("verl", "verl/trainer/ppo/core_algos.py", *(f"compute_{name}_advantage" for name in names),
                 verl_F=SimpleNamespace(**functional), AlgoConfig=object)  # fmt: skip
    config = SimpleNamespace(gamma=1.0, get=lambda key, default=None: default)
    for plain in inputs():
        for case in (plain, with_singles(plain)):
            rewards, mask = tokens_of(case)
            index = np.array(case["group"])

            def run(name: str, case: dict[str, Any] = case, **more: Any) -> torch.Tensor:
                rewards, mask = tokens_of(case)
                given = {"token_level_rewards": rewards, "response_mask": mask, "index": np.array(case["group"]), "config": config}
                return space[f"compute_{name}_advantage"](**{**given, **more})[0][:, 0]

            keep("verl/grpo", case, run("grpo_outcome"))
            keep("verl/dr-grpo", case, run("grpo_outcome", norm_adv_by_std_in_grpo=False))
            keep("verl/rloo", case, run("rloo_outcome"))
            keep("verl/rloo-vectorized", case, run("rloo_vectorized_outcome"))
            keep("verl/opo", case, run("opo_outcome"))
            keep("verl/gpg", case, run("gpg_outcome"))
            keep("verl/reinforce-plus-plus-baseline", case, run("reinforce_plus_plus_baseline_outcome"))
            plus = space["compute_reinforce_plus_plus_outcome_advantage"](rewards, mask, config)[0][:, 0]
            keep("verl/reinforce-plus-plus", case, plus)
            del index
        keep("verl/grpo-passk", plain, run("grpo_passk_outcome", plain))
        both = with_rewards(plain)
        keys = {"gdpo_reward_keys": ["a", "b"], "gdpo_reward_weights": both["weights"]}
        _, mask = tokens_of(both)
        batch = {"prompts": torch.zeros(len(mask), 1), "attention_mask": torch.cat([torch.ones(len(mask), 1), mask], 1).long()}
        given = {"a": both["rewards"][0], "b": both["rewards"][1]}
        keep("verl/gdpo", both, run("gdpo_outcome", both, config=keys, batch=batch, non_tensor_batch=given))


def verl_agent() -> None:
    functional = load("verl-agent", "verl/utils/torch_functional.py", "masked_sum", "masked_mean", "masked_var", "masked_whiten")
    names = ["grpo_passk", "reinforce_plus_plus_baseline"]
    space = load("verl-agent", "verl/trainer/ppo/core_algos.py", *(f"compute_{name}_outcome_advantage" for name in names),
                 verl_F=SimpleNamespace(**functional))  # fmt: skip

    def run(name: str, case: dict[str, Any]) -> torch.Tensor:
        rows = np.arange(len(case["score"]))
        return space[f"compute_{name}_outcome_advantage"](*tokens_of(case), np.array(case["group"]), rows)[0][:, 0]

    for plain in inputs():
        keep("verl-agent/grpo-passk", plain, run("grpo_passk", plain))
        for case in (plain, with_singles(plain)):
            keep("verl-agent/reinforce-plus-plus-baseline", case, run("reinforce_plus_plus_baseline", case))


def nanstd_of(trainer: str, path: str) -> Any:
    return load(trainer, path, "nanstd")["nanstd"]


def trl() -> None:
    nanstd = load("trl", "trl/trainer/utils.py", "nanstd")["nanstd"]
    path = "trl/trainer/grpo_trainer.py"

    def grpo(columns: torch.Tensor, weights: list[float], scale: str, aggregation: str) -> torch.Tensor:
        trainer = SimpleNamespace(multi_objective_aggregation=aggregation, reward_weights=f32(weights), scale_rewards=scale,
                                  num_generations=SIZE, reward_funcs=weights)  # fmt: skip
        space = statements("trl", path, "_generate_and_score_completions", "unscorable_mask", "advantages = torch.nan_to_num",
                           self=trainer, rewards_per_func=columns, num_generations=SIZE, device="cpu", nanstd=nanstd)  # fmt: skip
        return space["advantages"]

    def rloo(columns: torch.Tensor, whiten: bool) -> torch.Tensor:
        trainer = SimpleNamespace(reward_weights=f32([1.0]), reward_clip_range=None, beta=0.0, normalize_advantages=whiten)
        space = statements("trl", "trl/trainer/rloo_trainer.py", "_generate_and_score_completions", "unscorable_mask",
                           "advantages = torch.nan_to_num", self=trainer, rewards_per_func=columns, num_generations=SIZE,
                           device="cpu", nanstd=nanstd)  # fmt: skip
        return space["advantages"]

    for plain in inputs():
        for case in (plain, with_missing(plain)):
            columns = f32([case["score"]]).T
            keep("trl/grpo", case, grpo(columns, [1.0], "group", "sum_then_normalize"))
            keep("trl/grpo-batch", case, grpo(columns, [1.0], "batch", "sum_then_normalize"))
            keep("trl/dr-grpo", case, grpo(columns, [1.0], "none", "sum_then_normalize"))
            keep("trl/rloo", case, rloo(columns, False))
            keep("trl/rloo-whitened", case, rloo(columns, True))
            both = with_rewards(case)
            keep("trl/gdpo", both, grpo(f32(both["rewards"]).T, both["weights"], "group", "normalize_then_sum"))


def ms_swift() -> None:
    for path in ("swift/utils/torch_utils.py", "swift/utils/utils.py"):
        try:
            nanstd = nanstd_of("ms-swift", path)
            break
        except (SystemExit, StopIteration):
            continue
    run = load("ms-swift", "swift/rl_core/advantage.py", "compute_advantages", nanstd=nanstd)["compute_advantages"]
    forms = {
        "grpo": ("grpo", "group"), "grpo-batch": ("grpo", "batch"), "dr-grpo": ("grpo", "none"), "rloo": ("rloo", "none"),
        "rloo-group": ("rloo", "group"), "rloo-batch": ("rloo", "batch"),
        "reinforce-plus-plus": ("reinforce_plus_plus", "batch"),
        "reinforce-plus-plus-group": ("reinforce_plus_plus", "group"),
    }  # fmt: skip
    for plain in inputs():
        for name, (estimator, scale) in forms.items():
            keep(f"ms-swift/{name}", plain, run(f32([plain["score"]]).T, f32([1.0]), SIZE, estimator, scale)[0])
        for case in (plain, with_missing(plain)):
            keep("ms-swift/grpo", case, run(f32([case["score"]]).T, f32([1.0]), SIZE, "grpo", "group")[0])
            both = with_rewards(case)
            keep("ms-swift/gdpo", both, run(f32(both["rewards"]).T, f32(both["weights"]), SIZE, "grpo", "gdpo")[0])


def nemo_rl() -> None:
    baseline = load("nemo-rl", "nemo_rl/algorithms/utils.py", "calculate_baseline_and_std_per_prompt")
    space = load("nemo-rl", "nemo_rl/algorithms/advantage_estimator.py", "GRPOAdvantageEstimator", "GDPOAdvantageEstimator",
                 "ReinforcePlusPlusAdvantageEstimator", get_gdpo_reward_component_keys=lambda batch: sorted(batch),
                 calculate_baseline_and_std_per_prompt=baseline["calculate_baseline_and_std_per_prompt"])  # fmt: skip
    loss = SimpleNamespace(use_kl_in_reward=False, reference_policy_kl_penalty=0.0, reference_policy_kl_type="k1")
    for plain in inputs():
        for case in (plain, with_singles(plain)):
            prompts = torch.tensor([[g] for g in case["group"]])
            _, mask = tokens_of(case)
            for form, normalize in (("grpo", True), ("rloo", False)):
                config = SimpleNamespace(use_leave_one_out_baseline=True, normalize_rewards=normalize, reward_weights=None)
                got = space["GRPOAdvantageEstimator"](config, loss).compute_advantage(prompts, f32(case["score"]), mask)
                keep(f"nemo-rl/{form}", case, got[:, 0])
            config = SimpleNamespace(minus_baseline=True)
            plus = space["ReinforcePlusPlusAdvantageEstimator"](config, loss)
            keep("nemo-rl/reinforce-plus-plus", case, plus.compute_advantage(prompts, f32(case["score"]), mask)[:, 0])
        both = with_rewards(plain)
        prompts = torch.tensor([[g] for g in both["group"]])
        _, mask = tokens_of(both)
        config = SimpleNamespace(use_leave_one_out_baseline=True, normalize_rewards=True, reward_weights=both["weights"])
        parts = {"reward/a": f32(both["rewards"][0]), "reward/b": f32(both["rewards"][1])}
        got = space["GDPOAdvantageEstimator"](config, loss).compute_advantage(prompts, None, mask, parts)
        keep("nemo-rl/gdpo", both, got[:, 0])


def slime() -> None:
    post = load("slime", "slime/ray/rollout.py", "_post_process_rewards")["_post_process_rewards"]
    dist = SimpleNamespace(all_reduce=lambda tensor, group=None: None)
    whiten = load("slime", "slime/utils/distributed_utils.py", "distributed_masked_whiten", dist=dist)
    for case in inputs():
        def rewards(estimator: str, normalize: bool, case: dict[str, Any] = case) -> list[float]:
            args = SimpleNamespace(advantage_estimator=estimator, rewards_normalization=True, n_samples_per_prompt=SIZE,
                                   rollout_batch_size=len(case["score"]) // SIZE, grpo_std_normalization=normalize)  # fmt: skip
            samples = [SimpleNamespace(get_reward_value=lambda _args, x=x: x) for x in case["score"]]
            return post(SimpleNamespace(custom_reward_post_process_func=None, args=args), samples)[1]

        keep("slime/grpo", case, rewards("grpo", True))
        keep("slime/dr-grpo", case, rewards("grpo", False))
        centred = f32(rewards("reinforce_plus_plus_baseline", True))
        flat = torch.cat([centred[row].repeat(n) for row, n in enumerate(case["tokens"])])
        white = whiten["distributed_masked_whiten"](flat, torch.ones_like(flat))
        first = [sum(case["tokens"][:row]) for row in range(len(case["tokens"]))]
        keep("slime/reinforce-plus-plus-baseline", case, white[first])


def openrlhf() -> None:
    path = "openrlhf/trainer/ppo_utils/experience_maker.py"
    for case in inputs():
        for form, name in (("group-norm", "group_norm"), ("dr-grpo", "dr_grpo"), ("rloo", "rloo"), ("reinforce-baseline", "reinforce_baseline")):
            advantage = SimpleNamespace(estimator=name, no_std_norm=False)
            args = SimpleNamespace(rollout=SimpleNamespace(n_samples_per_prompt=SIZE), algo=SimpleNamespace(advantage=advantage))
            indices = torch.arange(len(case["score"]))
            space = statements("openrlhf", path, "compute_advantages_and_returns", "rewards = rewards.reshape(-1, args",
                               "rewards = rewards.reshape(-1)[indices]", rewards=f32(case["score"]), args=args, indices=indices,
                               exp_len=[len(indices)], experiences=[SimpleNamespace(info={})])  # fmt: skip
            shaped = space["rewards"][0].clamp(min=-10, max=10)
            if name == "reinforce_baseline":
                _, mask = tokens_of(case)
                experience = SimpleNamespace(advantages=shaped.unsqueeze(-1) * mask, action_mask=mask)
                statements("openrlhf", path, "compute_advantages_and_returns", "if args.algo.advantage.estimator in ['gae'",
                           "if args.algo.advantage.estimator in ['gae'", args=args, experiences=[experience])  # fmt: skip
                shaped = experience.advantages[:, 0]
            if name != "reinforce_baseline" or float(space["rewards"][0].abs().max()) < 10:
                keep(f"openrlhf/{form}", case, shaped)


def prime_rl() -> None:
    folder = "src/prime_rl/orchestrator/algo"
    for form, file, name in (("grpo", "grpo", "GRPOAlgorithm"), ("max-rl", "max_rl", "MaxRLAlgorithm"), ("rae", "rae", "RAEAlgorithm")):
        for case in inputs():
            given: list[float] = []
            known = {"iter_trainable_traces": lambda traces: [(None, trace) for trace in traces],
                     "assign_advantages": lambda trace, value: given.append(value), "vf": SimpleNamespace(Episode=object)}  # fmt: skip
            made = load("prime-rl", f"{folder}/{file}.py", name, **known)[name].__new__
            algorithm = made(load("prime-rl", f"{folder}/{file}.py", name, **known)[name])
            algorithm.length_penalty, algorithm.decay, algorithm.baselines = None, 0.95, defaultdict(float)
            for start in range(0, len(case["score"]), SIZE):
                group = case["score"][start : start + SIZE]
                traces = [SimpleNamespace(reward=x, agent=SimpleNamespace(name=str(start))) for x in group]
                asyncio.run(algorithm.score_group(traces))
            keep(f"prime-rl/{form}", case, given)


def skyrl() -> None:
    names = ["compute_grpo_outcome_advantage", "compute_rloo_outcome_advantage", "compute_maxrl_advantage"]
    space = load("skyrl", "skyrl/backends/skyrl_train/utils/ppo_utils.py", *names)
    sys.modules.setdefault("loguru", SimpleNamespace(logger=SimpleNamespace(warning=lambda text: None)))
    for plain in inputs():
        for case in (plain, with_singles(plain)):
            for form, name in (("grpo", names[0]), ("rloo", names[1]), ("maxrl", names[2])):
                rewards, mask = tokens_of(case)
                got = space[name](token_level_rewards=rewards, response_mask=mask, index=np.array(case["group"]))
                keep(f"skyrl/{form}", case, got[0][:, 0])


def roll() -> None:
    run = load("roll", "roll/utils/functionals.py", "reward_norm")["reward_norm"]
    for case in inputs():
        keep("roll/grpo", case, run(f32(case["score"]), SIZE, {}, "group", "group"))


def areal() -> None:
    known = {"dist": SimpleNamespace(is_initialized=lambda: False)}
    made = load("areal", "areal/utils/data.py", "Normalization", **known)["Normalization"]
    for case in inputs():
        for form, level in (("grpo", "group"), ("grpo-batch", "batch")):
            config = SimpleNamespace(mean_level="group", mean_leave1out=False, std_level=level, std_unbiased=True,
                                     group_size=SIZE, eps=1e-5)  # fmt: skip
            keep(f"areal/{form}", case, made(config)(f32(case["score"])))


def rllm() -> None:
    names = ["calculate_grpo_advantages_per_group", "calculate_rloo_advantages_per_group"]
    space = load("rllm", "rllm/trainer/algorithms/rl_algo.py", *names)
    plus = load("rllm", "rllm/trainer/algorithms/advantage.py", "calculate_reinforce_plus_plus_baseline_advantages")
    for plain in inputs():
        for case in (plain, with_singles(plain)):
            groups: dict[int, list[float]] = defaultdict(list)
            for g, x in zip(case["group"], case["score"], strict=True):
                groups[g].append(x)
            arrays = [np.array(values) for values in groups.values()]
            for form, name in (("grpo", names[0]), ("rloo", names[1])):
                keep(f"rllm/{form}", case, np.concatenate([space[name](values)[0] for values in arrays]), precision="float64")
            white = plus["calculate_reinforce_plus_plus_baseline_advantages"](arrays, None)[0]
            keep("rllm/reinforce-plus-plus-baseline", case, np.concatenate(white), precision="float64")


def groups_of(case: dict[str, Any]) -> list[list[float]]:
    groups: dict[int, list[float]] = defaultdict(list)
    for g, x in zip(case["group"], case["score"], strict=True):
        groups[g].append(x)
    return list(groups.values())


def tinker() -> None:
    run = load("tinker", "tinker_cookbook/rl/data_processing.py", "compute_advantages")["compute_advantages"]
    for plain in inputs():
        for case in (plain, with_singles(plain)):
            groups = [SimpleNamespace(get_total_rewards=lambda values=values: values) for values in groups_of(case)]
            keep("tinker/grpo", case, torch.cat(run(groups)))


def art() -> None:
    """Of the loop over groups, the statements before tokens come in."""
    zero_variance = load("art", "art/utils/grpo.py", "rewards_have_zero_variance", Sequence=list)
    [loop] = named(source("art", "art/preprocessing/tokenize.py"), "tokenize_trajectory_groups").body
    inner = next(node for node in loop.body if isinstance(node, ast.For))
    before = [node for node in loop.body[: loop.body.index(inner)] if isinstance(node, ast.Assign | ast.If)]
    inner.body = [*inner.body[:2], ast.parse("given.append(advantage)").body[0]]
    code = "\n".join(ast.unparse(node) for node in (*before[1:], inner))
    for plain in inputs():
        for case in (plain, with_singles(plain)):
            given: list[float] = []
            for values in groups_of(case):
                group = [SimpleNamespace(reward=x) for x in values]
                exec(code, {**zero_variance, "group": group, "scale_rewards": True, "given": given})
            keep("art/grpo", case, given, precision="float64")


for run_trainer in (trl, ms_swift, verl, nemo_rl, slime, openrlhf, prime_rl, skyrl, roll, areal, rllm, tinker, art, verl_agent):
    run_trainer()
commits = {trainer: f"{repository.replace('+', '/')}@{commit}" for trainer, (repository, commit) in REPOSITORIES.items()} | WHEELS
note = "What the advantage functions of published trainers give on the CPU. Data only; see scripts/golden/estimators.py."
lines = ",\n".join(json.dumps(case, allow_nan=False) for case in CASES)
print(f'{{"note": {json.dumps(note)}, "torch": "{torch.__version__}", "numpy": "{np.__version__}", "commits": {json.dumps(commits)}, "cases": [\n{lines}\n]}}')
