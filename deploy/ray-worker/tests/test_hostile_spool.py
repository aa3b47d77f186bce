"""A training may put anything into its directories. Its supervisor continues, its cancel is carried out, nothing of it
stands in the way of other attempts, and whatever is not accepted is reported."""

import os
from pathlib import Path

import pytest
from conftest import Client, Server, until

from echelon_rayworker import bounds
from echelon_rayworker.gen import rayworker_pb2 as pb

# The trainings of these tests damage the state of a ray-worker.
pytestmark = pytest.mark.own_server


def launch(client: Client, *arguments: str, **options) -> None:
    client.launch(*arguments, module="hostile_driver", **options)


def gaps(events: list[pb.AttemptEvent]) -> dict[str, int]:
    found: dict[str, int] = {}
    for event in events:
        if event.HasField("gap"):
            found[event.gap.reason] = found.get(event.gap.reason, 0) + event.gap.count
    return found


def peak_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no such process")


@pytest.mark.parametrize("what", ["strange_files", "many_files", "strange_state", "own_files"])
def test_a_cancel_is_carried_out_whatever_lies_in_the_directories(
    client: Client, server: Server, tmp_path: Path, what: str
) -> None:
    # Only after the answer: a launch waits for a supervisor whose record the training has replaced.
    launch(client, f"wait={tmp_path}/launched", what, f"wait={tmp_path}/never", experiment="hostile")
    (tmp_path / "launched").touch()
    attempt = server.attempt_dir("hostile")
    until(lambda: len(os.listdir(attempt / "spool")) > 5 or what.endswith("state") or (attempt / "stop.json").exists())
    client.stop("hostile", grace=500)
    assert server.processes_of("hostile") == []
    events = client.events("hostile")
    assert events[-1].HasField("ended") and [event.sequence for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("what", ["strange_files", "many_files", "strange_state", "own_files"])
def test_a_training_that_ends_by_itself_is_recorded_whatever_lies_in_the_directories(
    client: Client, server: Server, tmp_path: Path, what: str
) -> None:
    launch(client, what, experiment="hostile")
    until(lambda: not client.list("hostile")[0].running)
    events = client.events("hostile")
    assert events[-1].HasField("ended")
    if what == "strange_files":
        assert gaps(events)["spool files that are no regular files, or may not be read"] >= 5
        assert events[-1].ended.cause == pb.Ended.SUCCEEDED
    if what == "many_files":
        assert any(reason.startswith("spool files: more than") for reason in gaps(events))
    # The next one starts as ever.
    assert client.launch("exit=0", experiment="hostile", attempt=2).outcome == pb.LaunchResponse.STARTED
    assert client.events("hostile", 2)[-1].ended.cause == pb.Ended.SUCCEEDED


def test_stray_files_stop_neither_the_list_nor_the_ray_worker(client: Client, server: Server, tmp_path: Path) -> None:
    client.launch(f"ticks={tmp_path}/gate", experiment="honest")
    launch(client, "strange_state", "own_files", f"wait={tmp_path}/gate", experiment="hostile")
    until((server.attempt_dir("hostile") / "stop.json").exists)
    assert {"honest", "hostile"} <= {status.experiment for status in client.list() if status.running}
    server.kill()
    server.start()
    again = server.client()
    assert "honest" in {status.experiment for status in again.list() if status.running}
    assert next(again.attach("honest")).HasField("started")
    (tmp_path / "gate").touch()
    assert again.events("honest")[-1].ended.cause == pb.Ended.SUCCEEDED
    again.stop("hostile", grace=500)
    again.close()


def test_texts_and_lines_are_cut_while_they_are_read_and_the_cut_shows(client: Client) -> None:
    launch(client, "long_texts")
    events = client.events()
    assert all(event.ByteSize() < 2 * bounds.MAX_REPORT_BYTES for event in events)
    (stage,) = (event.stage.name for event in events if event.HasField("stage"))
    assert len(stage) == bounds.MAX_STAGE_CHARACTERS and stage.endswith(bounds.CUT_MARK)
    assert not any(event.HasField("checkpoint") for event in events)
    assert all(len(event.gap.reason) <= bounds.MAX_REASON_CHARACTERS for event in events)
    logs = [event.log for event in events if event.HasField("log")]
    assert sum(len(log.lines) for log in logs) == 30_001 and sum(log.cut_bytes for log in logs) == 900_000 - 16 * 1024
    assert max(len(log.lines) for log in logs) <= 1024
    assert sum(count for reason, count in gaps(events).items() if "larger than" in reason or "paths" in reason) == 3


def test_names_of_metrics_are_bounded_in_a_step_and_in_a_run(client: Client) -> None:
    launch(client, "many_metrics")
    events = client.events()
    steps = {event.metrics.step: len(event.metrics.values) for event in events if event.HasField("metrics")}
    # Three of the first names are none, and the report of step 1 is larger than one may be.
    assert steps == {0: 1, 2: 999}
    assert sum(count for reason, count in gaps(events).items() if reason.startswith("metric values")) == 24_004
    assert sum(count for reason, count in gaps(events).items() if "larger than" in reason) == 1


def test_an_endless_batch_is_given_up_with_a_gap_in_bounded_memory(
    client: Client, server: Server, tmp_path: Path
) -> None:
    launch(client, "endless_batch", f"wait={tmp_path}/gate")
    stream = client.attach()
    gap = next(event.gap for event in stream if event.HasField("gap"))
    assert (gap.kind, gap.step, gap.rows) == (pb.Gap.BATCH, 9, 77) and "larger than 128 MiB" in gap.reason
    assert peak_bytes(server.identity()["pid"]) < 300 * 2**20
    (tmp_path / "gate").touch()
    assert [event.WhichOneof("body") for event in stream] == ["ended"]
