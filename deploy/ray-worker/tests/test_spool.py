import hashlib
import math
import os
import resource
from pathlib import Path

import pytest

from echelon_rayworker.framing import read_frames
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.spool import CHUNK_BYTES, NullSpool, Spool


def events(directory: Path) -> list[pb.AttemptEvent]:
    found = []
    for path in sorted(directory.iterdir()):
        found += [pb.AttemptEvent.FromString(frame.payload) for frame in read_frames(path.read_bytes())]
    return found


def test_reports_are_framed_events_in_the_order_of_the_calls(tmp_path: Path) -> None:
    spool = Spool.from_environment({"ECHELON_SPOOL": str(tmp_path)})
    spool.stage("step 3 of 40", step=3, steps=40)
    spool.metrics(3, {"a": 0.1, "nan": math.nan, "inf": math.inf, "text": "no number"})  # type: ignore[dict-item]
    spool.checkpoint(3, "checkpoints/step-3")
    spool.close()
    stage, metrics, checkpoint = events(tmp_path)
    assert (stage.stage.name, stage.stage.step, stage.stage.steps) == ("step 3 of 40", 3, 40)
    assert metrics.metrics.values["a"] == 0.1 and math.isnan(metrics.metrics.values["nan"])
    assert metrics.metrics.values["inf"] == math.inf and "text" not in metrics.metrics.values
    assert checkpoint.checkpoint.path == "checkpoints/step-3"
    assert all(event.sequence == 0 and event.time_unix_ms > 0 for event in (stage, metrics, checkpoint))


def test_reports_that_cannot_be_made_are_counted(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    for _ in range(3):
        spool.metrics("first", {"a": 1})  # type: ignore[arg-type]
    spool.batch("first", b"data", rows=1)  # type: ignore[arg-type]
    spool.close()
    gaps = [event.gap for event in events(tmp_path)]
    assert [(gap.kind, gap.count) for gap in gaps] == [(0, 1), (pb.Gap.BATCH, 1), (0, 2)]
    assert "invalid literal" in gaps[0].reason and "invalid literal" in gaps[1].reason


def test_a_batch_is_cut_into_chunks_below_one_mebibyte(tmp_path: Path) -> None:
    batch = os.urandom(2 * CHUNK_BYTES + 5)
    spool = Spool(str(tmp_path))
    spool.batch(7, batch, rows=12)
    spool.batch(8, b"small", rows=1)
    spool.close()
    chunks = [event.batch for event in events(tmp_path)]
    assert [(c.batch, c.index, c.count, c.step, c.rows) for c in chunks] == [
        (1, 0, 3, 7, 12), (1, 1, 3, 7, 12), (1, 2, 3, 7, 12), (2, 0, 1, 8, 1),
    ]
    assert b"".join(c.data for c in chunks[:3]) == batch
    assert all(c.digest == hashlib.sha256(batch).digest() for c in chunks[:3])
    assert all(event.ByteSize() < 1024 * 1024 for event in events(tmp_path))


def test_a_batch_without_space_becomes_a_gap_and_small_reports_still_fit(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), budget_bytes=4 * CHUNK_BYTES)
    for step in range(1, 5):
        spool.batch(step, bytes(CHUNK_BYTES), rows=10 * step)
        spool.metrics(step, {"x": float(step)})
    found = events(tmp_path)
    assert [event.WhichOneof("body") for event in found] == ["batch", "metrics", "batch", "metrics"] + ["gap", "metrics"] * 2
    gap = found[4].gap
    assert (gap.kind, gap.step, gap.count, gap.bytes, gap.rows) == (pb.Gap.BATCH, 3, 1, CHUNK_BYTES, 30)


def test_space_returns_when_the_reader_removes_segments(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), budget_bytes=24 * 1024 * 1024)
    for step in range(30):
        spool.batch(step, bytes(CHUNK_BYTES), rows=1)
    assert events(tmp_path)[-1].WhichOneof("body") == "gap"
    for path in sorted(tmp_path.iterdir())[:-1]:
        path.unlink()
    spool.batch(99, b"fits", rows=1)
    assert events(tmp_path)[-1].batch.step == 99


def test_a_disk_that_refuses_writes_never_raises_and_its_reports_follow_later(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    spool.stage("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
    try:
        spool.metrics(1, {"x" * 100: 1.0})
        spool.batch(1, bytes(1000), rows=5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    spool.stage("after")
    assert [event.WhichOneof("body") for event in events(tmp_path)] == ["stage", "metrics", "gap", "stage"]


def test_a_directory_that_does_not_exist_never_raises(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "missing"))
    spool.stage("x")
    spool.batch(1, b"x", rows=1)
    spool.close()
    assert not (tmp_path / "missing").exists()


def test_a_forked_child_writes_a_file_of_its_own(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    spool.stage("parent")
    child = os.fork()
    if child == 0:
        spool.stage("child")
        os._exit(0)
    os.waitpid(child, 0)
    spool.stage("parent again")
    names = {path.name: [pb.AttemptEvent.FromString(f.payload).stage.name for f in read_frames(path.read_bytes())]
             for path in tmp_path.iterdir()}
    assert sorted(names.values()) == [["child"], ["parent", "parent again"]]


@pytest.mark.parametrize("environment", [{}, {"ECHELON_SPOOL": ""}])
def test_without_the_variable_reports_are_dropped(environment: dict[str, str], tmp_path: Path) -> None:
    os.chdir(tmp_path)
    spool = Spool.from_environment(environment)
    assert isinstance(spool, NullSpool)
    spool.stage("x")
    spool.batch(1, b"x", rows=1)
    spool.close()
    assert list(tmp_path.iterdir()) == []
