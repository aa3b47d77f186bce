"""Inputs of optimizer steps for the golden values, and their form as batches of echelon-batch/3."""

import gzip
import json

import numpy as np
import torch

SEED = 20261124
WIDTH = 7


class Step:
    """Rows of one optimizer step in padded tensors, split into micro-batches and ranks. All draws come from the seed."""

    def __init__(self, seed, dtype=torch.float32, ranks=1, micro_batches=1, rows=2, spread=0.25, masked_row=False):
        make = torch.Generator().manual_seed(SEED + seed)
        draw = lambda *shape: torch.randn(*shape, generator=make)
        count = ranks * micro_batches * rows
        self.dtype, self.ranks, self.count = dtype, ranks, count
        self.lengths = torch.randint(2, WIDTH + 1, (count,), generator=make)
        self.mask = (torch.arange(WIDTH)[None, :] < self.lengths[:, None]).float()
        # A token inside the row that is not trained, as a tool's is.
        self.mask[0, 1] = 0
        if masked_row:
            self.mask[1] = 0
        old = -draw(count, WIDTH).abs() * 1.5 - 0.01
        self.old = old.to(dtype)
        self.log_prob = (self.old.float() + spread * draw(count, WIDTH)).clamp(max=-1e-3).to(dtype)
        # A few ratios beyond every clip, and an unchanged token.
        self.log_prob[0, 0] = (self.old[0, 0].float() + 1.3).to(dtype)
        self.log_prob[-1, 0] = self.old[-1, 0]
        self.rollout = (self.old.float() + 0.3 * draw(count, WIDTH)).to(dtype)
        self.reference = (self.log_prob.float() + 0.4 * draw(count, WIDTH)).to(dtype)
        self.reference[0, 0] = self.log_prob[0, 0]
        self.advantage = draw(count)
        self.advantage[count // 2] = 0
        self.entropy = draw(count, WIDTH).abs().to(dtype)
        self.micro = torch.arange(count) // rows
        self.layout = [{"rank": k // micro_batches, "index": k % micro_batches} for k in range(ranks * micro_batches)]

    def rows_of(self, k):
        return (self.micro == k).nonzero()[:, 0]

    def batch(self, name, settings, gradient, columns=()):
        """The step as a batch, with the gradient coefficients of the trainer and further columns."""
        flat = lambda x: [value for row, n in zip(x, self.lengths) for value in row[:n]]
        offset = np.concatenate([[0], np.cumsum(self.lengths.numpy())])
        tokens = {
            "offset": offset.tolist(),
            "mask": [int(v) for v in flat(self.mask)],
            "logProb": numbers(flat(self.log_prob)),
            "oldLogProb": numbers(flat(self.old)),
            "lossGradient": numbers(flat(gradient)),
        }
        for key, column in columns:
            tokens[key] = [int(v) for v in flat(column)] if key == "reportedClipped" else numbers(flat(column))
        precision = {} if self.dtype == torch.float32 else {"precision": "bfloat16"}
        return {
            "name": name,
            "step": {**settings, **precision},
            "microBatch": self.micro.tolist(),
            "reported": {"advantage": numbers(self.advantage)},
            "tokens": tokens,
        }


def numbers(values):
    """Shortest decimals that are these float32 numbers."""
    return [float(str(np.float32(float(value)))) if np.isfinite(float(value)) else None for value in values]


def write(path, batches):
    data = json.dumps({"format": "echelon-batch/3", "batches": batches}, separators=(",", ":")).encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(data, 9, mtime=0))
    print(f"{path}: {len(batches)} steps")
