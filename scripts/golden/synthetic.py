"""Writes dumps in the documented layout of trainers whose packages cannot be installed. Synthetic: no code of the trainers runs.

    python scripts/golden/synthetic.py DIRECTORY

Needs torch and pyarrow.
"""

import os
import sys

import torch

REWARDS = [[1.0, 0.0, 0.0, 0.0], [0.35, 0.1, 0.35, 1.0], [1.0, 1.0, 1.0, 1.0]]


def slime(to):
    """slime's `--dump-details`: one rollout file and one training file for each of two rollouts."""
    for folder in ("rollout_data", "train_data"):
        os.makedirs(os.path.join(to, "slime", folder), exist_ok=True)
    for rollout in range(2):
        rewards = torch.tensor(REWARDS)
        normalised = (rewards - rewards.mean(-1, keepdim=True)) / (rewards.std(-1, keepdim=True) + 1e-6)
        samples = [
            dict(
                group_index=rollout * 3 + g, index=rollout * 12 + g * 4 + i, rollout_id=None, prompt=f"prompt {g}", tokens=[1, 2, 3],
                response="…", response_length=2, reward=reward, loss_mask=[1, 1], status="completed", remove_sample=False, metadata={},
            )
            for g, row in enumerate(REWARDS) for i, reward in enumerate(row)
        ]
        torch.save(dict(rollout_id=rollout, samples=samples), os.path.join(to, "slime", "rollout_data", f"{rollout}.pt"))
        trained = [
            dict(
                sample_index=sample["index"], rollout_position=sample["index"], rewards=float(value),
                loss_masks=torch.tensor([0, 1, 1], dtype=torch.int32),
                advantages=torch.stack([torch.zeros(()), value, value]), returns=torch.full((3,), float(value)),
                log_probs=torch.zeros(3, dtype=torch.bfloat16),
            )
            for sample, value in zip(samples, normalised.view(-1))
        ]
        torch.save(
            dict(format_version=2, rollout_id=rollout, samples=trained, raw_reward=None, dp_shards=[[0]]),
            os.path.join(to, "slime", "train_data", f"{rollout}_0.pt"),
        )
    # What the tensor reader is tested with.
    numbers = torch.arange(12, dtype=torch.float32).view(3, 4)
    torch.save(
        dict(
            transposed=numbers.t(), part=numbers[1:, ::2], scalar=torch.tensor(2.5, dtype=torch.float64), half=numbers[0].half(),
            bfloat=numbers[0].bfloat16() / 3, long=torch.tensor([2**40, -1]), flags=torch.tensor([True, False]), empty=torch.zeros(0),
            short=torch.tensor([-3], dtype=torch.int16), nested=[1, [2.5, None], (True,)], other=torch.Size([1, 2]),
            device=torch.device("cpu"),
        ),
        os.path.join(to, "tensors.pt"),
    )


def art(to):
    """ART's trajectories of one step, with zstd as ART compresses them."""
    import pyarrow
    import pyarrow.parquet

    rows = [(group, reward) for group, rewards in enumerate(REWARDS) for reward in rewards]
    message = dict(role="user", content="prompt", trainable=False)
    columns = dict(
        group_index=[group for group, _ in rows], reward=[reward for _, reward in rows], messages=[[message]] * len(rows)
    )
    folder = os.path.join(to, "art", "trajectories", "train")
    os.makedirs(folder, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(columns), os.path.join(folder, "0001.parquet"), compression="zstd")


if __name__ == "__main__":
    slime(sys.argv[1])
    art(sys.argv[1])
