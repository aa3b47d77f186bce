"""One attempt, from Launch to Ended, as a client sees it."""

import hashlib
import os
import signal
from pathlib import Path

import grpc
import pytest
from conftest import Client, Server, until

from echelon_rayworker import processes
from echelon_rayworker.gen import rayworker_pb2 as pb


def lines(events: list[pb.AttemptEvent], source: int = pb.LogLines.STDOUT) -> list[str]:
    return [line for event in events if event.log.source == source for line in event.log.lines]


def bodies(events: list[pb.AttemptEvent]) -> list[str]:
    return [event.WhichOneof("body") for event in events]


def test_a_whole_attempt_is_streamed_in_order_and_ends(client: Client) -> None:
    outcome = client.launch("print=hello", "error=oops", "stage=connecting", "metrics=3", "checkpoint=c/1").outcome
    assert outcome == pb.LaunchResponse.STARTED
    events = client.events()
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert events[0].started.pid > 0 and events[0].started.command[1:] == [
        "-m", "scripted_driver", "print=hello", "error=oops", "stage=connecting", "metrics=3", "checkpoint=c/1",
    ]
    assert lines(events) == ["hello"] and lines(events, pb.LogLines.STDERR) == ["oops"]
    assert [e.metrics.values["x"] for e in events if e.HasField("metrics")] == [1 / 3, 2 / 3, 1.0]
    assert [e.checkpoint.path for e in events if e.HasField("checkpoint")] == ["c/1"]
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED and events[-1].ended.exit_code == 0
    assert all(event.time_unix_ms > 0 for event in events)


def test_attach_resumes_after_every_number(client: Client) -> None:
    client.launch("metrics=5")
    events = client.events()
    for after in range(len(events) + 1):
        assert client.events(after=after) == events[after:]
    with pytest.raises(grpc.RpcError) as caught:
        client.events(after=len(events) + 1)
    assert caught.value.code() == grpc.StatusCode.OUT_OF_RANGE


def test_batches_arrive_whole_and_numbered_over_all_writers(client: Client) -> None:
    client.launch("batches=3x1500000", "exit=0")
    chunks = [event.batch for event in client.events() if event.HasField("batch")]
    assert [(c.batch, c.index, c.count) for c in chunks] == [(b, i, 2) for b in (1, 2, 3) for i in (0, 1)]
    for number in (1, 2, 3):
        data = b"".join(c.data for c in chunks if c.batch == number)
        assert hashlib.sha256(data).digest() == chunks[2 * number - 1].digest


@pytest.mark.parametrize(
    ("arguments", "cause", "code", "number"),
    [
        (["exit=0"], pb.Ended.SUCCEEDED, 0, 0),
        (["exit=3"], pb.Ended.FAILED, 3, 0),
        (["kill=9"], pb.Ended.KILLED, 137, 9),
        (["error=ray.exceptions.OutOfMemoryError: Task was killed", "exit=1"], pb.Ended.OUT_OF_MEMORY, 1, 0),
    ],
)
def test_the_cause_of_the_end(client: Client, arguments: list[str], cause: int, code: int, number: int) -> None:
    client.launch(*arguments)
    ended = client.events()[-1].ended
    assert (ended.cause, ended.exit_code, ended.signal) == (cause, code, number)


def test_an_attempt_on_a_node_that_is_gone_ends_as_a_failure_of_the_cluster(client: Client) -> None:
    def ended_on(node: str) -> pb.Ended:
        client.launch("exit=1", experiment=node, nodes=[pb.AllocatedNode(id=node, cpus=1)])
        # The ray-worker looks at its nodes while it is asked.
        until(lambda: client.describe() and not client.list(node)[0].running)
        return client.events(node)[-1].ended

    assert ended_on(client.describe().nodes[0].id).cause == pb.Ended.FAILED
    ended = ended_on("gone")
    assert ended.cause == pb.Ended.CLUSTER_FAILED
    assert ended.message == "node gone is no longer alive (Ray does not list it any more) (exit code 1)"


def test_the_last_fifty_lines_of_stderr_come_with_the_end(client: Client) -> None:
    client.launch("lines=80", "raise=no such file")
    ended = client.events()[-1].ended
    assert ended.last_lines[-1] == "RuntimeError: no such file" and len(ended.last_lines) <= 50
    assert ended.message == "exit code 1: RuntimeError: no such file"
    client.launch("lines=80", "exit=2", attempt=2)
    assert list(client.events(attempt=2)[-1].ended.last_lines) == [f"line {n}" for n in range(30, 80)]


def test_a_module_that_does_not_exist_fails_with_its_message(client: Client) -> None:
    client.launch(module="no_such_module")
    ended = client.events()[-1].ended
    assert ended.cause == pb.Ended.FAILED and "no_such_module" in ended.last_lines[-1]


def test_long_lines_are_cut_and_odd_bytes_survive(client: Client) -> None:
    client.launch("print=" + "x" * 20000, "raw=ff410d0a610d620d63", "print=", "print=end")
    events = client.events()
    assert lines(events) == ["x" * 16384, "\ufffdA", "c", "end"]
    assert sum(event.log.cut_bytes for event in events) == 20000 - 16384


def test_stop_sends_sigterm_and_leaves_nothing(client: Client, server: Server) -> None:
    client.launch("child", "pid", "wait=/nonexistent", grace_period_ms=20000)
    until(lambda: len(server.processes_of()) >= 3)
    response = client.stop(reason="enough")
    assert not response.dropped and response.ended.cause == pb.Ended.STOPPED and "enough" in response.ended.message
    assert response.ended.signal == signal.SIGTERM
    assert server.processes_of() == []
    assert client.events()[-1].ended == response.ended
    assert client.stop().ended == response.ended


def test_after_the_grace_period_sigkill(client: Client, server: Server) -> None:
    client.launch("ignore-sigterm", "child", "wait=/nonexistent", grace_period_ms=60000)
    next(event for event in client.attach() if event.HasField("log"))
    until(lambda: len(server.processes_of()) >= 3)
    response = client.stop(grace=100)
    assert response.ended.cause == pb.Ended.STOPPED and response.ended.signal == signal.SIGKILL
    assert server.processes_of() == []


def test_children_do_not_outlive_a_driver_that_ended_by_itself(client: Client, server: Server) -> None:
    client.launch("child", "exit=0")
    assert client.events()[-1].ended.cause == pb.Ended.SUCCEEDED
    assert server.processes_of() == []


def test_the_driver_dies_with_its_supervisor_and_the_end_is_recorded(client: Client, server: Server) -> None:
    client.launch("child", "metrics=2", "wait=/nonexistent")
    stream = client.attach()
    seen = [next(stream) for _ in range(3)]
    os.kill(server.identity()["pid"], signal.SIGKILL)
    seen += list(stream)
    assert [event.sequence for event in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].ended.cause == pb.Ended.SUPERVISOR_LOST and bodies(seen)[-2] == "gap"
    assert server.processes_of() == []


def test_a_suspended_supervisor_does_not_hold_up_a_stop(client: Client, server: Server) -> None:
    client.launch("wait=/nonexistent")
    os.kill(server.identity()["pid"], signal.SIGSTOP)
    assert client.stop(grace=100).ended.cause == pb.Ended.STOPPED
    assert server.processes_of() == []


def test_sigterm_to_the_supervisor_ends_the_driver(client: Client, server: Server) -> None:
    client.launch("wait=/nonexistent", grace_period_ms=1000)
    os.kill(server.identity()["pid"], signal.SIGTERM)
    ended = client.events()[-1].ended
    assert ended.cause == pb.Ended.KILLED and "SIGTERM" in ended.message


def test_files_placeholders_and_environment(client: Client, server: Server, tmp_path: Path) -> None:
    client.launch(
        "print={attemptDir}", "print={experimentDir}|{sharedRoot}|{other}", "environment=ECHELON_EXPERIMENT",
        "environment=ECHELON_ATTEMPT", "environment=ECHELON_SPOOL", "environment=NESTED", "environment=PYTHONUNBUFFERED",
        environment={"NESTED": "{attemptDir}/{{sharedRoot}}"}, files={"overrides.yaml": b"a: 1\n"},
    )
    directory = str(server.attempt_dir())
    root = str(server.state_dir)
    assert lines(client.events()) == [
        directory, f"{root}/experiments/exp{server.suffix}|{root}|{{other}}", f"ECHELON_EXPERIMENT=exp{server.suffix}", "ECHELON_ATTEMPT=1",
        f"ECHELON_SPOOL={directory}/spool", f"NESTED={directory}/{{{root}}}", "PYTHONUNBUFFERED=1",
    ]
    assert (server.attempt_dir() / "overrides.yaml").read_bytes() == b"a: 1\n"


def test_secrets_reach_no_event(client: Client) -> None:
    secret = "hunter2-hunter2"
    client.launch(
        f"print=the key is {secret}", f"error={secret}", "trainer.api_key=abcdefgh", "exit=1",
        environment={"WANDB_API_KEY": secret},
    )
    events = client.events()
    text = b"".join(event.SerializeToString() for event in events)
    assert secret.encode() not in text and b"abcdefgh" not in text
    assert lines(events) == ["the key is ***"]


def test_an_argument_is_never_seen_by_a_shell(client: Client, tmp_path: Path) -> None:
    argument = f"print=$(touch {tmp_path}/pwned); `id` 'a' \"b\" \\ é"
    client.launch(argument)
    assert lines(client.events()) == [argument.partition("=")[2]]
    assert not (tmp_path / "pwned").exists()


def test_the_driver_starts_with_the_signals_of_an_ordinary_process(client: Client) -> None:
    client.launch("signals")
    # The two that Python itself ignores.
    assert lines(client.events()) == ["ignored SIGPIPE SIGXFSZ"]


def test_the_supervisor_is_an_orphan_and_in_no_group_of_the_server(client: Client, server: Server) -> None:
    client.launch("pid", "wait=/nonexistent")
    identity = server.identity()
    assert identity["pid"] not in processes.descendants(server.process.pid)
    assert os.getsid(identity["pid"]) != os.getsid(server.process.pid)
    assert os.getsid(identity["driverPid"]) == identity["driverPid"]
