"""`python -m echelon_rayworker.engines.verl_agent.launcher PROGRAM override…`, in the checkout: the recipe's launcher.

Connects to Ray first, with the runtime environment that ECHELON_RUNTIME holds (JSON, taken out of the environment at
once, so that neither the command line nor the recipe's own print of its Ray settings shows a secret), then runs the
program as `python -m` would. The program finds Ray connected and leaves it so; its actors run on the allocated CPUs.
"""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import sys
from typing import Any

from echelon_rayworker import allocation
from echelon_rayworker.engines.verl_agent import placement, process_setup

VARIABLE = "ECHELON_RUNTIME"


def main(arguments: list[str]) -> None:
    program, *overrides = arguments
    runtime = json.loads(os.environ.pop(VARIABLE))
    home = os.getcwd()
    if home not in sys.path:
        sys.path.insert(0, home)
    spec = importlib.util.find_spec(program)
    if spec is None or spec.origin is None:
        sys.exit(f"error: {home} has no {program}: is it a verl-agent checkout with recipe/hgpo?")
    # Ray puts the directory of argv[0] on the search path of every process of the job.
    sys.argv = [spec.origin, *overrides]
    connect(runtime["variables"], runtime["init"])
    if strategy := placement.reserve_cpus(allocation.nodes_of(os.environ)):
        placement.start_in(strategy)
    runpy.run_module(program, run_name="__main__", alter_sys=True)


def connect(variables: dict[str, str], init: dict[str, Any]) -> None:
    """Connects to Ray with these variables for every process of the job; `init`: more of Ray's own arguments."""
    import ray

    try:
        from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

        given = get_ppo_ray_runtime_env()
    except ImportError:
        given = {"env_vars": {}}
    runtime_env: dict[str, Any] = {**given, "env_vars": {**given.get("env_vars", {}), **variables}}
    if variables.keys() & {process_setup.FILE_VARIABLE, process_setup.PANEL_VARIABLE}:
        # By value: other nodes need not have this package.
        ray.cloudpickle.register_pickle_by_value(process_setup)
        runtime_env["worker_process_setup_hook"] = process_setup.load
    address = os.environ.get("RAY_ADDRESS")
    ray.init(**({"address": address} if address else {}), runtime_env=runtime_env, **init)
    print("connected to Ray", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
