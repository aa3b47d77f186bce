"""A full disk never stops or blocks a training, and nothing is dropped without a marker."""

import subprocess
from pathlib import Path

import grpc
import pytest
from conftest import Server, until

from echelon_rayworker.gen import rayworker_pb2 as pb

TOKEN = "token-of-the-test"


@pytest.fixture
def small_server(tmp_path: Path):
    """A ray-worker whose state directory is a file system of 8 MiB, seen by it and its children alone."""
    mount = tmp_path / "small"
    mount.mkdir()
    script = f'mount -t tmpfs -o size=8m tmpfs {mount} && exec "$@"'
    wrapper = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*wrapper, "true"], capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    server = Server.__new__(Server)
    server.state_dir, server._arguments, server.wrapper = mount / "state", (), wrapper
    server.start(ECHELON_RAY_WORKER_TOKEN=TOKEN)
    server.token = TOKEN
    yield server
    server.stop()


def test_a_full_disk_drops_lines_with_a_marker_and_keeps_every_metric(small_server: Server, tmp_path: Path) -> None:
    client = small_server.client()
    full, gate = tmp_path / "full", tmp_path / "gate"
    client.launch(
        "fill={sharedRoot}/filler", "metrics=50", "lines=50000", f"touch={full}", f"wait={gate}",
        "remove={sharedRoot}/filler", "metrics=50", "print=the end", grace_period_ms=1000,
    )
    # The driver came through all of its printing and reporting on a disk without a free byte.
    until(full.exists)
    gate.touch()
    events = client.events()
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED
    assert [event.metrics.step for event in events if event.HasField("metrics")] == [*range(1, 51), *range(1, 51)]
    recorded = sum(len(event.log.lines) for event in events)
    dropped = sum(event.gap.count for event in events if event.gap.kind == pb.Gap.LOGS)
    assert recorded + dropped == 50001 and dropped > 0
    client.close()


def test_a_launch_on_a_full_disk_is_refused_and_may_be_repeated(small_server: Server, tmp_path: Path) -> None:
    client = small_server.client()
    gate = tmp_path / "gate"
    client.launch("fill={sharedRoot}/filler", "pid", f"wait={gate}", "remove={sharedRoot}/filler", experiment="filler")
    until(lambda: client.describe().free_disk_bytes == 0)
    with pytest.raises(grpc.RpcError) as caught:
        client.launch("exit=0")
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert ("echelon-fault", "exhausted") in [tuple(entry) for entry in caught.value.trailing_metadata()]
    gate.touch()
    assert client.events("filler")[-1].ended.cause == pb.Ended.SUCCEEDED
    assert client.launch("exit=0").outcome == pb.LaunchResponse.STARTED
    assert client.events()[-1].ended.cause == pb.Ended.SUCCEEDED
    client.close()


def test_a_stop_on_a_full_disk_ends_the_driver_that_fills_it(small_server: Server, tmp_path: Path) -> None:
    client = small_server.client()
    gate = tmp_path / "gate"
    client.launch(f"wait={gate}", "remove={sharedRoot}/filler", experiment="keeper")
    # Without room for the request by file, the ray-worker sends the supervisor a signal.
    client.launch("fill={sharedRoot}/filler", "ticks=/nonexistent", experiment="filler", grace_period_ms=200)
    until(lambda: client.describe().free_disk_bytes == 0)
    try:
        client.stop("filler", grace=200)
    except grpc.RpcError as error:
        # Its end is not recorded before there is room.
        assert error.code() == grpc.StatusCode.UNAVAILABLE, error
    until(lambda: small_server.processes_of("filler") == [])
    gate.touch()
    assert client.events("keeper")[-1].ended.cause == pb.Ended.SUCCEEDED
    events = client.events("filler")
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert client.stop("filler").ended == events[-1].ended
    client.close()


def test_a_stop_of_an_unknown_attempt_on_a_full_disk_is_refused_and_may_be_repeated(
    small_server: Server, tmp_path: Path
) -> None:
    client = small_server.client()
    gate = tmp_path / "gate"
    client.launch("fill={sharedRoot}/filler", f"wait={gate}", "remove={sharedRoot}/filler", experiment="filler")
    until(lambda: client.describe().free_disk_bytes == 0)
    # Without its tombstone, the attempt could still be launched.
    with pytest.raises(grpc.RpcError) as caught:
        client.stop("unknown")
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    gate.touch()
    assert client.events("filler")[-1].ended.cause == pb.Ended.SUCCEEDED
    assert client.stop("unknown").dropped
    assert client.launch("exit=0", experiment="unknown").outcome == pb.LaunchResponse.FENCED
    client.close()


def test_batches_on_a_full_disk_are_recorded_or_marked_and_the_training_continues(
    small_server: Server, tmp_path: Path
) -> None:
    client = small_server.client()
    full, gate = tmp_path / "full", tmp_path / "gate"
    client.launch(
        "fill={sharedRoot}/filler", "batches=5x200000", "metrics=5", f"touch={full}", f"wait={gate}",
        "remove={sharedRoot}/filler", "batches=2x1000",
    )
    until(full.exists)
    gate.touch()
    events = client.events()
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED
    whole = {event.batch.batch for event in events if event.HasField("batch") and event.batch.index == event.batch.count - 1}
    lost = sum(event.gap.count for event in events if event.gap.kind == pb.Gap.BATCH)
    assert len(whole) + lost == 7
    assert [event.metrics.step for event in events if event.HasField("metrics")] == [1, 2, 3, 4, 5]
    client.close()
