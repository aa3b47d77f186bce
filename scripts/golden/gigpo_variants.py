"""Runs what other trainers call GiGPO, and GRPO over agents, on the CPU in float32. Only the data is kept.

    PYTHONPATH=deploy/capture python scripts/golden/gigpo_variants.py SOURCES test/golden/gigpo-variants.json.gz

published.py says what SOURCES holds. Needs torch and numpy, nothing else.
"""

import contextlib
import io
import random
import sys
import uuid
from collections import Counter
from types import SimpleNamespace

import numpy as np
import torch
from graphgpo import PENALTY, maze, step_numbers
from published import load

from echelon_capture.format import write_batch_file

DRMAS = load(
    "drmas", "verl/trainer/ppo/core_algos.py", "to_hashable", "summarize_group_size", "compute_gigpo_outcome_advantage",
    "episode_norm_reward", "build_step_group", "step_norm_reward", "compute_grpo_outcome_advantage", uuid=uuid, Counter=Counter,
)  # fmt: skip


class Rows:
    """As much of ROLL's DataProto as its normalisation asks for."""

    def __init__(self, columns, names):
        self.batch = Columns(columns)
        self.non_tensor_batch = names
        self.meta_info = {}

    @staticmethod
    def from_dict(columns):
        return Rows(columns, {})

    def group_by(self, keys):
        names = self.non_tensor_batch[keys]
        return {key: self.take(np.where(names == key)[0]) for key in dict.fromkeys(names)}

    def take(self, rows):
        at = torch.as_tensor(rows)
        return Rows({k: v[at] for k, v in self.batch.items()}, {k: v[rows] for k, v in self.non_tensor_batch.items()})

    @staticmethod
    def concat(parts):
        tensors = {k: torch.cat([part.batch[k] for part in parts]) for k in parts[0].batch}
        names = {k: np.concatenate([part.non_tensor_batch[k] for part in parts]) for k in parts[0].non_tensor_batch}
        return Rows(tensors, names)

    def reorder(self, indices):
        sorted_rows = self.take(indices.numpy())
        self.batch, self.non_tensor_batch = sorted_rows.batch, sorted_rows.non_tensor_batch

    def pop(self, key):
        del self.batch[key]

    def __len__(self):
        return len(next(iter(self.batch.values())))


class Columns(dict):
    device = "cpu"

    @property
    def batch_size(self):
        return next(iter(self.values())).shape


ROLL = load("roll", "roll/pipeline/agentic/utils.py", "agentic_reward_norm", "build_state_group", DataProto=Rows)


def columns_of(rows, penalty):
    """Float32 scores and discounted returns; the penalty is taken off invalid rows."""
    lasts = {row[1]: i for i, row in enumerate(rows)}
    rewards = [10.0 if row[5] and lasts[row[1]] == i else 0.0 for i, row in enumerate(rows)]
    returns, ahead = torch.zeros(len(rows)), {}
    for i in reversed(range(len(rows))):
        ahead[rows[i][1]] = rewards[i] + 0.95 * ahead.get(rows[i][1], 0.0)
        returns[i] = ahead[rows[i][1]]
    scores = torch.tensor([10.0 if row[5] else 0.0 for row in rows])
    for i, row in enumerate(rows):
        if not row[4]:
            scores[i] -= penalty
            returns[i] -= penalty
    return rewards, returns, scores


def kept(name, rows, estimator, penalty, advantage):
    rewards, returns, scores = columns_of(rows, penalty)
    with_returns = {} if estimator["name"] == "grpo" else {"step_reward": returns.tolist()}
    return dict(
        name=name, texts=True, estimator=dict(gamma=0.95, invalid_action_penalty=penalty, **estimator),
        group=[row[0] for row in rows], trajectory=[row[1] for row in rows], step=step_numbers(rows), observation=[row[2] for row in rows],
        reward=rewards, action_valid=[row[4] for row in rows], response_length=[1] * len(rows),
        token_level_reward_sum=scores.double().tolist(), advantage=advantage.tolist(), **with_returns,
    )  # fmt: skip


def drmas(name, rows, mode, by_agent):
    _, returns, scores = columns_of(rows, PENALTY)
    mask = torch.ones(len(rows), 1)
    uid, trajectory, anchor = (np.array([row[k] for row in rows], dtype=object) for k in range(3))
    with contextlib.redirect_stdout(io.StringIO()):
        gigpo, _ = DRMAS["compute_gigpo_outcome_advantage"](
            scores[:, None].clone(), returns.clone(), mask, anchor, uid, trajectory, mode=mode, group_by_agent_id=by_agent,
        )  # fmt: skip
        grpo, _ = DRMAS["compute_grpo_outcome_advantage"](
            scores[:, None].clone(), mask, uid, trajectory, norm_adv_by_std_in_grpo=mode == "mean_std_norm", group_by_agent_id=by_agent,
        )  # fmt: skip
    yield kept(
        f"drmas-gigpo-{name}", rows, dict(name="gigpo", mode=mode, statistics="rows" if by_agent else "first-row"), PENALTY, gigpo[:, 0]
    )
    divided = mode == "mean_std_norm"
    form = dict(name="grpo", normalize_by_std=divided, statistics="rows" if by_agent else "trajectory-mean")
    yield kept(f"drmas-grpo-{name}", rows, form, PENALTY, grpo[:, 0])


def roll(name, rows, mean, std, params, method="group"):
    """`method` names the types of the step part: those of the setting, or none if only the types are set."""
    _, returns, scores = columns_of(rows, 0.0)
    uid, trajectory, anchor = (np.array([row[k] for row in rows], dtype=object) for k in range(3))
    names = {"traj_group_id": uid, "traj_id": trajectory, "state_hash": anchor}
    norm = lambda x, grouping, m, s: ROLL["agentic_reward_norm"](  # noqa: E731
        Rows({"scores": x.clone()}, dict(x_names(names, x))), SimpleNamespace(grouping=grouping, norm_mean_type=m, norm_std_type=s)
    )
    episode = norm(scores, "traj_group_id", mean, std)
    step = norm(returns, "state_hash", mean if method else None, std if method else None)
    return kept(f"roll-{name}", rows, dict(name="gigpo", **params), 0.0, episode + step)


def x_names(names, x):
    assert all(len(column) == len(x) for column in names.values())
    return names


def main() -> None:
    draw = random.Random(28)
    std, mean = "mean_std_norm", "mean_norm"
    batches = []
    for mode in (std, mean):
        for by_agent in (False, True):
            batches += drmas(f"{mode}-{'agents' if by_agent else 'trajectories'}", maze(draw, 5, 6, 6, 0.5), mode, by_agent)
    guarded = dict(states_over="batch", singleton="zero", guard="zero", guard_above=1e-6)
    batches += [
        roll("mean_std", maze(draw, 5, 6, 6, 0.5), "group", "group", dict(mode=std, **guarded)),
        roll("mean", maze(draw, 5, 6, 6, 0.5), "group", None, dict(mode=mean, states_over="batch", singleton="zero")),
        roll("raw-steps", maze(draw, 5, 6, 6, 0.5), "group", "group", dict(mode="raw", episode_mode=std, **guarded), method=None),
        roll("no-success", maze(draw, 4, 6, 6, 0.0), "group", "group", dict(mode=std, **guarded)),
        roll("equal", maze(draw, 4, 6, 2, 1.0), "group", "group", dict(mode=std, **guarded)),
    ]
    write_batch_file(sys.argv[2], batches, "Dr. MAS 19c632b and ROLL 8eb27cc, torch on CPU, float32")


if __name__ == "__main__":
    main()
