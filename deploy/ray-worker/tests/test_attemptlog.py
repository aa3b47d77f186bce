from pathlib import Path

import pytest
from test_eventlog import read_all

from echelon_rayworker import attemptlog as module
from echelon_rayworker.attemptlog import MIN_BUDGET_BYTES, AttemptLog
from echelon_rayworker.drain import Run
from echelon_rayworker.eventlog import EventLogWriter, read_progress
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.reports import Refused, SpooledBatch

MEBIBYTE = 1024 * 1024


def run(size: int, count: int = 1) -> Run:
    return Run(pb.LogLines.STDOUT, ["x" * (size // count - 1)] * count, size)


def batch(step: int, size: int, rows: int = 3) -> SpooledBatch:
    return SpooledBatch(step, rows, bytes(size), bytes(32))


def metric(step: int) -> pb.AttemptEvent:
    return pb.AttemptEvent(metrics=pb.Metrics(step=step, values={"x": 1.0}))


def make(directory: Path, budget: int = MIN_BUDGET_BYTES) -> tuple[AttemptLog, EventLogWriter]:
    log = EventLogWriter(str(directory))
    return AttemptLog(log, str(directory), budget), log


def bodies(events: list[pb.AttemptEvent]) -> list[str]:
    return [event.WhichOneof("body") for event in events]


def test_lines_go_first_then_batches_and_small_events_always_fit(tmp_path: Path) -> None:
    kept, _ = make(tmp_path)
    kept.lines(run(MEBIBYTE * 45 // 100))
    kept.lines(run(MEBIBYTE // 10, count=4))  # past one half
    kept.report(batch(1, MEBIBYTE * 40 // 100))
    kept.report(batch(2, MEBIBYTE * 10 // 100, rows=9))  # past nine tenths
    for step in range(1, 2001):
        kept.report(metric(step))
    assert kept.commit(everything=True)
    events = read_all(tmp_path)
    assert bodies(events[:4]) == ["log", "batch", "gap", "metrics"]
    gap = events[2].gap
    assert (gap.kind, gap.step, gap.count, gap.rows, gap.bytes) == (pb.Gap.BATCH, 2, 1, 9, MEBIBYTE * 10 // 100)
    assert sum(event.HasField("metrics") for event in events) == 2000
    last = events[-1].gap
    assert (last.kind, last.count, last.bytes) == (pb.Gap.LOGS, 4, MEBIBYTE // 10)
    assert "budget" in last.reason and "budget" in gap.reason


def test_one_marker_stands_for_a_dropped_run(tmp_path: Path) -> None:
    kept, _ = make(tmp_path)
    kept.lines(run(10))
    for _ in range(5):
        kept.lines_dropped(3, 100, "printed too fast")
    kept.lines(run(20))
    kept.commit(everything=True)
    events = read_all(tmp_path)
    assert bodies(events) == ["log", "gap", "log"]
    assert (events[1].gap.count, events[1].gap.bytes, events[1].gap.reason) == (15, 500, "printed too fast")


def test_batches_are_numbered_over_what_was_recorded(tmp_path: Path) -> None:
    kept, _ = make(tmp_path)
    kept.report(batch(5, 100))
    kept.report(batch(6, MEBIBYTE))
    kept.report(batch(7, 100))
    kept.commit(everything=True)
    numbers = [(e.batch.step, e.batch.batch) for e in read_all(tmp_path) if e.HasField("batch")]
    assert numbers == [(5, 1), (7, 2)]


def test_small_events_are_on_disk_at_once_and_lines_a_little_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    kept, _ = make(tmp_path)
    kept.lines(run(10))
    assert not kept.commit() and read_progress(str(tmp_path)).last_sequence == 0
    now[0] += module.LINES_COMMIT_SECONDS * 1.01
    assert kept.commit() and read_progress(str(tmp_path)).last_sequence == 1
    kept.lines(run(10))
    kept.event(metric(1))
    assert kept.commit() and read_progress(str(tmp_path)).last_sequence == 3


def test_a_refusing_disk_is_tried_again_and_the_order_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    kept, log = make(tmp_path)
    commit = log.commit

    def refuse() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log, "commit", refuse)
    kept.event(metric(1))
    assert not kept.commit() and kept.blocked
    kept.lines(run(10))
    kept.report(batch(2, 100))
    kept.event(metric(3))
    monkeypatch.setattr(log, "commit", commit)
    assert not kept.commit()  # not before its time
    now[0] += module.RETRY_SECONDS
    assert kept.commit(everything=True) and not kept.blocked
    assert bodies(read_all(tmp_path)) == ["metrics", "gap", "metrics", "gap"]


def test_lines_from_the_spool_obey_the_same_order(tmp_path: Path) -> None:
    kept, _ = make(tmp_path)
    kept.report(Run(pb.LogLines.STDERR, ["from a node"], 12))
    kept.lines(run(MEBIBYTE))
    kept.commit(everything=True)
    assert bodies(read_all(tmp_path)) == ["log", "gap"]


def test_reports_beyond_twice_the_budget_become_one_gap_and_the_end_is_recorded(tmp_path: Path) -> None:
    kept, log = make(tmp_path)
    for step in range(1, 101):
        kept.report(pb.AttemptEvent(stage=pb.Stage(name="x" * 30_000, step=step)))
    assert kept.commit(everything=True)
    kept.event(pb.AttemptEvent(ended=pb.Ended(cause=pb.Ended.SUCCEEDED)))
    assert kept.commit(everything=True)
    events = read_all(tmp_path)
    stages = sum(event.HasField("stage") for event in events)
    assert 60 <= stages <= 70 and bodies(events[stages:]) == ["gap", "ended"]
    assert events[-2].gap.count == 100 - stages and "budget" in events[-2].gap.reason
    assert log.used_bytes < 2.1 * MEBIBYTE


def test_refusals_of_one_reason_are_reported_at_once_and_then_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    kept, _ = make(tmp_path)
    kept.report(Refused("a", count=2, size=10))
    assert kept.commit()
    for _ in range(1000):
        kept.report(Refused("a", size=5))
        kept.report(Refused("b"))
        kept.commit()
    now[0] += module.GAP_SECONDS * 1.01
    assert kept.commit()
    gaps = [(event.gap.reason, event.gap.count, event.gap.bytes) for event in read_all(tmp_path)]
    assert gaps == [("a", 2, 10), ("b", 1, 0), ("a", 1000, 5000), ("b", 999, 0)]
