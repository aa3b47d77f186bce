"""Fixtures: a ray-worker without Ray, and a client of it.

The tests of a module share a ray-worker, each with experiments of its own. A test that ends it, or looks at all of its state, has one of
its own: `@pytest.mark.own_server`."""

from __future__ import annotations

import os

# Before numpy: its threads wait for each other with all their time, which other tests need.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import itertools
import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterator

import grpc
import leaks
import pytest
from ray_nodes import cluster, one_node  # noqa: F401 - fixtures

from echelon_rayworker import processes
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import SPEC_VERSIONS

PACKAGE_ROOT = Path(__file__).parent.parent
# Of the ray-worker and the capture, for processes that start in other directories.
PYTHON_PATH = os.pathsep.join(str(PACKAGE_ROOT.parent / name) for name in ("ray-worker", "capture"))
os.environ["PYTHONPATH"] = PYTHON_PATH
DRIVERS = Path(__file__).parent / "drivers"


def pytest_configure(config: pytest.Config) -> None:
    leaks.guard(config)


def until(condition: Callable[[], object], seconds: float = 60.0) -> object:
    """Waits for a condition and returns what it gave; fails at the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "the condition was not met in time"
        time.sleep(0.01)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Client:
    """Calls a ray-worker as the dispatcher does. `suffix`: of the names of its experiments, which the caller neither gives nor sees."""

    def __init__(
        self, address: str, token: str, credentials: grpc.ChannelCredentials | None = None, suffix: str = ""
    ) -> None:
        self.suffix = suffix
        # Its own connection: a shared one may be to a server that has been killed since.
        options = [("grpc.max_receive_message_length", 4 << 20), ("grpc.use_local_subchannel_pool", 1)]
        self.channel = (
            grpc.secure_channel(address, credentials, options) if credentials
            else grpc.insecure_channel(address, options)
        )
        self.metadata = (("authorization", f"Bearer {token}"),)

    def call(self, method: str, request, response_type, timeout: float = 60.0):
        stub = self.channel.unary_unary(
            f"/echelon.rayworker.v1.RayWorker/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response_type.FromString,
        )
        return stub(request, metadata=self.metadata, timeout=timeout)

    def describe(self) -> pb.DescribeResponse:
        return self.call("Describe", pb.DescribeRequest(), pb.DescribeResponse)

    def launch(self, *arguments: str, experiment: str = "exp", attempt: int = 1, **plan) -> pb.LaunchResponse:
        plan.setdefault("engine", "local")
        plan.setdefault("module", "scripted_driver")
        plan.setdefault("spec_version", SPEC_VERSIONS[-1])
        # A slow machine would have metrics of its load among those of the driver.
        own = {"PYTHONPATH": str(DRIVERS), "ECHELON_SYSTEM_METRICS_SECONDS": "0"}
        environment = {**own, **plan.pop("environment", {})}
        launch_plan = pb.LaunchPlan(arguments=arguments, environment=environment, **plan)
        request = pb.LaunchRequest(experiment=experiment + self.suffix, attempt=attempt, plan=launch_plan)
        return self.call("Launch", request, pb.LaunchResponse)

    def stop(self, experiment: str = "exp", attempt: int = 1, grace: int = 0, reason: str = "test") -> pb.StopResponse:
        request = pb.StopRequest(
            experiment=experiment + self.suffix, attempt=attempt, grace_period_ms=grace, reason=reason
        )
        return self.call("Stop", request, pb.StopResponse)

    def forget(self, experiment: str = "exp", attempt: int = 1) -> int:
        request = pb.ForgetRequest(experiment=experiment + self.suffix, attempt=attempt)
        return self.call("Forget", request, pb.ForgetResponse).forgotten

    def list(self, experiment: str = "") -> list[pb.AttemptStatus]:
        request = pb.ListRequest(experiment=experiment and experiment + self.suffix)
        found = [one for one in self.call("List", request, pb.ListResponse).attempts if one.experiment.endswith(self.suffix)]
        for one in found:
            one.experiment = one.experiment.removesuffix(self.suffix)
        return found

    def attach(self, experiment: str = "exp", attempt: int = 1, after: int = 0, timeout: float = 60.0):
        stub = self.channel.unary_stream(
            "/echelon.rayworker.v1.RayWorker/Attach",
            request_serializer=pb.AttachRequest.SerializeToString,
            response_deserializer=pb.AttemptEvent.FromString,
        )
        request = pb.AttachRequest(experiment=experiment + self.suffix, attempt=attempt, after=after)
        return stub(request, metadata=self.metadata, timeout=timeout)

    def events(self, experiment: str = "exp", attempt: int = 1, after: int = 0) -> list[pb.AttemptEvent]:
        return list(self.attach(experiment, attempt, after))

    def close(self) -> None:
        self.channel.close()


class Server:
    """A ray-worker process on a state directory; can be killed and started again. `suffix`: see Client."""

    suffix = ""
    # Put before the command.
    wrapper: tuple[str, ...] | list[str] = ()

    def __init__(self, state_dir: Path, *arguments: str) -> None:
        self.state_dir = state_dir
        self._arguments = arguments
        self.start()

    def start(self, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*self.wrapper, sys.executable, "-m", "echelon_rayworker.server", "--state-dir", str(self.state_dir),
             *self._arguments],
            stdout=subprocess.PIPE, cwd=PACKAGE_ROOT, text=True, env={**os.environ, **environment},
        )
        line = self.process.stdout.readline()
        assert line, "the server did not start"
        self.endpoint = json.loads(line)
        self.token = (self.state_dir / "token").read_text() if (self.state_dir / "token").exists() else ""

    def client(self) -> Client:
        return Client(self.endpoint["address"], self.token, suffix=self.suffix)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)

    def attempt_dir(self, experiment: str = "exp", attempt: int = 1) -> Path:
        return self.state_dir / "experiments" / f"{experiment}{self.suffix}" / "attempts" / str(attempt)

    def identity(self, experiment: str = "exp", attempt: int = 1) -> dict:
        return json.loads((self.attempt_dir(experiment, attempt) / "supervisor.json").read_text())

    def processes_of(self, experiment: str = "exp", attempt: int = 1) -> list[int]:
        """Every process that carries the attempt's mark, its supervisor excepted."""
        spool = self.attempt_dir(experiment, attempt) / "spool"
        return processes.marked_by_environment(f"ECHELON_SPOOL={spool}".encode())


_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The ray-worker that the tests of a module share."""
    server = Server(tmp_path_factory.mktemp("ray-worker") / "state")
    yield server
    server.stop()


@pytest.fixture
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A ray-worker without another test's experiments."""
    if request.node.get_closest_marker("own_server"):
        server = Server(tmp_path / "state")
        yield server
        end_everything(server)
    else:
        server = request.getfixturevalue("module_server")
        server.suffix = f"-{next(_NUMBERS)}"
        yield server
        end_attempts(server)


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    client = server.client()
    yield client
    client.close()


def end_everything(server: Server) -> None:
    """Stops the attempts and the server. See end_attempts."""
    end_attempts(server)
    if server.process.poll() is None:
        server.stop()


def end_attempts(server: Server) -> None:
    """Stops the attempts; then no process of any attempt may be left, and the test fails if one is."""
    if server.process.poll() is None:
        client = server.client()
        for status in client.list():
            if status.running:
                client.stop(status.experiment, status.attempt, grace=1)
        client.close()
    left = []
    for directory in server.state_dir.glob(f"experiments/*{server.suffix}/attempts/*"):
        left += processes.marked_by_environment(f"ECHELON_SPOOL={directory / 'spool'}".encode())
        identity = directory / "supervisor.json"
        if identity.is_file():
            record = json.loads(identity.read_text())
            known = processes.ProcessId(record["pid"], record["startTicks"])
            until(lambda: not processes.is_alive(known))
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"processes were left: {left}"
