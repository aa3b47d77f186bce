"""Tests of requests to Ray's autoscalers, started by test_autoscale_ray.py and test_autoscale_ray_full.py. Nodes are processes of
this machine; each test has as few as tell an answer from another one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Iterator

import pytest
from conftest import until
from ray_nodes import RAY, wait_for_start

import ray
from echelon_rayworker import processes
from echelon_rayworker.actor import view_cluster
from echelon_rayworker.autoscale import Autoscaler, ask_ray
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.uses import JobUses

PATIENCE = 240
ADDRESS = "127.0.0.1:6391"
IS_SECOND = os.environ.get("RAY_enable_autoscaler_v2") == "1"
LABELS = {"gpu-model": "large"}
GPU_NODE = {"resources": {"CPU": 2, "GPU": 4, "object_store_memory": 80_000_000}, "node_config": {}, "min_workers": 0, "max_workers": 3}
LABELLED_NODE = {**GPU_NODE, "labels": LABELS, "max_workers": 2}
HEAD = {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0}
CONFIG = {
    "cluster_name": "fake", "max_workers": 3, "idle_timeout_minutes": 0.02, "upscaling_speed": 10.0,
    # By its name, the second autoscaler looks for an example of this provider, which Ray's wheels lack.
    "provider": {
        "type": "external", "module": "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider",
        "gcs_address": ADDRESS, "launch_multiple": True, "use_node_id_as_ip": True,
        "disable_node_updaters": True, "disable_launch_config_check": True,
        **({"head_node_id": os.environ["RAY_CLOUD_INSTANCE_ID"]} if IS_SECOND else {}),
    },
    "auth": {}, "docker": {},
    "head_node_type": "ray.head.default", "available_node_types": {
        "ray.head.default": HEAD, "gpu": GPU_NODE, **({"labelled": LABELLED_NODE} if IS_SECOND else {}),
    },
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
        [*RAY, "start", "--block", "--head", "--node-ip-address=127.0.0.1", "--port=6391", "--num-cpus=0",
         "--num-gpus=0", "--object-store-memory=80000000", "--include-dashboard=false", "--include-log-monitor=false", f"--temp-dir={directory}",
         "--disable-usage-stats", f"--autoscaling-config={config}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
    )  # fmt: skip
    try:
        wait_for_start(head)
        ray.init(address=ADDRESS, log_to_driver=False, logging_level="error")
        yield
    finally:
        ray.shutdown()
        processes.end_all(lambda: processes.members_of_session(head.pid), term_seconds=0)
        head.communicate()
        shutil.rmtree(directory, ignore_errors=True)


def gpu_nodes(labels: dict[str, str] = {}) -> int:
    """The live nodes of 4 GPUs with these labels."""
    return sum(
        node.alive and node.gpus_total == 4 and labels.items() <= dict(node.labels).items() for node in view_cluster("", JobUses()).nodes
    )


def test_nodes_come_for_a_gang_stay_while_they_are_asked_for_and_are_released_afterwards(cluster: None) -> None:
    autoscaler = Autoscaler(ask_ray)
    assert gpu_nodes() == 0
    autoscaler.request([pb.Bundle(gpus=4, cpus=2, count=2)])
    assert until(lambda: gpu_nodes() == 2, PATIENCE)
    autoscaler.request([pb.Bundle(gpus=4, cpus=2, count=1)])
    assert until(lambda: gpu_nodes() == 1, PATIENCE)
    autoscaler.request([])
    assert until(lambda: gpu_nodes() == 0, PATIENCE)


if IS_SECOND:  # the first autoscaler knows no labels of a request

    def test_nodes_come_with_the_labels_that_are_asked_for_and_no_others(cluster: None) -> None:
        autoscaler = Autoscaler(ask_ray)
        autoscaler.request([pb.Bundle(gpus=4, cpus=2, count=1, labels=LABELS)])
        assert until(lambda: gpu_nodes(LABELS) == 1, PATIENCE)
        assert gpu_nodes() == 1
        autoscaler.request([])
        assert until(lambda: gpu_nodes() == 0, PATIENCE)
