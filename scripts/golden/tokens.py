"""Runs the functions of published trainers that give each token its own advantage, and writes what they give as golden data.

    python scripts/golden/tokens.py SOURCES > test/golden/trainers/tokens.json

published.py says what SOURCES holds. Only the data of the functions is kept. Needs torch and numpy, nothing else.
"""

import json
import math
import random
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np
import torch
import torch.nn.functional as F
from published import REPOSITORIES, load, statements

SEED = 23
CASES: list[dict[str, Any]] = []
Case = dict[str, Any]


def inputs() -> list[Case]:
    """Responses padded to one length; rewards at the last token, or with a KL term at each. The first token of the mask is not the
    first of the response, and there are holes in the mask. Padding has reward and value 0."""
    draw = random.Random(SEED)
    # Of its own, so that the other columns are those of before.
    more = random.Random(SEED + 1)
    cases = []
    for name, lengths, kl, scale in (
        ("outcome", [5, 9, 1, 12, 7, 9], 0.0, 1.0),
        ("kl", [11, 3, 8, 14], 0.05, 1.0),
        ("large", [6, 6, 10], 0.3, 1e4),
        ("long", [300, 140, 7], 0.01, 1.0),
    ):
        shape = (len(lengths), max(lengths))
        reward, value, mask = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape)
        for row, length in enumerate(lengths):
            for t in range(length):
                last = t == length - 1
                mask[row, t] = 1 if last else float(draw.random() < 0.85 and t > 0)
                value[row, t] = scale * draw.uniform(-0.2, 1.1)
                reward[row, t] = -kl * scale * abs(draw.gauss(0, 1)) + (scale * float(draw.random() < 0.5) if last else 0)
        extra = probabilities(more, lengths, shape)
        cases.append({"name": name, "lengths": lengths, "reward": reward, "value": value, "mask": mask, **extra})
    return cases


def probabilities(draw: random.Random, lengths: list[int], shape: tuple[int, int]) -> Case:
    """Of the tokens, some nearly certain, with their groups and the reward of a greedy response. The last group has one response."""
    log_prob, squares, weight = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape)
    for row, length in enumerate(lengths):
        for t in range(length):
            log_prob[row, t] = -draw.random() * (1e-6 if draw.random() < 0.2 else 3)
            p = math.exp(log_prob[row, t].item())
            squares[row, t] = p * p + draw.random() * (1 - p) ** 2
            weight[row, t] = draw.uniform(0.2, 2)
    group = [0] * (len(lengths) - 1) + [1]
    baseline = torch.tensor([float(draw.random() < 0.5) for _ in lengths])
    return {"log_prob": log_prob, "squares": squares, "weight": weight, "group": np.array(group), "baseline": baseline}


def tokens_of(case: Case, values: torch.Tensor) -> list[float]:
    return [x for row, length in enumerate(case["lengths"]) for x in values[row, :length].tolist()]


def keep(form: str, case: Case, advantage: torch.Tensor) -> None:
    """The advantages of the mask; 0 elsewhere."""
    CASES.append({"form": form, "input": case["name"], "advantage": tokens_of(case, torch.where(case["mask"] == 1, advantage, 0.0))})


def whitened(advantage: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    dist = SimpleNamespace(all_reduce=lambda tensor, group=None: None)
    return load("slime", "slime/utils/distributed_utils.py", "distributed_masked_whiten", dist=dist)["distributed_masked_whiten"](
        advantage, mask
    )


def verl(each: Callable[[], list[Case]]) -> None:
    names = ("masked_sum", "masked_mean", "masked_var", "masked_whiten")
    functional = SimpleNamespace(**load("verl", "verl/utils/torch_functional.py", *names))
    plus = "compute_reinforce_plus_plus_outcome_advantage"
    space = load("verl", "verl/trainer/ppo/core_algos.py", "compute_gae_advantage_return", plus, verl_F=functional, AlgoConfig=object)
    for case in each():
        given = (case["reward"], case["value"], case["mask"])
        keep("verl/gae", case, space["compute_gae_advantage_return"](*given, 1.0, 1.0)[0])
        keep("verl/gae-0.95", case, space["compute_gae_advantage_return"](*given, 1.0, 0.95)[0])
        for form, gamma in (("verl/reinforce-plus-plus-token", 1.0), ("verl/reinforce-plus-plus-0.99", 0.99)):
            keep(form, case, space[plus](case["reward"], case["mask"], SimpleNamespace(gamma=gamma))[0])


def verl_baselines(each: Callable[[], list[Case]]) -> None:
    names = ("optimal_token_baseline", "multi_turn_optimal_token_baseline")
    functions = [f"compute_{name}_advantage" for name in names]
    remax = "compute_remax_outcome_advantage"
    space = load("verl", "verl/trainer/ppo/core_algos.py", remax, *functions, AlgoConfig=object)
    agent = load("verl-agent", "verl/trainer/ppo/core_algos.py", remax)
    for case in each():
        keep("verl/remax", case, space[remax](case["reward"], case["baseline"], case["mask"])[0])
        keep("verl-agent/remax", case, agent[remax](case["reward"], case["baseline"], case["mask"])[0])
        for form, function in zip(("verl/optimal-token-baseline", "verl/tir-optimal-token-baseline"), functions):
            given = (case["reward"], case["mask"], case["group"], case["log_prob"], case["squares"])
            keep(form, case, space[function](*given)[0])
            keep(f"{form}-weighted", case, space[function](*given, rollout_is_weights=case["weight"])[0])


def verl_agent(each: Callable[[], list[Case]]) -> None:
    names = ("masked_sum", "masked_mean", "masked_var", "masked_whiten")
    functional = SimpleNamespace(**load("verl-agent", "verl/utils/torch_functional.py", *names))
    plus = "compute_reinforce_plus_plus_outcome_advantage"
    space = load("verl-agent", "verl/trainer/ppo/core_algos.py", "compute_gae_advantage_return", plus, verl_F=functional)
    for case in each():
        sums = space["compute_gae_advantage_return"](case["reward"], case["value"], case["mask"], 1.0, 1.0)
        keep("verl-agent/gae", case, sums[0])
        keep("verl-agent/reinforce-plus-plus", case, space[plus](case["reward"], case["mask"], 1.0)[0])


def skyrl(each: Callable[[], list[Case]]) -> None:
    path = "skyrl/backends/skyrl_train/utils/ppo_utils.py"
    plus = "compute_reinforce_plus_plus_outcome_advantage"
    mean = load("skyrl", "skyrl/backends/skyrl_train/utils/torch_utils.py", "masked_mean")["masked_mean"]
    space = load("skyrl", path, "masked_var", "masked_whiten", "compute_gae_advantage_return", plus, masked_mean=mean)
    for case in each():
        keep("skyrl/gae", case, space["compute_gae_advantage_return"](case["reward"], case["value"], case["mask"], 1.0, 1.0)[0])
        keep("skyrl/reinforce-plus-plus-token", case, space[plus](case["reward"], case["mask"], 1.0)[0])


def trl(each: Callable[[], list[Case]]) -> None:
    path = "trl/experimental/ppo/ppo_trainer.py"
    space = load("trl", path, "masked_mean", "masked_var", "masked_whiten")
    for case in each():
        args = SimpleNamespace(gamma=1.0, lam=0.95)
        known = {"rewards": case["reward"], "values": case["value"], "responses": case["reward"], "args": args}
        got = statements("trl", path, "train", "lastgaelam = 0", "advantages = torch.masked_fill", **known,
                         padding_mask=case["mask"] == 0, masked_whiten=space["masked_whiten"])  # fmt: skip
        keep("trl/ppo", case, got["advantages"])


def nemo_rl(each: Callable[[], list[Case]]) -> None:
    utils = load("nemo-rl", "nemo_rl/algorithms/utils.py", "masked_mean", "masked_var")
    path = "nemo_rl/algorithms/advantage_estimator.py"
    known = {name: utils[name] for name in ("masked_mean", "masked_var")}
    made = load("nemo-rl", path, "GeneralizedAdvantageEstimator", **known)["GeneralizedAdvantageEstimator"]
    settings = {"gae_lambda": 0.95, "gae_gamma": 1, "normalize_advantages": True, "gae_lambda_value": None,
                "gae_lambda_policy": None, "length_adaptive_alpha": 0}  # fmt: skip
    loss = SimpleNamespace(use_kl_in_reward=False, reference_policy_kl_penalty=0.0, reference_policy_kl_type="k1")
    for case in each():
        estimator = made(settings, loss)
        advantages, _ = estimator._compute_gae(case["reward"], case["value"], case["mask"])
        keep("nemo-rl/gae", case, estimator._reward_whiten(advantages, case["mask"]))


def openrlhf(each: Callable[[], list[Case]]) -> None:
    path = "openrlhf/trainer/ppo_utils/experience_maker.py"
    space = load("openrlhf", path, "get_advantages_and_returns", "get_cumulative_returns")
    for case in each():
        for form, name in (("openrlhf/gae", "gae"), ("openrlhf/reinforce", "reinforce")):
            advantage = SimpleNamespace(estimator=name, no_std_norm=False)
            if name == "gae":
                sums, _ = space["get_advantages_and_returns"](None, case["value"], case["reward"], case["mask"], 1.0, 1.0)
            else:
                sums = space["get_cumulative_returns"](None, case["reward"], case["mask"], 1.0)
            experience = SimpleNamespace(advantages=sums, action_mask=case["mask"])
            first = "if args.algo.advantage.estimator in ['gae'"
            args = SimpleNamespace(algo=SimpleNamespace(advantage=advantage))
            statements("openrlhf", path, "compute_advantages_and_returns", first, first, args=args, experiences=[experience])
            keep(form, case, experience.advantages)


def slime(each: Callable[[], list[Case]]) -> None:
    space = load("slime", "slime/utils/ppo_utils.py", "chunked_discounted_returns", "chunked_gae", F=F)
    for case in each():
        sums, _ = space["chunked_gae"](case["reward"], case["value"], 1.0, 1.0)
        keep("slime/ppo", case, sums)
        keep("slime/ppo-normalized", case, whitened(sums, case["mask"]))
        returns = space["chunked_discounted_returns"](case["reward"] * case["mask"], 1.0)
        keep("slime/reinforce-plus-plus", case, whitened(returns, case["mask"]))
        sums, _ = space["chunked_gae"](case["reward"], case["value"], 1.0, 0.95)
        keep("slime/ppo-0.95", case, sums)


for run_trainer in (verl, skyrl, trl, nemo_rl, openrlhf, slime, verl_agent, verl_baselines):
    run_trainer(inputs)
columns = [
    {
        "name": case["name"],
        "lengths": case["lengths"],
        "mask": [int(x) for x in tokens_of(case, case["mask"])],
        "reward": tokens_of(case, case["reward"]),
        "value": tokens_of(case, case["value"]),
        "logProb": tokens_of(case, case["log_prob"]),
        "squaredProbabilities": tokens_of(case, case["squares"]),
        "rolloutWeight": tokens_of(case, case["weight"]),
        "group": case["group"].tolist(),
        "rewardBaseline": case["baseline"].tolist(),
    }
    for case in inputs()
]
used = {trainer: f"{REPOSITORIES[trainer][0].replace('+', '/')}@{REPOSITORIES[trainer][1]}"
        for trainer in ("verl", "skyrl", "trl", "nemo-rl", "openrlhf", "slime", "verl-agent")}  # fmt: skip
note = "What published trainers give each token on the CPU. Data only; see scripts/golden/tokens.py."
lines = ",\n".join(json.dumps(case, allow_nan=False) for case in CASES)
given = ",\n".join(json.dumps(one) for one in columns)
print(f'{{"note": {json.dumps(note)}, "torch": "{torch.__version__}", "seed": {SEED}, "commits": {json.dumps(used)}, "inputs": [')
print(f'{given}], "cases": [\n{lines}\n]}}')
