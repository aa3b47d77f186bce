"""`python -m echelon_rayworker.engines.verl_agent.cluster`: what Ray holds now, as JSON on stdout.

A process of its own, since connecting to Ray may hang and cannot be undone in a thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from echelon_rayworker import nodes

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


if __name__ == "__main__":
    nodes.connect()
    print(json.dumps(look()))
