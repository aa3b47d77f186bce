"""Starts the ray-worker on a Ray cluster, or finds the one that is there.

    RAY_ADDRESS=… python -m echelon_rayworker.start --state-dir DIR [--shared-root DIR] [--listen HOST:PORT] …

prints one line of JSON, ``{"address": …, "version": …, "generation": …}``. Ray's token is taken from its own
variables. On other machines of the cluster the packages must be importable, unless their directories are shared: they are
put on the actor's PYTHONPATH if they are not installed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from typing import Any, Mapping

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from echelon_rayworker.actor import ACTOR_NAME, NAMESPACE, READY_SECONDS, RayWorker
from echelon_rayworker.packages import roots, with_packages
from echelon_rayworker.server import add_server_arguments, options_from

# Calls that may be in work at once; each is short or only waits.
MAX_CONCURRENCY = 16


def ensure_ray_worker(options: Mapping[str, Any], node_id: str = "", replace: bool = False) -> dict[str, str]:
    """Creates or finds the cluster's ray-worker and returns its endpoint. Ray must be connected.

    ``options``: fields of ServerOptions, paths as the actor's node sees them; those of an actor that is there
    already stay as they are. ``node_id``: the node on which it runs and stays (default: this process's node). ``replace``: ends
    the one that is there first; attempts run on."""
    if replace:
        _end_actor()
    environment = {"PYTHONPATH": with_packages(os.environ.get("PYTHONPATH", ""))} if roots() else {}
    actor = ray.remote(RayWorker).options(
        name=ACTOR_NAME,
        namespace=NAMESPACE,
        get_if_exists=True,
        lifetime="detached",
        num_cpus=0,
        max_restarts=-1,
        max_task_retries=-1,
        max_concurrency=MAX_CONCURRENCY,
        scheduling_strategy=NodeAffinitySchedulingStrategy(
            node_id or ray.get_runtime_context().get_node_id(), soft=False
        ),
        runtime_env={"env_vars": environment},
    ).remote(dict(options))
    return json.loads(ray.get(actor.endpoint.remote(), timeout=READY_SECONDS + 60))


def _end_actor() -> None:
    try:
        ray.kill(ray.get_actor(ACTOR_NAME, namespace=NAMESPACE), no_restart=True)
    except ValueError:
        pass


def main() -> None:
    """Connects to the Ray at --ray-address or RAY_ADDRESS and prints the ray-worker's endpoint."""
    parser = argparse.ArgumentParser(prog="python -m echelon_rayworker.start", description=__doc__.split("\n\n")[0])
    add_server_arguments(parser)
    parser.add_argument("--ray-address", default=os.environ.get("RAY_ADDRESS", "auto"))
    parser.add_argument("--node-id", default="", help="Ray's id of the node it runs on (default: this one)")
    parser.add_argument("--replace", action="store_true", help="end the ray-worker that is there first")
    arguments = parser.parse_args()
    options = dataclasses.asdict(options_from(arguments))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(address=arguments.ray_address, namespace=NAMESPACE, log_to_driver=False, logging_level="warning")
    try:
        print(json.dumps(ensure_ray_worker(options, arguments.node_id, arguments.replace)), flush=True)
    finally:
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
