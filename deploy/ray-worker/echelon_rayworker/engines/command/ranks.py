"""Where the program runs: in a Ray actor on each allocated node, or here if no nodes are allocated.

Every rank has the variables that torchrun reads (``PET_…``, ``MASTER_ADDR``, ``MASTER_PORT``), and ECHELON_NODE_RANK and
ECHELON_NODE_COUNT. RANK and WORLD_SIZE are left to the program.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping

from echelon_rayworker import allocation, packages, programvariables
from echelon_rayworker.launch import VARIABLES_VARIABLE
from echelon_rayworker.secretstore import NAMES_VARIABLE

from .node import Node, Output
from .settings import NotStartable, Settings

TAKE_SECONDS = 0.5
# Ray needs a moment to free what the attempt before has held.
ROOM_SECONDS = 120.0
# Ray's own time for a runtime environment; pip and conda may load gigabytes.
_SETUP_SECONDS = 1800
# Calls of one actor at a time: one waits for output, one may stop the program.
_CALLS = 3
_OURS = ("ECHELON_EXPERIMENT", "ECHELON_ATTEMPT", "ECHELON_SPOOL", "RAY_ADDRESS", allocation.VARIABLE, programvariables.VARIABLE)


class Rank:
    """The program on one node, as the driver sees it."""

    def __init__(self, take: Callable[[], Output], stop: Callable[[], None]) -> None:
        self.take = take
        """Waits a little for output; raises if the node or its process is lost."""
        self.stop = stop
        """Asks the program to end."""


def start(settings: Settings, command: list[str], environment: Mapping[str, str]) -> list[Rank]:
    """Starts the program everywhere. NotStartable if an allocated node has no room."""
    nodes = allocation.nodes_of(environment)
    if not nodes:
        if settings.runtime_env:
            raise NotStartable("runtimeEnv needs allocated nodes, because Ray sets it up there")
        return [_start_here(settings, command, environment)]
    chosen = nodes[:1] if settings.start == "once" else [node for node in nodes if node.gpus > 0] or nodes
    return _start_in_ray(settings, command, environment, chosen)


def variables_of(rank: int, count: int, master: tuple[str, int], gpus: float) -> dict[str, str]:
    """The variables of one rank."""
    address, port = master
    own = {"NNODES": count, "NODE_RANK": rank, "MASTER_ADDR": address, "MASTER_PORT": port}
    return {
        **{f"PET_{name}": str(value) for name, value in own.items()},
        "PET_NPROC_PER_NODE": str(max(1, int(gpus))),
        "MASTER_ADDR": address,
        "MASTER_PORT": str(port),
        "ECHELON_NODE_RANK": str(rank),
        "ECHELON_NODE_COUNT": str(count),
    }


def _start_here(settings: Settings, command: list[str], environment: Mapping[str, str]) -> Rank:
    node = Node()
    own = variables_of(0, 1, node.place(), 0)
    node.start(command, {**environment, **own}, settings.directory)
    return Rank(lambda: node.take(TAKE_SECONDS), node.stop)


def _start_in_ray(
    settings: Settings, command: list[str], environment: Mapping[str, str], nodes: list[allocation.AllocatedNode]
) -> list[Rank]:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray.init(address=environment.get("RAY_ADDRESS", "auto"), log_to_driver=False, logging_level="warning")
    python_path = with_staged(settings.attempt_dir, environment.get("PYTHONPATH", ""))
    reserves = settings.start == "per-node"
    names = ", ".join(node.id for node in nodes)
    own, room = settings.runtime_env, ROOM_SECONDS
    if own:
        own, room = {**own, "config": {"setup_timeout_seconds": _SETUP_SECONDS}}, room + _SETUP_SECONDS
    actor_class = ray.remote(max_restarts=0, max_concurrency=_CALLS)(Node)
    actors = [
        actor_class.options(
            num_cpus=node.cpus if reserves else 0,
            num_gpus=node.gpus if reserves else 0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
            runtime_env={**own, "env_vars": {"PYTHONPATH": python_path}},
        ).remote()
        for node in nodes
    ]
    try:
        places = ray.get([actor.place.remote() for actor in actors], timeout=room)
    except ray.exceptions.GetTimeoutError:
        raise NotStartable(f"no room for the program on the allocated nodes ({names}) for {room:.0f} s") from None
    except ray.exceptions.RuntimeEnvSetupError as error:
        raise NotStartable(f"Ray could not set up the runtimeEnv {dict(settings.runtime_env)}: {str(error)[-2000:]}") from None
    except ray.exceptions.ActorUnschedulableError:
        raise NotStartable(f"one of the allocated nodes ({names}) is not in the cluster any more") from None
    handed = {**_handed_on(environment), "PYTHONPATH": python_path}
    ray.get([
        actor.start_in_ray.remote(
            command, {**handed, **variables_of(rank, len(nodes), places[0], node.gpus)}, settings.directory, reserves
        )
        for rank, (actor, node) in enumerate(zip(actors, nodes))
    ])  # fmt: skip
    return [_rank(ray, actor) for actor in actors]


def _rank(ray: Any, actor: Any) -> Rank:
    return Rank(lambda: ray.get(actor.take.remote(TAKE_SECONDS)), lambda: ray.get(actor.stop.remote()))


def _handed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of the plan and its secrets, which go into no metadata of Ray."""
    lists = [environment.get(name, "").split(",") for name in (NAMES_VARIABLE, VARIABLES_VARIABLE)]
    names = {*_OURS, NAMES_VARIABLE}.union(*lists)
    return {name: environment[name] for name in names if environment.get(name)}


def with_staged(attempt_dir: str, python_path: str) -> str:
    """A PYTHONPATH with a copy of the packages that every node sees."""
    target, sources = os.path.join(attempt_dir, "packages"), packages.roots()
    for name in packages.NAMES:
        packages.copy(name, target)
    return os.pathsep.join(filter(None, (target, *(one for one in python_path.split(os.pathsep) if one not in sources))))
