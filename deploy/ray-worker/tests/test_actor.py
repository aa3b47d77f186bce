"""The actor on a real Ray, in a network namespace of its own where that is permitted."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import pytest
from conftest import PACKAGE_ROOT, Client, until

from echelon_rayworker import processes, recovery
from echelon_rayworker.gen import rayworker_pb2 as pb

pytest.importorskip("ray")

INSIDE = "ECHELON_TEST_NAMESPACE"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    """Runs the tests below with only the loopback interface; where namespaces are not permitted, as it is."""
    if os.environ.get(INSIDE):
        pytest.skip("already inside")
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", __file__]
    environment = {**os.environ, INSIDE: "1"}
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    else:
        print("network namespaces are not permitted here: Ray runs without one")
    done = subprocess.run(command, cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "1 passed" in done.stdout, done.stdout[-2000:]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[str, int]]:
    if not os.environ.get(INSIDE):
        pytest.skip("runs inside the namespace")
    temporary = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # short: Ray puts sockets below it
    port = free_port()
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray_command = str(Path(sys.executable).parent / "ray")
    head = subprocess.Popen(
        [ray_command, "start", "--head", "--block", f"--port={port}", "--node-ip-address=127.0.0.1", "--num-cpus=2",
         "--include-dashboard=false", f"--temp-dir={temporary}", "--object-store-memory=100000000",
         f"--ray-client-server-port={free_port()}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=PACKAGE_ROOT, start_new_session=True,
    )
    yield f"127.0.0.1:{port}", head.pid
    # What a failed test left: drivers die with their supervisors.
    for path in tmp_path.glob("state/experiments/*/attempts/*"):
        recovery.kill_supervisor(str(path))
    # All of this Ray, and nothing else, is in the head's session.
    processes.end_all(lambda: processes.members_of_session(head.pid), term_seconds=0)
    head.wait()
    shutil.rmtree(temporary, ignore_errors=True)


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


def test_the_actor_can_be_killed_while_a_driver_trains(cluster: tuple[str, int], tmp_path: Path) -> None:
    address, session = cluster
    state = tmp_path / "state"
    endpoint = start(address, state)
    assert start(address, state) == endpoint  # found again, not made twice
    client = Client(endpoint["address"], (state / "token").read_text())
    answer = client.describe()
    assert answer.ray_version and answer.node_id == answer.nodes[0].id and answer.generation == endpoint["generation"]
    assert (answer.nodes[0].cpus_total, answer.nodes[0].cpus_available, answer.nodes[0].alive) == (2, 2, True)

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
