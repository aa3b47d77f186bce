"""A trainer of placement alone: the processes of the recipe in their order, without torch. `python -m … RESULT DATASET
ENVIRONMENTS GPUS NODES`: writes the nodes of its processes to RESULT as JSON, and ends when RESULT is removed."""

import importlib.util
import json
import os
import sys
import time
import types

import ray


def here():
    return ray.get_runtime_context().get_node_id()


class Process:
    def node(self):
        return here()


@ray.remote(num_cpus=1)
class TaskRunner:
    def run(self, result, dataset, environments, gpus, nodes):
        own = [ray.remote(num_cpus=0.5)(Process).remote() for _ in range(environments)]
        places = ray.get([one.node.remote() for one in own])
        # The dataset's own base class loads torch.
        base = types.ModuleType("verl.utils.dataset.rl_dataset")
        base.RLHFDataset = object
        sys.modules[base.__name__] = base
        spec = importlib.util.spec_from_file_location("custom", dataset)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        from verl.single_controller.ray.base import RayResourcePool

        groups = RayResourcePool([gpus] * nodes).get_placement_groups()
        workers = [
            ray.remote(Process).options(
                num_gpus=1, scheduling_strategy=PlacementGroupSchedulingStrategy(group, bundle)
            ).remote() for group in groups for bundle in range(gpus)
        ]  # fmt: skip
        found = {
            "trainer": here(), "environments": places, "groups": [group.id.hex() for group in groups],
            "workers": ray.get([worker.node.remote() for worker in workers]),
        }  # fmt: skip
        with open(f"{result}.part", "w") as file:
            json.dump(found, file)
        os.rename(f"{result}.part", result)
        while os.path.exists(result):
            time.sleep(0.05)


if __name__ == "__main__":
    result, dataset, *counts = sys.argv[1:]
    runner = TaskRunner.remote()
    ray.get(runner.run.remote(result, dataset, *map(int, counts)))
