"""Tests of requests to Ray's autoscaler, started by test_autoscale_ray.py."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import pytest
from conftest import until

import ray
from echelon_rayworker import processes
from echelon_rayworker.actor import view_cluster
from echelon_rayworker.autoscale import Autoscaler, ask_ray
from echelon_rayworker.gen import rayworker_pb2 as pb

PATIENCE = 240
ADDRESS = "127.0.0.1:6391"
GPU_NODE = {"resources": {"CPU": 2, "GPU": 4, "object_store_memory": 80_000_000}, "node_config": {}, "min_workers": 0, "max_workers": 3}
HEAD = {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0}
CONFIG = {
    "cluster_name": "fake", "max_workers": 3, "idle_timeout_minutes": 0.1, "upscaling_speed": 10.0,
    "provider": {
        "type": "fake_multinode", "gcs_address": ADDRESS, "launch_multiple": True, "use_node_id_as_ip": True,
        "disable_node_updaters": True, "disable_launch_config_check": True,
    },
    "auth": {}, "docker": {},
    "head_node_type": "ray.head.default", "available_node_types": {"ray.head.default": HEAD, "gpu": GPU_NODE},
    "file_mounts": {}, "cluster_synced_files": [], "file_mounts_sync_continuously": False, "rsync_exclude": [], "rsync_filter": [],
    "initialization_commands": [], "setup_commands": [], "head_setup_commands": [], "worker_setup_commands": [],
    "head_start_ray_commands": [], "worker_start_ray_commands": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    directory = tempfile.mkdtemp(prefix="ra-", dir="/tmp")
    config = Path(directory, "autoscaler.json")
    config.write_text(json.dumps(CONFIG))
    head = subprocess.Popen(
        [str(Path(sys.executable).parent / "ray"), "start", "--block", "--head", "--node-ip-address=127.0.0.1", "--port=6391",
         "--num-cpus=0", "--num-gpus=0", "--object-store-memory=80000000", "--include-dashboard=false", f"--temp-dir={directory}",
         "--disable-usage-stats", f"--autoscaling-config={config}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
    )  # fmt: skip
    try:
        assert any("runtime started" in line for line in head.stdout)
        ray.init(address=ADDRESS, log_to_driver=False, logging_level="error")
        yield
    finally:
        ray.shutdown()
        processes.end_all(lambda: processes.members_of_session(head.pid), term_seconds=0)
        head.wait()
        shutil.rmtree(directory, ignore_errors=True)


def gpu_nodes() -> int:
    return sum(node.alive and node.gpus_total == 4 for node in view_cluster("").nodes)


def test_nodes_come_for_a_gang_stay_while_they_are_asked_for_and_are_released_afterwards(cluster: None) -> None:
    autoscaler = Autoscaler(ask_ray)
    assert gpu_nodes() == 0
    autoscaler.request([pb.Bundle(gpus=4, cpus=2, count=3)])
    assert until(lambda: gpu_nodes() == 3, PATIENCE)
    autoscaler.request([pb.Bundle(gpus=4, cpus=2, count=1)])
    assert until(lambda: gpu_nodes() == 1, PATIENCE)
    autoscaler.request([])
    assert until(lambda: gpu_nodes() == 0, PATIENCE)
