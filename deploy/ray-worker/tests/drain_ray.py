"""Tests of draining nodes on a Ray of a head and at least two nodes. Run by test_placement_ray.py."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from conftest import until
from ray_nodes import RAY, RayNodes

import ray
from echelon_rayworker.actor import view_cluster
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.uses import JobUses

PATIENCE = 240
USES = JobUses()


def seen(node: str) -> pb.Node:
    return next(one for one in view_cluster("", USES).nodes if one.id == node)


def drain(cluster: RayNodes, node: str, *arguments: str) -> None:
    command = [*RAY, "drain-node", "--address", cluster.address, "--node-id", node,
               "--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "spot notice", *arguments]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_node_names_the_use_of_an_attempt_and_of_another_job(cluster: RayNodes) -> None:
    """A placement group of this process is another user's, one of a process with an experiment in its environment is an attempt's.
    Nothing that the attempt used is another user's, also while Ray releases it after the driver's end. The first test: it needs both
    nodes."""
    from ray.util.placement_group import placement_group, remove_placement_group

    program = """
import sys, ray
ray.init(log_to_driver=False, logging_level="error")
group = ray.util.placement_group([{"GPU": 1, "CPU": 1}], name="gang")
ray.get(group.ready())
print("placed", flush=True)
sys.stdin.read()
"""
    environment = {**os.environ, "ECHELON_EXPERIMENT": "exp-1"}
    attempt = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    others = placement_group([{"GPU": 1}], name="someone else's")
    try:
        assert "placed" in attempt.stdout.readline()
        assert others.wait(PATIENCE)

        def uses() -> list[tuple[str, str, float]]:
            nodes = view_cluster("", USES).nodes
            assert all(node.uses_known for node in nodes)
            return sorted((use.experiment, use.name, use.gpus) for node in nodes for use in node.uses if use.gpus)

        assert until(lambda: uses() == [("", "someone else's", 1.0), ("exp-1", "gang", 1.0)], PATIENCE), uses()
        since = [use.since_unix_ms for node in view_cluster("", USES).nodes for use in node.uses if use.gpus]
        assert all(abs(one / 1000 - time.time()) < 3600 for one in since)
        attempt.kill()
        attempt.wait()
        seen = []
        assert until(lambda: seen.append(uses()) or seen[-1] == [("", "someone else's", 1.0)], PATIENCE), seen
        assert all(use in (("", "someone else's", 1.0), ("exp-1", "gang", 1.0)) for found in seen for use in found), seen
    finally:
        remove_placement_group(others)
        attempt.kill()
        attempt.communicate()
    assert until(lambda: not [use for node in view_cluster("", USES).nodes for use in node.uses], PATIENCE)


def test_a_drained_node_is_reported_with_the_time_until_its_deadline_and_its_death_with_rays_reason(cluster: RayNodes) -> None:
    _, first, second, *_ = cluster.nodes
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    class Holder:
        """Keeps a node busy: Ray terminates a drained node once it is idle. It travels by value."""

        def here(self) -> str:
            return ray.get_runtime_context().get_node_id()

    strategy = NodeAffinitySchedulingStrategy(first.id, soft=False)
    holder = ray.remote(num_gpus=1)(Holder).options(scheduling_strategy=strategy).remote()
    assert ray.get(holder.here.remote(), timeout=PATIENCE) == first.id
    assert (seen(first.id).draining, seen(first.id).drain_remaining_ms) == (False, 0)
    drain(cluster, first.id, "--deadline-remaining-seconds", "600")
    assert until(lambda: seen(first.id).draining, PATIENCE)
    assert 1 <= seen(first.id).drain_remaining_ms <= 600_000
    assert seen(first.id).alive
    assert not seen(second.id).draining
    cluster.kill(first)
    assert until(lambda: not seen(first.id).alive, PATIENCE)
    assert not seen(first.id).draining
    assert seen(first.id).state_reason
