"""Runs G2PO's own functions on the CPU and writes what they give as golden batches. Only the data is kept.

    PYTHONPATH=deploy/capture python scripts/golden/g2po.py SOURCES test/golden/g2po.json.gz

published.py says what SOURCES holds. Needs torch and numpy 2, nothing else. Episode rewards of float64 give the products that numpy 1
gives for float32: its scalars take the format of the larger.
"""

import random
import sys
from types import SimpleNamespace

import numpy as np
import torch
from graphgpo import PENALTY, maze, step_numbers, worked
from published import load

from echelon_capture.format import write_batch_file

G2PO = load(
    "g2po", "g2po/core_g2po.py", "episode_norm_reward", "compute_group_aggregation_values", "compute_step_level_advantage",
    "compute_g2po_outcome_advantage", SUCCESS_REWARD=10.0,
)  # fmt: skip


def batch(name, rows, mode, weight=1.0, form="float64", partial=0.0):
    column = lambda k: np.array([row[k] for row in rows], dtype=object)  # noqa: E731
    lasts = {row[1]: i for i, row in enumerate(rows)}
    rewards = np.array([(10.0 if row[5] else partial) if lasts[row[1]] == i else 0.0 for i, row in enumerate(rows)])
    given = {
        "uid": column(0), "traj_uid": column(1), "anchor_obs": column(2),
        "episode_rewards": np.array([10.0 if row[5] else partial for row in rows], dtype=form),
    }  # fmt: skip
    count = len(rows)
    data = SimpleNamespace(non_tensor_batch=given, batch={"responses": torch.zeros(count, 1)})
    values, nodes, following = G2PO["compute_group_aggregation_values"](data)
    valid = np.array([row[4] for row in rows], dtype=bool)
    scores = torch.tensor(given["episode_rewards"].astype("float32")).unsqueeze(-1)
    # apply_invalid_action_penalty of ray_trainer.py, row by row in float32.
    for i, row in enumerate(rows):
        scores[i, 0] -= PENALTY * torch.tensor(1 - np.float32(row[4]), dtype=torch.float32)
    total = scores.double().sum(-1).tolist()
    advantage, _ = G2PO["compute_g2po_outcome_advantage"](
        scores, values, torch.ones(count, 1), given["uid"], given["traj_uid"], nodes, following, valid, step_advantage_w=weight, mode=mode,
    )  # fmt: skip
    return dict(
        name=name, texts=True,
        estimator=dict(name="g2po", mode=mode, step_advantage_weight=weight, value_format=form, gamma=0.95, invalid_action_penalty=PENALTY),
        group=[row[0] for row in rows], trajectory=[row[1] for row in rows], step=step_numbers(rows), observation=[row[2] for row in rows],
        reward=rewards.tolist(), action_valid=[row[4] for row in rows], response_length=[1] * count,
        token_level_reward_sum=total, advantage=advantage[:, 0].tolist(),
    )  # fmt: skip


def main() -> None:
    draw = random.Random(27)
    std, mean = "mean_std_norm", "mean_norm"
    batches = [batch("g2po-worked", worked(), std), batch("g2po-worked-mean", worked(), mean)]
    for mode in (std, mean):
        for form in ("float64", "float32"):
            batches.append(batch(f"g2po-{mode}-{form}", maze(draw, 6, 8, 7, 0.6), mode, form=form))
    batches += [
        batch("g2po-no-success", maze(draw, 4, 8, 6, 0.0), std),
        batch("g2po-partial", maze(draw, 4, 8, 6, 0.5), std, partial=3.3, form="float32"),
        batch("g2po-weight", maze(draw, 4, 8, 6, 0.6), std, weight=0.5),
        batch("g2po-equal", maze(draw, 4, 16, 3, 1.0), std, form="float32"),
        batch("g2po-large", maze(draw, 16, 8, 12, 0.5), std),
    ]
    write_batch_file(sys.argv[2], batches, "Nala-YN/G2PO b8ffaf5, torch on CPU, float32")


if __name__ == "__main__":
    main()
