"""Launch at most once, fencing, tombstones, and what a restart of the ray-worker keeps."""

import os
import signal
import sys
import threading
from pathlib import Path

import grpc
import pytest
from conftest import DRIVERS, Client, Server, until

from echelon_rayworker import launch, processes
from echelon_rayworker.attempts import AttemptStore
from echelon_rayworker.gen import rayworker_pb2 as pb

STARTED, RUNNING, ENDED, FENCED = (
    pb.LaunchResponse.STARTED, pb.LaunchResponse.ALREADY_RUNNING, pb.LaunchResponse.ALREADY_ENDED,
    pb.LaunchResponse.FENCED,
)


def starts(server: Server, experiment: str = "exp") -> int:
    """How often a driver of the experiment was started, by the supervisors' own logs."""
    count = 0
    for directory in server.attempt_dir(experiment).parent.iterdir():
        client = server.client()
        count += sum(event.HasField("started") for event in client.events(experiment, int(directory.name)))
        client.close()
    return count


def test_a_launch_whose_first_process_was_killed_after_its_fork_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import os, signal, sys\nif os.fork(): os.kill(os.getpid(), signal.SIGKILL)\nos.execv(sys.argv[1], sys.argv[1:])"
    killed = tmp_path / "python"
    killed.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{program}' {sys.executable} \"$@\"\n")
    killed.chmod(0o755)
    environment = {**launch.base_environment(os.environ, "", False), "ECHELON_SYSTEM_METRICS_SECONDS": "0"}
    store = AttemptStore(str(tmp_path / "state"), str(tmp_path), environment=environment)
    plan = pb.LaunchPlan(
        engine="local", module="scripted_driver", arguments=[f"wait={tmp_path / 'gate'}"],
        environment={"PYTHONPATH": str(DRIVERS)}, spec_version=launch.SPEC_VERSIONS[-1],
    )
    request = pb.LaunchRequest(experiment="exp", attempt=1, plan=plan)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(killed))
        assert store.launch(request).outcome == STARTED
    assert store.launch(request).outcome == RUNNING
    assert [(one.attempt, one.running) for one in store.list()] == [(1, True)]
    ended = store.stop(pb.StopRequest(experiment="exp", attempt=1, grace_period_ms=1)).ended
    assert ended.cause == pb.Ended.STOPPED


def test_a_launch_may_be_repeated_and_starts_once(client: Client, server: Server, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    assert client.launch(f"wait={gate}").outcome == STARTED
    assert client.launch(f"wait={gate}").outcome == RUNNING
    gate.touch()
    client.events()
    assert client.launch(f"wait={gate}").outcome == ENDED
    assert starts(server) == 1


def test_twenty_launches_at_once_start_one_driver(client: Client, server: Server) -> None:
    outcomes: list[int] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(client.launch("wait=/nonexistent").outcome)) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [STARTED] + [RUNNING] * 19
    client.stop(grace=1)
    assert starts(server) == 1


def test_a_lower_attempt_is_fenced_and_one_that_runs_is_ended_first(client: Client, server: Server) -> None:
    client.launch("child", "wait=/nonexistent", attempt=2)
    assert client.launch("exit=0", attempt=5).outcome == STARTED
    assert client.events(attempt=2)[-1].ended.cause == pb.Ended.STOPPED
    assert server.processes_of(attempt=2) == []
    answer = client.launch("exit=0", attempt=4)
    assert (answer.outcome, answer.fencing_attempt) == (FENCED, 5) and "5" in answer.reason
    assert client.launch("exit=0", attempt=2).outcome == FENCED
    assert not server.attempt_dir(attempt=4).exists()


def test_a_tombstone_fences_its_attempt_and_lower_ones_only(client: Client, server: Server) -> None:
    response = client.stop(attempt=3)
    assert response.dropped and not response.HasField("ended")
    for attempt in (1, 2, 3):
        answer = client.launch("exit=0", attempt=attempt)
        assert (answer.outcome, answer.fencing_attempt) == (FENCED, 3)
    assert client.stop(attempt=2).dropped
    assert client.launch("exit=0", attempt=3).outcome == FENCED
    assert client.launch("exit=0", attempt=4).outcome == STARTED


def test_a_tombstone_ends_a_lower_attempt_that_runs(client: Client, server: Server) -> None:
    client.launch("wait=/nonexistent", attempt=1)
    assert client.stop(attempt=2).dropped
    assert client.events(attempt=1)[-1].ended.cause == pb.Ended.STOPPED
    assert server.processes_of() == []


@pytest.mark.own_server
def test_fences_and_tombstones_survive_kill_9_of_the_ray_worker(client: Client, server: Server) -> None:
    client.launch("exit=0", experiment="a", attempt=2)
    client.events("a", 2)  # until its end
    client.stop(experiment="b", attempt=7)
    generation = client.describe().generation
    address = server.endpoint["address"]
    server.kill()
    server.start()
    again = server.client()
    assert server.endpoint["address"] == address and again.describe().generation == generation
    assert again.launch("exit=0", experiment="a", attempt=1).outcome == FENCED
    assert again.launch("exit=0", experiment="a", attempt=2).outcome == ENDED
    assert again.launch("exit=0", experiment="b", attempt=7).outcome == FENCED
    again.close()


@pytest.mark.own_server
def test_kill_9_of_the_ray_worker_touches_no_training(client: Client, server: Server, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    client.launch(f"ticks={gate}")
    seen = []
    for _ in range(3):
        stream = server.client().attach(after=seen[-1].sequence if seen else 0)
        before = len(seen)
        while len(seen) < before + 20:
            seen.append(next(stream))
        server.kill()
        server.start()
    gate.touch()
    seen += server.client().events(after=seen[-1].sequence)
    assert [event.sequence for event in seen] == list(range(1, len(seen) + 1))
    steps = [event.metrics.step for event in seen if event.HasField("metrics")]
    assert steps == list(range(1, len(steps) + 1))
    assert seen[-1].ended.cause == pb.Ended.SUCCEEDED
    assert starts(server) == 1


@pytest.mark.own_server
def test_a_supervisor_lost_while_the_ray_worker_was_away_is_recorded(client: Client, server: Server) -> None:
    client.launch("child", "wait=/nonexistent")
    identity = server.identity()
    server.kill()
    os.kill(identity["pid"], signal.SIGKILL)
    # The driver dies with it although no ray-worker runs; the driver's children are ended when one does.
    driver = processes.ProcessId(identity["driverPid"], identity["driverStartTicks"])
    until(lambda: not processes.is_alive(driver))
    server.start()
    again = server.client()
    assert again.events()[-1].ended.cause == pb.Ended.SUPERVISOR_LOST
    assert server.processes_of() == []
    assert again.launch("exit=0").outcome == ENDED
    again.close()


@pytest.mark.own_server
def test_an_interrupted_launch_is_recorded_as_not_started(client: Client, server: Server) -> None:
    directory = server.attempt_dir()
    server.kill()
    directory.mkdir(parents=True)
    request = pb.LaunchRequest(experiment="exp", attempt=1, plan=pb.LaunchPlan(engine="local", module="scripted_driver"))
    (directory / "launch.bin").write_bytes(request.SerializeToString())
    server.start()
    again = server.client()
    assert [event.ended.cause for event in again.events()] == [pb.Ended.NOT_STARTED]
    assert again.launch("exit=0").outcome == ENDED
    again.close()


@pytest.mark.parametrize("version", [0, launch.SPEC_VERSIONS[-1] + 1])
def test_a_plan_of_another_version_is_refused_in_words_and_leaves_a_running_attempt_alone(
    client: Client, tmp_path: Path, version: int
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        client.launch("exit=0", spec_version=version)
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert dict(refused.value.trailing_metadata())["echelon-fault"] == "version"
    assert f"the dispatcher made version {version}: update the older of the two" in refused.value.details()
    assert client.list() == []
    gate = tmp_path / "gate"
    assert client.launch(f"wait={gate}").outcome == STARTED
    assert client.launch(f"wait={gate}", spec_version=version).outcome == RUNNING
    assert list(client.describe().spec_versions) == list(launch.SPEC_VERSIONS)


def test_list_names_attempts_and_tombstones_newest_first(client: Client) -> None:
    client.launch("exit=0", experiment="a", attempt=1)
    client.events("a")
    client.launch("wait=/nonexistent", experiment="a", attempt=2)
    client.stop(experiment="b", attempt=4)
    found = {(s.experiment, s.attempt): s for s in client.list()}
    assert set(found) == {("a", 1), ("a", 2), ("b", 4)}
    assert found["a", 2].running and not found["a", 2].HasField("ended")
    assert found["a", 1].ended.cause == pb.Ended.SUCCEEDED and found["a", 1].last_sequence == len(client.events("a"))
    assert found["b", 4].tombstone and not found["b", 4].running
    assert [s.attempt for s in client.list("a")] == [2, 1]
    assert found["a", 1].launched_at_unix_ms > 1_600_000_000_000


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"experiment": "Upper"}, "experiment"), ({"experiment": "../x"}, "experiment"), ({"experiment": "a" * 65}, "experiment"),
        ({"experiment": ""}, "experiment"), ({"attempt": 0}, "attempt"), ({"engine": "nope"}, "plan.engine"),
        ({"module": "os; x"}, "plan.module"), ({"module": ""}, "plan.module"),
        ({"environment": {"A B": "x"}}, "plan.environment"), ({"environment": {"ECHELON_SPOOL": "/x"}}, "plan.environment"),
        ({"environment": {"A": "x\0y"}}, "plan.environment"), ({"files": {"../x": b""}}, "plan.files"),
        ({"files": {"launch.bin": b""}}, "plan.files"), ({"files": {"events-1.log": b""}}, "plan.files"),
    ],
)
def test_ill_formed_launches_are_refused_by_field_and_change_nothing(
    client: Client, server: Server, fields: dict, field: str
) -> None:
    experiments, client.suffix = server.state_dir / "experiments", ""
    before = set(experiments.iterdir())
    with pytest.raises(grpc.RpcError) as caught:
        client.launch("exit=0", **fields)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT and caught.value.details().startswith(field)
    assert set(experiments.iterdir()) == before


def test_an_argument_with_a_nul_is_refused(client: Client) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.launch("a\0b")
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_two_ray_workers_never_share_a_state_directory(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from echelon_rayworker import server as module

    monkeypatch.setattr(module, "TAKE_OVER_SECONDS", 0.1)
    options = module.ServerOptions(state_dir=str(server.state_dir), shared_root=str(server.state_dir))

    async def start() -> None:
        await module.RayWorkerServer(options).start()

    with pytest.raises(RuntimeError, match="another ray-worker"):
        asyncio.run(start())
