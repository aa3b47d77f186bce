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
from echelon_capture import steps, trl_steps
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
    """One step of the steps of all ranks. What TRL counts over the ranks is stated as such."""
    step = parts[0]["step"]
    layout = [{**one, "rank": rank} for rank, part in enumerate(parts) for one in part["step"]["microBatches"]]
    if step["aggregation"]["mode"] == "constant":
        step = {**step, "aggregation": dict(mode="token-mean", scope="global")}
        layout = [
            {**one, "gradientScale": len(parts), "reportedDenominator": round(one["reportedDenominator"] * len(parts))} for one in layout
        ]
    flat = lambda key: [value for part in parts for value in part["tokens"][key].tolist()]
    start, offset, micro, advantage = 0, [0], [], []
    for part in parts:
        micro += [at + start for at in part["microBatch"].tolist()]
        offset += [offset[-1] + at for at in part["tokens"]["offset"].tolist()[1:]]
        advantage += part["reported"]["advantage"].tolist()
        start += len(part["step"]["microBatches"])
    tokens = {key: [int(v) for v in flat(key)] if key == "mask" else numbers(flat(key)) for key in COLUMNS if key in parts[0]["tokens"]}
    return {
        "name": f"{name}, {parts[0]['name']}",
        "step": {**step, "microBatches": layout, "reported": {}},
        "microBatch": micro,
        "reported": {"advantage": numbers(advantage)},
        "tokens": {"offset": offset, **tokens},
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
