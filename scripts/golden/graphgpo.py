"""Runs GraphGPO's own functions on the CPU in float32 and writes what they give as golden batches. Only the data is kept.

    PYTHONPATH=deploy/capture python scripts/golden/graphgpo.py SOURCES test/golden/graphgpo.json.gz

published.py says what SOURCES holds. Needs torch and numpy, nothing else.
"""

import contextlib
import io
import random
import sys
import uuid
from collections import Counter
from difflib import SequenceMatcher
from types import SimpleNamespace

import numpy as np
import torch
from published import load

from echelon_capture.format import write_batch_file

GIGPO = load("verl-agent", "gigpo/core_gigpo.py", "to_hashable", "episode_norm_reward", "build_step_group", "step_norm_reward", uuid=uuid)
GRAPH = load(
    "verl-agent", "recipe/GraphGPO/core_graph.py", "to_hashable", "nested_defaultdict", "StateCanonicalizer", "ComplexGraph",
    "compute_graph_path_returns", "compute_graphgpo_outcome_advantage", SequenceMatcher=SequenceMatcher, Counter=Counter,
    **{name: GIGPO[name] for name in ("episode_norm_reward", "build_step_group", "step_norm_reward")},
)  # fmt: skip
PENALTY = 0.1
# Edges, success and invalid steps of the worked example.
WORKED = [("AB*", ""), ("ACB*", ""), ("ACAD", ""), ("AADD", "0")]


def worked():
    rows = []
    for t, (states, invalid) in enumerate(WORKED):
        for s, (state, after) in enumerate(zip(states, states[1:])):
            rows.append(("task", f"t{t + 1}", state, None if after == "*" else after, str(s) not in invalid, states[-1] == "*"))
    return rows


def step_numbers(rows):
    """The number of each row's step in its trajectory, which is its second field."""
    seen, steps = Counter(), []
    for row in rows:
        steps.append(seen[row[1]])
        seen[row[1]] += 1
    return steps


def maze(draw, groups, size, places, success):
    """Walks on a random graph; a walk that meets the last place succeeds."""
    rows = []
    for g in range(groups):
        ways = [[draw.randrange(places) for _ in range(3)] for _ in range(places)]
        for t in range(size):
            at, walk, goal = 0, [], False
            while len(walk) < 15 and not goal:
                after = draw.choice(ways[at])
                valid = draw.random() > 0.15
                goal = after == places - 1 and draw.random() < success
                walk.append((f"g{g}", f"g{g}t{t}", f"room {at}", None if goal else f"room {after}", valid))
                at = after
            rows += [(*step, goal) for step in walk]
    return rows


def batch(name, rows, gamma, mode, progress=False, weights=(1.0, 1.0)):
    column = lambda k: np.array([row[k] for row in rows], dtype=object)  # noqa: E731
    lasts = {row[1]: i for i, row in enumerate(rows)}
    rewards = np.array([10.0 if row[5] and lasts[row[1]] == i else 0.0 for i, row in enumerate(rows)])
    data = SimpleNamespace(
        non_tensor_batch={
            "uid": column(0), "traj_uid": column(1), "anchor_obs": column(2), "text_actions": column(2),
            "next_obs": np.array(["success" if row[3] is None else row[3] for row in rows], dtype=object),
            "is_action_valid": column(4), "rewards": rewards, "active_masks": np.ones(len(rows)),
            "episode_rewards": np.array([10.0 if row[5] else 0.0 for row in rows]),
        },
        batch={"input_ids": torch.zeros(1)},
    )  # fmt: skip
    graphs = GRAPH["ComplexGraph"].from_data(GRAPH["ComplexGraph"], data)
    GRAPH["ComplexGraph"].Calculate_all_shortest_path(graphs)
    returns = GRAPH["compute_graph_path_returns"](data, graphs, gamma, progress)
    scores = torch.tensor(data.non_tensor_batch["episode_rewards"], dtype=torch.float32).unsqueeze(-1)
    # apply_invalid_action_penalty of graphgpo_ray_trainer.py, row by row in float32.
    for i, row in enumerate(rows):
        invalid = torch.tensor(1 - np.float32(row[4]), dtype=torch.float32)
        returns[i] -= PENALTY * invalid
        scores[i, 0] -= PENALTY * invalid
    given = data.non_tensor_batch
    with contextlib.redirect_stdout(io.StringIO()):
        advantage, _ = GRAPH["compute_graphgpo_outcome_advantage"](
            scores, returns, torch.ones(len(rows), 1), given["anchor_obs"], given["uid"], given["traj_uid"],
            step_advantage_w=weights[0], episode_advantage_w=weights[1], mode=mode,
        )  # fmt: skip
    return dict(
        name=name, texts=True,
        estimator=dict(
            name="graphgpo", mode=mode, gamma=gamma, invalid_action_penalty=PENALTY, distance="progress" if progress else "absolute",
            step_advantage_weight=weights[0], episode_advantage_weight=weights[1],
        ),
        group=[row[0] for row in rows], trajectory=[row[1] for row in rows], step=step_numbers(rows),
        observation=[row[2] for row in rows], next_observation=[row[3] for row in rows],
        reward=rewards.tolist(), action_valid=[row[4] for row in rows], response_length=[1] * len(rows),
        token_level_reward_sum=scores.double().sum(-1).tolist(), step_reward=returns.tolist(), advantage=advantage[:, 0].tolist(),
    )  # fmt: skip


def main() -> None:
    draw = random.Random(26)
    std, mean = "mean_std_norm", "mean_norm"
    batches = [
        batch("graphgpo-worked", worked(), 0.1, std),
        batch("graphgpo-worked-mean", worked(), 0.1, mean),
        batch("graphgpo-worked-progress", worked(), 0.1, std, progress=True),
        batch("graphgpo-worked-gamma", worked(), 0.2, std),
    ]
    for gamma in (0.1, 0.2, 0.8):
        for mode in (std, mean):
            for progress in (False, True):
                rows = maze(draw, 6, 8, 7, 0.6)
                batches.append(batch(f"graphgpo-{gamma}-{mode}{'-progress' if progress else ''}", rows, gamma, mode, progress))
    batches += [
        batch("graphgpo-no-success", maze(draw, 4, 8, 6, 0.0), 0.1, std),
        batch("graphgpo-step-only", maze(draw, 4, 8, 6, 0.6), 0.1, std, weights=(1.0, 0.0)),
        batch("graphgpo-weights", maze(draw, 4, 8, 6, 0.6), 0.2, std, weights=(0.5, 2.0)),
        batch("graphgpo-equal", maze(draw, 4, 16, 3, 1.0), 0.2, std),
        batch("graphgpo-large", maze(draw, 16, 8, 12, 0.5), 0.1, std),
    ]
    write_batch_file(sys.argv[2], batches, "recipe/GraphGPO of verl-agent 20bd331, torch on CPU, float32")


if __name__ == "__main__":
    main()
