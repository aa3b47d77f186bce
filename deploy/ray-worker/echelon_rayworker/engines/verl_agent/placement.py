"""Keeps a run on the nodes, and within the GPUs and CPUs, that the scheduler allocated to it.

verl makes one placement group per node for its GPU workers, and Ray would put it on the emptiest node. `install` lets the
i-th group go to the i-th allocated node. Environment actors name no node at all: `reserve_cpus` makes a placement group
of the CPUs that are allocated to them, and the trainer's process starts in it with all actors that it makes.

A bundle is bound to its node by the node's own resource (`node:ADDRESS`), which every Ray has. Ray's
`_soft_target_node_id` puts a group elsewhere without a word if the node has no room, and knows no group over several nodes.
"""

from __future__ import annotations

import functools
import importlib
import itertools
from typing import Any, Mapping, Optional

from echelon_rayworker import allocation
from echelon_rayworker.allocation import AllocatedNode

MODULE = "verl.single_controller.ray.base"
# Ray needs a moment to free what the attempt before has held.
ROOM_SECONDS = 120.0
# Of a node's own resource, of which it has one: a thousand bundles find room.
_BOUND = 0.001
_MARK = "_echelon_placement"


class NoRoom(RuntimeError):
    """The nodes cannot take what was allocated there. The message is known to `ending`."""


def reserve_cpus(nodes: list[AllocatedNode], room_seconds: float = ROOM_SECONDS) -> Optional[Any]:
    """The scheduling strategy of a process that runs, with all actors that it makes, on the CPUs which are allocated beside
    those of the GPU workers. None if there are none. Call it in a process that is connected to Ray: the reservation ends
    with its job. Raises NoRoom."""
    from ray.util.placement_group import placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    bundles = [{"CPU": node.cpus_beside, _own_resource(node): _BOUND} for node in nodes if node.cpus_beside > 0]
    if not bundles:
        return None
    group = placement_group(bundles, strategy="PACK", name="echelon environments")
    _wait(group, "CPUs of the environments", nodes, room_seconds)
    return PlacementGroupSchedulingStrategy(group, placement_group_capture_child_tasks=True)


def start_in(strategy: Any) -> None:
    """Lets every actor of this process that names no strategy of its own start with this one."""
    import ray.actor

    original = ray.actor.ActorClass._remote

    @functools.wraps(original)
    def _remote(self: Any, args: Any = None, kwargs: Any = None, **options: Any) -> Any:
        if options.get("scheduling_strategy") is None:
            options["scheduling_strategy"] = strategy
        return original(self, args, kwargs, **options)

    ray.actor.ActorClass._remote = _remote


def install(environment: Mapping[str, str], room_seconds: float = ROOM_SECONDS) -> None:
    """Lets the i-th placement group that verl makes in this process go to the i-th allocated node with GPUs. Without
    allocated nodes, nothing changes. Raises if verl is not as expected: a training that runs elsewhere takes another one's
    GPUs."""
    nodes = [node for node in allocation.nodes_of(environment) if node.gpus > 0]
    base = importlib.import_module(MODULE) if nodes else None
    if base is None or hasattr(base, _MARK):
        return
    original, numbers = base.placement_group, itertools.count()

    @functools.wraps(original)
    def placement_group(bundles: list[dict[str, float]], *arguments: Any, **keywords: Any) -> Any:
        number = next(numbers)
        if number >= len(nodes):
            raise NoRoom(f"the trainer asks for {number + 1} placement groups; {len(nodes)} nodes are allocated")
        node = nodes[number]
        bound = [{**bundle, _own_resource(node): _BOUND} for bundle in bundles]
        group = original(bound, *arguments, **keywords)
        _wait(group, f"{len(bundles)} GPU workers", [node], room_seconds)
        return group

    base.placement_group = placement_group
    setattr(base, _MARK, True)


def _own_resource(node: AllocatedNode) -> str:
    """The resource that this node alone has."""
    import ray

    for known in ray.nodes():
        if known["NodeID"] == node.id and known["Alive"]:
            return f"node:{known['NodeManagerAddress']}"
    raise NoRoom(f"node {node.id}, which is allocated, is not in the cluster any more")


def _wait(group: Any, what: str, nodes: list[AllocatedNode], seconds: float) -> None:
    from ray.util.placement_group import remove_placement_group

    if group.wait(seconds):
        return
    remove_placement_group(group)
    names = ", ".join(node.id for node in nodes)
    raise NoRoom(f"no room for the {what} on the allocated nodes ({names}) for {seconds:.0f} s")
