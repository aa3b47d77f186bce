import hashlib
import os
from pathlib import Path

import pytest

from echelon_rayworker import bounds
from echelon_rayworker import spool as spool_module
from echelon_rayworker.framing import encode_frame
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.redaction import Redactor
from echelon_rayworker.spool import CHUNK_BYTES, Spool
from echelon_rayworker.reports import Refused, ReportBounds, SpooledBatch, redact_report
from echelon_rayworker.spooltail import SpoolTail


def kinds(reports: list) -> list[str]:
    return [r.WhichOneof("body") if isinstance(r, pb.AttemptEvent) else type(r).__name__ for r in reports]


def drain(tail: SpoolTail) -> list:
    found = list(tail.poll())
    while not tail.idle:
        found += tail.poll()
    return found


def test_reports_are_followed_as_they_are_written(tmp_path: Path) -> None:
    spool, tail = Spool(str(tmp_path)), SpoolTail(str(tmp_path))
    assert list(tail.poll()) == [] and tail.idle
    for step in range(1, 4):
        spool.stage(f"step {step}")
        spool.batch(step, os.urandom(CHUNK_BYTES + 1), rows=1)
        reports = drain(tail)
        assert kinds(reports) == ["stage", "SpooledBatch"] and len(reports[1].data) == CHUNK_BYTES + 1


def test_segments_are_removed_only_when_asked_and_only_complete_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_module, "SEGMENT_BYTES", 1000)
    spool, tail = Spool(str(tmp_path)), SpoolTail(str(tmp_path))
    for step in range(100):
        spool.metrics(step, {"x": 1.0})
    assert len(list(tmp_path.iterdir())) > 3
    assert len(drain(tail)) == 100
    assert len(list(tmp_path.iterdir())) > 3
    tail.remove_consumed()
    assert len(list(tmp_path.iterdir())) == 1
    spool.stage("continues")
    assert kinds(drain(tail)) == ["stage"]


def test_a_batch_without_its_end_becomes_a_gap(tmp_path: Path) -> None:
    spool, tail = Spool(str(tmp_path)), SpoolTail(str(tmp_path))
    spool.batch(4, bytes(2 * CHUNK_BYTES), rows=8)
    (path,) = tmp_path.iterdir()
    os.truncate(path, path.stat().st_size - 1)
    assert drain(tail) == []
    (gap,) = tail.finish()
    assert (gap.gap.kind, gap.gap.step, gap.gap.rows, gap.gap.bytes) == (pb.Gap.BATCH, 4, 8, CHUNK_BYTES)


def test_batches_of_several_writers_do_not_mix(tmp_path: Path) -> None:
    tail = SpoolTail(str(tmp_path))
    first, second = Spool(str(tmp_path)), Spool(str(tmp_path))
    data = {1: os.urandom(3 * CHUNK_BYTES), 2: os.urandom(3 * CHUNK_BYTES)}
    first.batch(1, data[1], rows=1)
    second.batch(2, data[2], rows=1)
    for batch in drain(tail):
        assert batch.data == data[batch.step]


def test_foreign_and_forbidden_events_are_not_taken_over(tmp_path: Path) -> None:
    forged = pb.AttemptEvent(sequence=9, ended=pb.Ended(cause=pb.Ended.SUCCEEDED)).SerializeToString()
    started = pb.AttemptEvent(started=pb.Started(pid=1)).SerializeToString()
    fine = pb.AttemptEvent(sequence=5, stage=pb.Stage(name="fine")).SerializeToString()
    frames = b"".join(map(encode_frame, [forged, started, b"\xff\xff\xff", fine]))
    (tmp_path / "host-1-aa-000001.spool").write_bytes(frames)
    (tmp_path / "notes.txt").write_text("not a segment")
    reports = drain(SpoolTail(str(tmp_path)))
    assert kinds(reports) == ["Refused", "stage"] and reports[1].sequence == 0


def test_a_damaged_segment_is_a_gap_and_the_next_is_read(tmp_path: Path) -> None:
    fine = encode_frame(pb.AttemptEvent(stage=pb.Stage(name="fine")).SerializeToString())
    (tmp_path / "host-1-aa-000001.spool").write_bytes(fine + bytes(50))
    (tmp_path / "host-1-aa-000002.spool").write_bytes(fine)
    reports = drain(SpoolTail(str(tmp_path)))
    assert kinds(reports) == ["stage", "Refused", "stage"] and reports[1].size == 50


def test_a_batch_without_its_secrets_has_a_digest_of_its_own() -> None:
    secret = b"s3cret-value"
    data = b"before " + secret + b" after"
    batch = SpooledBatch(1, 1, bytearray(data), b"old")
    redact_report(batch, Redactor([secret.decode()]).lines())
    assert len(batch.data) == len(data) and secret not in batch.data
    assert batch.digest == hashlib.sha256(batch.data).digest()


def evaluation(**changes) -> pb.AttemptEvent:
    games = [pb.Game(game="room-1", replicate=1, success=1.0)]
    return pb.AttemptEvent(evaluation=pb.Evaluation(**{"step": 3, "panel": "rooms", "games": games, **changes}))


@pytest.mark.parametrize("changes", [
    {"games": [pb.Game(game="g")] * (bounds.MAX_GAMES_PER_REPORT + 1)},
    {"games": [pb.Game(game="g" * (bounds.MAX_GAME_CHARACTERS + 1))]},
    {"panel": "p" * (bounds.MAX_GAME_CHARACTERS + 1)},
    {"decoding": {f"setting {at}": "1" for at in range(bounds.MAX_DECODING_SETTINGS + 1)}},
    {"decoding": {"prompt": "p" * (bounds.MAX_GAME_CHARACTERS + 1)}},
    {"digest": "a secret"},
    {"digest": "a" * 65},
])  # fmt: skip
def test_an_evaluation_out_of_bounds_is_refused_whole(changes: dict) -> None:
    (refused,) = ReportBounds().bounded(evaluation(**changes))
    assert isinstance(refused, Refused) and "evaluations" in refused.reason
    (fine,) = ReportBounds().bounded(evaluation(digest="a" * 64))
    assert kinds([fine]) == ["evaluation"]


def test_no_text_of_an_evaluation_shows_a_secret() -> None:
    secret = "s3cret-value"
    event = evaluation(
        panel=f"rooms {secret}", decoding={f"key {secret}": f"value {secret}"}, games=[pb.Game(game=f"room {secret}", score=2.0)]
    )
    redact_report(event, Redactor([secret]).lines())
    assert secret.encode() not in event.SerializeToString()
    assert event.evaluation.games[0].score == 2.0 and len(event.evaluation.decoding) == 1


def test_a_training_step_out_of_range_is_refused_since_another_would_be_wrong(tmp_path: Path) -> None:
    spool, tail = Spool(str(tmp_path)), SpoolTail(str(tmp_path))
    for step in (bounds.MAX_STEP, bounds.MAX_STEP + 1):
        spool.metrics(step, {"x": 1.0})
        spool.stage("running", step=step)
        spool.checkpoint(step, "here")
        spool.batch(step, b"data", rows=1)
    reports = drain(tail)
    assert kinds(reports) == ["metrics", "stage", "checkpoint", "SpooledBatch", "Refused", "stage", "Refused", "gap"]
    assert reports[5].stage.step == 0 and reports[7].gap.kind == pb.Gap.BATCH
