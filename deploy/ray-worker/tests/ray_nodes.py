"""A Ray of several nodes on this machine, with logical GPUs. Each node has its own loopback address, so that it has its own
resource `node:ADDRESS`, as on a cluster. Use it in a network namespace with nothing but loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from echelon_rayworker import processes

GCS_PORT = 6390


@dataclass
class RayNode:
    """One node. `id`: as Ray names it."""

    id: str
    address: str
    process: subprocess.Popen


class RayNodes:
    """A head of `head_cpus` CPUs without GPUs, and one node for each (GPUs, CPUs). The caller's process must be connected
    after `start` and disconnect before `stop`."""

    def __init__(self, sizes: list[tuple[int, int]], head_cpus: int = 2) -> None:
        self._sizes, self._head_cpus = sizes, head_cpus
        self._directory = tempfile.mkdtemp(prefix="rn-", dir="/tmp")  # short: Ray puts sockets below it
        self._started: list[subprocess.Popen] = []
        self.address = f"127.0.0.1:{GCS_PORT}"
        self.nodes: list[RayNode] = []

    def start(self) -> None:
        """Starts all nodes and connects this process. `nodes` has the head first."""
        import ray

        own = {"127.0.0.1": self._start(
            "127.0.0.1", "--head", f"--port={GCS_PORT}", f"--num-cpus={self._head_cpus}", "--num-gpus=0",
            f"--temp-dir={self._directory}", "--include-dashboard=false",
        )}  # fmt: skip
        for number, (gpus, cpus) in enumerate(self._sizes, 2):
            place = f"127.0.0.{number}"
            own[place] = self._start(place, f"--address={self.address}", f"--num-gpus={gpus}", f"--num-cpus={cpus}")
        os.environ["RAY_ADDRESS"] = self.address
        ray.init(address=self.address, log_to_driver=False, logging_level="error")
        ids = {node["NodeManagerAddress"]: node["NodeID"] for node in ray.nodes() if node["Alive"]}
        self.nodes = [RayNode(ids[place], place, process) for place, process in own.items()]

    def _start(self, place: str, *arguments: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "ray"), "start", "--block", f"--node-ip-address={place}",
             "--object-store-memory=80000000", "--disable-usage-stats", "--min-worker-port=0", "--max-worker-port=0",
             *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
        )  # fmt: skip
        self._started.append(process)
        assert any("runtime started" in line for line in process.stdout)
        return process

    def kill(self, node: RayNode) -> None:
        """kill -9 of everything of one node."""
        processes.end_all(lambda: processes.members_of_session(node.process.pid), term_seconds=0)
        node.process.wait()

    def stop(self) -> None:
        import ray

        ray.shutdown()
        for process in reversed(self._started):
            processes.end_all(lambda: processes.members_of_session(process.pid), term_seconds=0)
            process.wait()
        shutil.rmtree(self._directory, ignore_errors=True)
