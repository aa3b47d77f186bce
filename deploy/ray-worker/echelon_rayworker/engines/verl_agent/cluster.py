"""`python -m echelon_rayworker.engines.verl_agent.cluster`: what Ray holds now, as JSON on stdout.

A process of its own, since connecting to Ray may hang and cannot be undone in a thread.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

MODULE = "echelon_rayworker.engines.verl_agent.cluster"


def state(timeout_seconds: float = 60) -> dict[str, Any]:
    """cpusTotal, cpusAvailable, gpusTotal, gpusAvailable, pendingPlacementGroups, placementGroups, and actors (alive,
    by class; those of this question's own job excepted). Empty where Ray does not answer in time."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", MODULE], capture_output=True, text=True, timeout=timeout_seconds,
            stdin=subprocess.DEVNULL,
        )
        return json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else {}
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return {}


def connect() -> None:
    """Connects to the Ray at RAY_ADDRESS as a job that asks for nothing."""
    import ray

    ray.init(
        address=os.environ.get("RAY_ADDRESS", "auto"),
        namespace="echelon-preflight",
        log_to_driver=False,
        logging_level="error",
    )


def look() -> dict[str, Any]:
    """The state, in a process that is connected."""
    import ray
    from ray._private.state import actors
    from ray.util import placement_group_table

    total, free = ray.cluster_resources(), ray.available_resources()
    own = ray.get_runtime_context().get_job_id()
    alive: dict[str, int] = {}
    for actor in actors().values():
        if actor.get("State") in ("ALIVE", "PENDING_CREATION", "DEPENDENCIES_UNREADY") and actor.get("JobID") != own:
            name = str(actor.get("ActorClassName") or actor.get("Name") or "?")
            alive[name] = alive.get(name, 0) + 1
    groups = [group["state"] for group in placement_group_table().values() if group["state"] != "REMOVED"]
    return {
        "cpusTotal": total.get("CPU", 0.0),
        "cpusAvailable": free.get("CPU", 0.0),
        "gpusTotal": total.get("GPU", 0.0),
        "gpusAvailable": free.get("GPU", 0.0),
        "pendingPlacementGroups": groups.count("PENDING"),
        "placementGroups": len(groups),
        "actors": alive,
    }


def gpus_by_node() -> dict[str, float]:
    """GPUs of each living node that has any, by its address."""
    import ray

    return {
        node["NodeManagerAddress"]: node["Resources"]["GPU"]
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("GPU", 0) > 0
    }


def nodes_that_see(directory: str, timeout_seconds: float = 60) -> dict[str, bool]:
    """Each living node with GPUs, and whether it sees the very directory that is seen here: a file is written here
    and looked for there, by a task that asks for no CPU."""
    import uuid

    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    @ray.remote(num_cpus=0, max_retries=0)
    def sees(path: str) -> bool:
        return os.path.exists(path)

    probe = os.path.join(directory, f".echelon-preflight-{uuid.uuid4().hex}")
    with open(probe, "wb"):
        pass
    try:
        asked = {
            node["NodeManagerAddress"]: sees.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote(probe)
            for node in ray.nodes()
            if node["Alive"] and node["Resources"].get("GPU", 0) > 0
        }
        done, _ = ray.wait(list(asked.values()), num_returns=len(asked), timeout=timeout_seconds) if asked else ([], [])
        return {node: answer in done and ray.get(answer) for node, answer in asked.items()}
    finally:
        os.unlink(probe)


if __name__ == "__main__":
    connect()
    print(json.dumps(look()))
