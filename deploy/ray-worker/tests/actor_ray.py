"""The actor on a real Ray. Run by test_one_node_ray.py, last: its ray-worker stays."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest
from conftest import PACKAGE_ROOT, Client, until
from ray_nodes import OneNode

from echelon_rayworker import processes, recovery
from echelon_rayworker.gen import rayworker_pb2 as pb


def start(address: str, state_dir: Path, *more: str) -> dict:
    """Runs the start helper, again until the head answers."""
    command = [sys.executable, "-m", "echelon_rayworker.start", "--state-dir", str(state_dir), *more]
    errors = ""
    for _ in range(10):
        done = subprocess.run(
            command, cwd=PACKAGE_ROOT, env={**os.environ, "RAY_ADDRESS": address}, capture_output=True, text=True,
            timeout=300,
        )
        if done.returncode == 0:
            return json.loads(done.stdout)
        errors = done.stderr
    raise AssertionError(errors)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "state"
    # What a failed test left: drivers die with their supervisors.
    for path in tmp_path.glob("state/experiments/*/attempts/*"):
        recovery.kill_supervisor(str(path))


def test_the_actor_can_be_killed_while_a_driver_trains(one_node: OneNode, state: Path, tmp_path: Path) -> None:
    address, session = one_node.address, one_node.session
    endpoint = start(address, state)
    assert start(address, state) == endpoint  # found again, not made twice
    client = Client(endpoint["address"], (state / "token").read_text())
    answer = client.describe()
    assert answer.ray_version and answer.node_id == answer.nodes[0].id and answer.generation == endpoint["generation"]
    assert answer.nodes[0].alive and answer.nodes[0].cpus_total == 32
    # Ray frees what the tests before have held in its own time.
    assert until(lambda: client.describe().nodes[0].cpus_available == 32)

    gate = tmp_path / "gate"
    client.launch("environment=RAY_ADDRESS", "environment=RAY_JOB_ID", "environment=RAY_RAYLET_PID",
                  "environment=OMP_NUM_THREADS", f"ticks={gate}")
    stream = client.attach()
    seen = [next(stream) for _ in range(20)]
    assert [line for event in seen for line in event.log.lines] == [
        f"RAY_ADDRESS={address}", "RAY_JOB_ID=", "RAY_RAYLET_PID=", "OMP_NUM_THREADS=",
    ]
    identity = json.loads((state / "experiments/exp/attempts/1/supervisor.json").read_text())
    supervisor = processes.ProcessId(identity["pid"], identity["startTicks"])
    driver = processes.ProcessId(identity["driverPid"], identity["driverStartTicks"])

    (actor,) = [
        pid for pid in processes.members_of_session(session)
        if b"ray::RayWorker" in (Path("/proc") / str(pid) / "cmdline").read_bytes()
    ]
    os.kill(actor, signal.SIGKILL)

    def answers() -> bool:
        try:
            return bool(client.describe().version)
        except Exception:  # noqa: BLE001 - not yet
            return False

    until(answers, 60)
    assert processes.is_alive(supervisor) and processes.is_alive(driver)
    stream = client.attach(after=seen[-1].sequence)
    seen += [next(stream) for _ in range(20)]
    stream.cancel()

    # The actor's second life launches too, and its drivers find the cluster.
    client.launch("ray", experiment="other")
    events = client.events("other")
    assert "ray says 42" in [line for event in events for line in event.log.lines], events
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED

    # Nor does an orderly end of the actor, after which Ray ends an actor's children.
    assert start(address, state, "--replace") == endpoint
    assert processes.is_alive(supervisor) and processes.is_alive(driver)
    gate.touch()
    seen += client.events(after=seen[-1].sequence)
    assert [event.sequence for event in seen] == list(range(1, len(seen) + 1))
    steps = [event.metrics.step for event in seen if event.HasField("metrics")]
    assert steps == list(range(1, len(steps) + 1))
    assert seen[-1].ended.cause == pb.Ended.SUCCEEDED
    client.close()
