"""Rays on this machine, with logical GPUs: one of one node and one of several. Of several, each node has its own loopback address, so
that it has its own resource `node:ADDRESS`, as on a cluster. Use them in a network namespace with nothing but loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

import pytest

from echelon_rayworker import processes

# An environment that shares the packages of another one has no program of this name.
RAY = (sys.executable, "-m", "ray.scripts.scripts")
ONE_NODE_PORT, NODES_PORT = 6389, 6390


@dataclass(frozen=True)
class OneNode:
    """A Ray of 32 CPUs and 8 GPUs, all of them logical. `session`: that of all its processes, and of no other.
    `directory`: everything that Ray writes."""

    address: str
    session: int
    directory: Path


@pytest.fixture(scope="session")
def one_node() -> Iterator[OneNode]:
    """A Ray that all files of a run share."""
    temporary = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # short: Ray puts sockets below it
    head = subprocess.Popen(
        [*RAY, "start", "--head", "--block", f"--port={ONE_NODE_PORT}", "--node-ip-address=127.0.0.1", "--num-cpus=32", "--num-gpus=8",
         "--include-dashboard=false", "--no-monitor", f"--temp-dir={temporary}", "--object-store-memory=100000000"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
    )  # fmt: skip
    try:
        wait_for_start(head)
        yield OneNode(f"127.0.0.1:{ONE_NODE_PORT}", head.pid, Path(temporary))
    finally:
        processes.end_all(lambda: processes.members_of_session(head.pid), term_seconds=0)
        head.communicate()
        shutil.rmtree(temporary, ignore_errors=True)


@dataclass
class RayNode:
    """One node. `id`: as Ray names it."""

    id: str
    address: str
    process: subprocess.Popen


class RayNodes:
    """A head of `head_cpus` CPUs without GPUs, and one node for each (GPUs, CPUs). The caller's process is connected from `start` to
    `stop`."""

    def __init__(self, sizes: list[tuple[int, int]], head_cpus: int) -> None:
        self._sizes, self._head_cpus = sizes, head_cpus
        self._directory = tempfile.mkdtemp(prefix="rn-", dir="/tmp")  # short: Ray puts sockets below it
        self._started: list[subprocess.Popen] = []
        self.address = f"127.0.0.1:{NODES_PORT}"
        self.nodes: list[RayNode] = []

    def start(self) -> None:
        """Starts all nodes. `nodes` has the head first."""
        import ray

        own = {"127.0.0.1": self._start(
            "127.0.0.1", "--head", f"--port={NODES_PORT}", f"--num-cpus={self._head_cpus}", "--num-gpus=0",
            f"--temp-dir={self._directory}", "--include-dashboard=false", "--no-monitor",
        )}  # fmt: skip
        for number, (gpus, cpus) in enumerate(self._sizes, 2):
            place = f"127.0.0.{number}"
            # One monitor of the logs finds those of all nodes of this machine.
            own[place] = self._start(
                place, f"--address={self.address}", f"--num-gpus={gpus}", f"--num-cpus={cpus}", "--include-log-monitor=false"
            )
        os.environ["RAY_ADDRESS"] = self.address
        ray.init(address=self.address, log_to_driver=False, logging_level="error")
        ids = {node["NodeManagerAddress"]: node["NodeID"] for node in ray.nodes() if node["Alive"]}
        self.nodes = [RayNode(ids[place], place, process) for place, process in own.items()]

    def _start(self, place: str, *arguments: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [*RAY, "start", "--block", f"--node-ip-address={place}", "--object-store-memory=80000000", "--disable-usage-stats",
             "--min-worker-port=0", "--max-worker-port=0", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
        )  # fmt: skip
        self._started.append(process)
        # Nodes that start together on one machine take each other's places.
        wait_for_start(process)
        return process

    def kill(self, node: RayNode) -> None:
        """kill -9 of everything of one node."""
        processes.end_all(lambda: processes.members_of_session(node.process.pid), term_seconds=0)
        node.process.wait()

    def stop(self) -> None:
        """Ends everything of all nodes."""
        import ray

        ray.shutdown()
        for process in reversed(self._started):
            processes.end_all(lambda: processes.members_of_session(process.pid), term_seconds=0)
            process.communicate()
        shutil.rmtree(self._directory, ignore_errors=True)


def wait_for_start(process: subprocess.Popen) -> None:
    """Returns once the Ray of a process has started."""
    said = []
    for line in process.stdout:
        said.append(line)
        if "runtime started" in line:
            return
    raise AssertionError("".join(said))


@pytest.fixture(scope="session")
def cluster() -> Iterator[RayNodes]:
    """A head without GPUs, which has the CPUs of the environments, and three nodes of 4 GPUs and 4 CPUs. All files of a run share it."""
    started = RayNodes([(4, 4), (4, 4), (4, 4)], head_cpus=12)
    try:
        started.start()
        yield started
    finally:
        started.stop()
