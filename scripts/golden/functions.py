"""Computes advantages by trainers' own functions on the CPU and writes them in the layout of the trainers' dumps.

    python scripts/golden/functions.py DIRECTORY

Run it in an environment made from functions.txt. The values are those of the packages' functions; the files around them are
written here.
"""

import csv
import json
import os
import sys

import numpy as np
import torch

SEED = 20261123


def inputs():
    """Name, rewards by group."""
    make = np.random.default_rng(SEED)
    yield "binary", make.integers(0, 2, (8, 8)).astype(float)
    yield "decimal", make.choice([0.1, 0.35, 0.7, 1.0], (8, 8))
    yield "pairs", make.choice([0.0, 0.1, 0.35], (8, 2))
    yield "equal", np.full((4, 8), 0.35)
    yield "large", 1e6 * make.choice([-1.0, 1.0], (4, 8)) + make.integers(0, 3, (4, 8))
    yield "near", 0.5 + 1e-4 * make.integers(0, 3, (4, 8))
    yield "one-of-many", np.eye(8)


def ms_swift(to):
    """One file a configuration, one line a set of rewards."""
    from swift.rl_core.advantage import compute_advantages

    configurations = {
        "grpo": dict(),
        "grpo-none": dict(scale_rewards="none"),
        "grpo-batch": dict(scale_rewards="batch"),
        "gdpo": dict(scale_rewards="gdpo"),
        "rloo": dict(advantage_estimator="rloo", scale_rewards="none"),
        "rloo-group": dict(advantage_estimator="rloo", scale_rewards="group"),
        "reinforce-plus-plus": dict(advantage_estimator="reinforce_plus_plus", scale_rewards="batch"),
    }
    weights = torch.tensor([1.0, 0.3])
    for name, configuration in configurations.items():
        folder = os.path.join(to, "ms-swift", name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "completions.jsonl"), "w") as file:
            for step, (_, rewards) in enumerate((n, r) for n, r in inputs() if r.shape[1] == 8):
                groups, size = rewards.shape
                first = torch.tensor(rewards, dtype=torch.float32).view(-1)
                second = (torch.arange(first.numel()) % 5).float() / 7
                second[::6] = torch.nan
                per_function = torch.stack([first, second], dim=1)
                advantages, _ = compute_advantages(per_function, weights, size, **configuration)
                prompts = [f"prompt {step}.{g}" for g in range(groups) for _ in range(size)]
                table = {
                    "step": [str(step + 1)] * len(prompts), "prompt": prompts, "completion": ["…"] * len(prompts),
                    "accuracy": first.tolist(), "format": second.tolist(), "advantages": advantages.tolist(),
                    "solution": ["…"] * len(prompts),
                }
                file.write(json.dumps(table, ensure_ascii=False) + "\n")
        settings = {"num_generations": 8, "reward_weights": [1.0, 0.3], "advantage_estimator": "grpo", "scale_rewards": "group"}
        with open(os.path.join(folder, "args.json"), "w") as file:
            json.dump({**settings, **configuration}, file, indent=1)


def verl(to):
    """One table an estimator: step, group, reward, advantage."""
    from verl.trainer.ppo import core_algos

    functions = {
        "grpo": lambda r, m, i: core_algos.compute_grpo_outcome_advantage(r, m, i),
        "grpo-unscaled": lambda r, m, i: core_algos.compute_grpo_outcome_advantage(r, m, i, norm_adv_by_std_in_grpo=False),
        "rloo": lambda r, m, i: core_algos.compute_rloo_outcome_advantage(r, m, i),
        "grpo-passk": lambda r, m, i: core_algos.compute_grpo_passk_outcome_advantage(r, m, i, config={}),
    }
    os.makedirs(os.path.join(to, "verl"), exist_ok=True)
    for name, function in functions.items():
        with open(os.path.join(to, "verl", f"{name}.csv"), "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["step", "uid", "score", "advantage"])
            for step, (_, rewards) in enumerate(inputs()):
                index = np.array([f"{step}-{g}" for g, row in enumerate(rewards) for _ in row])
                token_rewards = torch.zeros((index.size, 3))
                token_rewards[:, 2] = torch.tensor(rewards.reshape(-1), dtype=torch.float32)
                kept = token_rewards.sum(-1).tolist()
                advantages, _ = function(token_rewards.clone(), torch.ones_like(token_rewards), index)
                for group, reward, advantage in zip(index, kept, advantages[:, 0].tolist()):
                    writer.writerow([step, group, reward, advantage])


if __name__ == "__main__":
    ms_swift(sys.argv[1])
    verl(sys.argv[1])
