"""Times the advantage functions of published trainers on the CPU.

Reads {"rewards": [...], "size": rows per group, "rounds": n} as JSON on standard input and prints, for each function, the median
CPU time in seconds of one call and the advantages. Run it in an environment made from scripts/golden/functions.txt.
"""

import ast
import importlib.metadata
import json
import statistics
import sys
import time
from collections import defaultdict

import numpy as np
import torch
from swift.rl_core.advantage import compute_advantages

torch.set_num_threads(1)
given = json.load(sys.stdin)
rewards = torch.tensor(given["rewards"], dtype=torch.float32)
index = np.array([f"group {row // given['size']}" for row in range(len(rewards))])


def verl_function(name):
    """A function of the installed package as it stands, without the imports of its module."""
    path = importlib.metadata.distribution("verl").locate_file("verl/trainer/ppo/core_algos.py")
    with open(path) as file:
        node = next(n for n in ast.parse(file.read()).body if getattr(n, "name", "") == name)
    node.decorator_list = []
    space = {"torch": torch, "np": np, "defaultdict": defaultdict}
    exec("from __future__ import annotations\n" + ast.unparse(node), space)
    return space[name]


def verl(name, tokens):
    """Rewards at the last of `tokens` tokens, as the trainer has them."""
    mask = torch.ones(len(rewards), tokens)
    function = verl_function(f"compute_{name}_outcome_advantage")

    def run():
        by_token = torch.zeros(len(rewards), tokens)
        by_token[:, -1] = rewards
        start = time.process_time()
        advantages, _ = function(by_token, mask, index)
        return time.process_time() - start, advantages[:, 0]

    return run


def ms_swift():
    columns, weights = rewards.view(-1, 1), torch.ones(1)
    start = time.process_time()
    advantages, _ = compute_advantages(columns, weights, given["size"], advantage_estimator="grpo", scale_rewards="group")
    return time.process_time() - start, advantages


FUNCTIONS = {
    "verl/grpo, 1 token": verl("grpo", 1),
    "verl/grpo, 512 tokens": verl("grpo", 512),
    "verl/rloo, 1 token": verl("rloo", 1),
    "ms-swift/grpo": ms_swift,
}
results = {}
for name, run in FUNCTIONS.items():
    run()
    times, values = zip(*(run() for _ in range(given["rounds"])))
    results[name] = {"seconds": statistics.median(times), "least": min(times), "most": max(times), "advantage": values[0].tolist()}
json.dump(results, sys.stdout)
