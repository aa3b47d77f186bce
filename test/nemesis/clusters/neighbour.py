"""Another user's Ray job: takes and gives back GPUs, reads Ray's own tables and drains nodes, as lines of JSON on stdin say."""

import json
import sys
import time

import ray
from ray._raylet import GcsClient
from ray.util.placement_group import placement_group, placement_group_table, remove_placement_group

PREEMPTION = 2  # DRAIN_NODE_REASON_PREEMPTION of Ray's autoscaler.proto

ray.init(address=sys.argv[1], log_to_driver=False, logging_level="error", namespace="neighbour")
groups = []


def take(gpus: int) -> dict:
    group = placement_group([{"GPU": gpus}])
    if group.wait(3):
        groups.append((group, gpus))
    else:
        remove_placement_group(group)
    return {}


def give(count: int) -> dict:
    for group, _ in groups[:count]:
        remove_placement_group(group)
    del groups[:count]
    return {}


def held() -> dict:
    """What each group has and where; Ray places the groups of a dead node again elsewhere."""
    tables = [(placement_group_table(group), gpus) for group, gpus in groups]
    placed = [(table, gpus) for table, gpus in tables if table["state"] == "CREATED"]
    return {"held": [[table["placement_group_id"], table["bundles_to_node_id"][0], gpus] for table, gpus in placed]}


def nodes() -> dict:
    """Ids by address of the nodes that are alive."""
    return {node["NodeManagerAddress"]: node["NodeID"] for node in ray.nodes() if node["Alive"]}


def drain(node: str, seconds: int) -> dict:
    deadline = int((time.time() + seconds) * 1000) if seconds else 0
    address = ray.get_runtime_context().gcs_address
    return {"accepted": GcsClient(address=address).drain_node(node, PREEMPTION, "spot notice", deadline)[0]}


COMMANDS = {"take": take, "give": give, "held": held, "nodes": nodes, "drain": drain}
print("{}", flush=True)
for line in sys.stdin:
    name, *arguments = json.loads(line)
    print(json.dumps(COMMANDS[name](*arguments)), flush=True)
