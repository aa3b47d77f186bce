"""Optimizer steps of trainings with TRL's own GRPOTrainer on two ranks (gloo), as its capture hook records them, as echelon-batch/3.

    torchrun --nproc_per_node=2 scripts/golden/step_trl_ranks.py FILE

Run it in an environment made from trl.txt. Both ranks' steps are joined: the denominators are counted by TRL's own collectives.
"""

import os
import sys
import tempfile
import types

import torch
import torch.distributed as dist

sys.path.append(os.path.join(os.path.dirname(__file__), "../../deploy/capture"))

import trl_run
from echelon_capture import ranks, steps, trl_steps
from step_batches import numbers, write

COLUMNS = ("mask", "logProb", "oldLogProb", "lossGradient")
RUNS = {
    "dapo": dict(),
    "dapo, two passes": dict(num_iterations=2),
    "cispo, two passes": dict(loss_type="cispo", epsilon_high=1.28, num_iterations=2),
    "grpo, two passes": dict(loss_type="grpo", num_iterations=2),
    "bnpo": dict(loss_type="bnpo"),
}
CONFIG = dict(
    max_steps=10, learning_rate=1e-2, per_device_train_batch_size=2, gradient_accumulation_steps=4, num_generations=4, logging_strategy="no"
)


def train(config):
    """The steps of this rank."""
    found = []
    steps.capture = types.SimpleNamespace(step=lambda number, rows, build: found.append(build()))
    own = trl_run.GRPOTrainer.train

    def followed(trainer):
        trl_steps.follow_steps(trainer, every=1)
        own(trainer)

    trl_run.GRPOTrainer.train = followed
    trl_run.train("ranks", dict(rewards=[trl_run.decimal], config={**CONFIG, **config}))
    trl_run.GRPOTrainer.train = own
    return found


def joined(name, parts):
    """One step of the steps of all ranks, with columns of the file."""
    whole = ranks.joined(parts)
    offset, tokens = whole["tokens"]["offset"].tolist(), whole["tokens"]
    own = {key: [int(v) for v in tokens[key]] if key == "mask" else numbers(tokens[key].tolist()) for key in COLUMNS if key in tokens}
    return {
        "name": f"{name}, {whole['name']}",
        "step": {**whole["step"], "run": "golden", "reported": {}},
        "microBatch": whole["microBatch"].tolist(),
        "reported": {"advantage": numbers(whole["reported"]["advantage"].tolist())},
        "tokens": {"offset": offset, **own},
    }


def main(path):
    batches = []
    for name, config in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            os.mkdir("run")
            own = train(config)
            parts = [None] * dist.get_world_size()
            dist.all_gather_object(parts, own)
            os.chdir("/")
            batches += [joined(name, list(of_ranks)) for of_ranks in zip(*parts)]
    if dist.get_rank() == 0:
        write(path, batches)
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(os.path.abspath(sys.argv[1]))
