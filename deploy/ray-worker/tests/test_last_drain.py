"""Reports that the last drain of a spool did not reach are recorded like all others."""

from pathlib import Path

import pytest
from test_eventlog import read_all

from echelon_rayworker import launch, supervisor
from echelon_rayworker.framing import encode_frame
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.redaction import Redactor

SECRET = "sk-0123456789abcdef"


def test_reports_left_when_the_last_drain_is_cut_are_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = tmp_path / "attempt"
    (attempt / launch.SPOOL_DIRECTORY).mkdir(parents=True)
    directories = launch.Directories(str(attempt), str(tmp_path), str(tmp_path))
    one = supervisor.Supervisor(directories, pb.LaunchRequest(), "node")
    one._reports = Redactor([SECRET]).lines()
    # One report of so many lines that it is recorded in several parts.
    lines = pb.LogLines(source=pb.LogLines.STDOUT, lines=["x" * 16_000] * 8 + [f"uses {SECRET}"])
    frame = encode_frame(pb.AttemptEvent(log=lines).SerializeToString())
    (attempt / launch.SPOOL_DIRECTORY / "writer-000000.spool").write_bytes(frame)
    # The time of the last poll and of the drain is over at once: parts of the report are left.
    monkeypatch.setattr(supervisor, "DRAIN_SECONDS", 0.0)
    one._poll_spool(seconds=0.0)
    one._drain_spool()
    assert one._attempt_log.commit(everything=True)
    events = read_all(attempt)
    recorded = [line for event in events for line in event.log.lines]
    assert len(recorded) == 9 and recorded[-1] == "uses ***"
