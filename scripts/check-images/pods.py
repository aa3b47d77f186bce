"""Reads a RayCluster as KubeRay does: manifests as JSON on stdin, shell assignments on stdout."""

from __future__ import annotations

import json
import shlex
import sys

# What KubeRay 1.7 adds to the parameters of each node (setMissingRayStartParams, generateRayStartCommand).
ADDED = {"metrics-export-port": "8080", "block": "true", "dashboard-agent-listen-port": "52365"}
HEAD = {"dashboard-host": "0.0.0.0"}
# Booleans that keep their value; it drops a false of every other one.
VALUED = {"log-color", "include-dashboard", "include-log-monitor"}
UNITS = {"Gi": 2**30, "Mi": 2**20}


def start_command(group: dict, head: bool, address: str) -> str:
    """The arguments of the container: `ray start` with the group's own parameters before those that KubeRay adds."""
    container = group["template"]["spec"]["containers"][0]
    parameters = {**ADDED, **(HEAD if head else {"address": address}), **group["rayStartParams"]}
    memory = container["resources"]["limits"]["memory"]
    parameters.setdefault("memory", str(int(memory[:-2]) * UNITS[memory[-2:]]))
    parameters.setdefault("num-cpus", str(container["resources"]["requests"]["cpu"]))
    words = []
    for name, value in sorted(parameters.items()):
        if value not in ("true", "false") or name in VALUED:
            words.append(f"--{name}={value}")
        elif value == "true":
            words.append(f"--{name}")
    return f"ulimit -n 65536; ray start {'--head ' if head else ''}{' '.join(words)}"


def main() -> None:
    """Prints HEAD_START, NODE_START, HEAD_PROBE, NODE_PROBE and START_COMMAND."""
    spec = next(one["spec"] for one in json.load(sys.stdin) if one["kind"] == "RayCluster")
    head, node = spec["headGroupSpec"], spec["workerGroupSpecs"][0]
    first, second = head["template"]["spec"]["containers"]
    probe = lambda container: container["readinessProbe"]["exec"]["command"]  # noqa: E731
    for name, value in {
        "HEAD_START": ["/bin/bash", "-c", "--", start_command(head, True, "")],
        "NODE_START": ["/bin/bash", "-c", "--", start_command(node, False, "head:6379")],
        "HEAD_PROBE": probe(first),
        "NODE_PROBE": probe(node["template"]["spec"]["containers"][0]),
        "START_COMMAND": second["command"],
    }.items():
        print(f"{name}=({' '.join(map(shlex.quote, value))})")


if __name__ == "__main__":
    main()
