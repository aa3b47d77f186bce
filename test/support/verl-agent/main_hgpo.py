"""The recipe's program for tests of placement: the launcher, the trainer's process, verl's placement groups and an actor a
GPU, without torch. A training saves its first step, and does the others when the file `go` is in the checkout."""

import importlib.util
import os
import sys
import time
import types

import ray

GATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "go")


@ray.remote
class GpuProcess:
    def update(self):
        return os.getpid()


@ray.remote(num_cpus=1)
class TaskRunner:
    def run(self, values):
        load_dataset(values["data.custom_cls.path"])
        gpus, nodes = int(values["trainer.n_gpus_per_node"]), int(values["trainer.nnodes"])
        workers = start_workers(gpus, nodes)
        folder, steps = values["trainer.default_local_dir"], int(values["trainer.total_epochs"])
        print(f"Total training steps: {steps}")
        done = resume(os.path.join(folder, "latest_checkpointed_iteration.txt"))
        for step in range(done + 1, steps + 1):
            while step > 1 and not os.path.exists(GATE):
                ray.get([worker.update.remote() for worker in workers])
                time.sleep(0.1)
            ray.get([worker.update.remote() for worker in workers])
            save(folder, step, gpus * nodes)
            print(f"step:{step} - actor/lr:0.001", flush=True)


def load_dataset(path):
    """As the recipe loads it; the capture hook, without a trainer to wrap, says so and leaves the training alone."""
    base = types.ModuleType("verl.utils.dataset.rl_dataset")
    base.RLHFDataset = object  # the recipe's own loads torch
    sys.modules[base.__name__] = base
    spec = importlib.util.spec_from_file_location("custom", path.strip("'"))
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def start_workers(gpus, nodes):
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    from verl.single_controller.ray.base import RayResourcePool

    groups = RayResourcePool([gpus] * nodes).get_placement_groups()
    print(f"placement groups: {' '.join(group.id.hex() for group in groups)}", flush=True)
    return [
        GpuProcess.options(num_gpus=1, scheduling_strategy=PlacementGroupSchedulingStrategy(group, bundle)).remote()
        for group in groups for bundle in range(gpus)
    ]  # fmt: skip


def resume(tracker):
    if not os.path.exists(tracker):
        print("Training from scratch", flush=True)
        return 0
    with open(tracker, encoding="ascii") as file:
        step = int(file.read())
    print(f"Setting global step to {step}", flush=True)
    return step


def save(folder, step, world):
    print(f"local_global_step_folder: {folder}/global_step_{step}", flush=True)
    actor = os.path.join(folder, f"global_step_{step}", "actor")
    os.makedirs(actor, exist_ok=True)
    for kind in ("model", "optim", "extra_state"):
        for rank in range(world):
            with open(os.path.join(actor, f"{kind}_world_size_{world}_rank_{rank}.pt"), "wb") as file:
                file.write(b"\0")
    with open(os.path.join(folder, "latest_checkpointed_iteration.txt"), "w", encoding="ascii") as file:
        file.write(str(step))


if __name__ == "__main__":
    ray.get(TaskRunner.remote().run.remote(dict(one.lstrip("+").split("=", 1) for one in sys.argv[1:])))
