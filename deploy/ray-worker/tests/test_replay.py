"""The replay engine: what it streams, how it ends, and that each fault shows."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import PACKAGE_ROOT, until
from spec_support import arguments_in, content_of
from echelon_capture.format import build_batch, read_batch_file
from echelon_rayworker.engines.replay.__main__ import RECORD, replay
from echelon_rayworker.engines.replay.faults import FAULTS, FaultError
from echelon_rayworker.framing import read_frames
from echelon_rayworker.gen import batch_pb2
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.spool import NullSpool

GOLDEN = Path(__file__).parents[3] / "test" / "golden"


class Kept(NullSpool):
    def __init__(self) -> None:
        super().__init__()
        self.batches: list[batch_pb2.AdvantageBatch] = []
        self.values: list[dict[str, float]] = []

    def batch(self, step: int, batch: bytes, rows: int) -> None:
        self.batches.append(batch_pb2.AdvantageBatch.FromString(batch))

    def metrics(self, step: int, values: dict[str, float]) -> None:
        self.values.append(dict(values))


def replayed(*arguments: str) -> Kept:
    kept = Kept()
    replay(content_of("replay", *(f"replay.{one}" for one in arguments))["spec"]["replay"], kept)
    return kept


def start(directory: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "echelon_rayworker.engines.replay",
         *arguments_in(directory, content_of("replay", *(f"replay.{one}" for one in arguments)))],
        cwd=PACKAGE_ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_the_record_is_small_and_streams_as_it_is(monkeypatch):
    monkeypatch.setenv("ECHELON_EXPERIMENT", "exp-1")
    monkeypatch.setenv("ECHELON_ATTEMPT", "2")
    assert RECORD.stat().st_size < 100_000
    kept, record = replayed(), read_batch_file(RECORD)
    assert len(kept.batches) == len(record) >= 3
    for step, (message, columns) in enumerate(zip(kept.batches, record), start=1):
        assert np.frombuffer(message.reported_advantage, "<f4").tolist() == np.float32(columns["advantage"]).tolist()
        assert (message.provenance.experiment, message.provenance.attempt) == ("exp-1", 2)
        assert message.provenance.training_step == step
        assert message.provenance.rows_collected == message.rows
        assert 0 < kept.values[step - 1]["episode/success_rate"] <= 1


def test_the_record_is_repeated_and_cut():
    kept = replayed("batches=7")
    assert [message.provenance.training_step for message in kept.batches] == [1, 2, 3, 4, 5, 6, 7]
    assert kept.batches[0].reported_advantage == kept.batches[5].reported_advantage
    assert len(replayed("batches=7", "stop_after=2").batches) == 2


def reported(columns) -> tuple:
    return tuple(np.float32(columns[key]).tobytes() for key in ("step_reward", "advantage"))


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "none"])
def test_every_fault_changes_every_batch_of_the_record(fault):
    for columns in read_batch_file(RECORD):
        faulty = FAULTS[fault](columns)
        assert reported(faulty) != reported(columns)
        assert build_batch(**faulty) != build_batch(**columns)
        assert sorted(faulty["reward"]) == sorted(columns["reward"])
        assert {**faulty["estimator"]} == {**columns["estimator"]}


def test_shuffled_rows_keep_their_true_steps():
    (columns, *_) = read_batch_file(RECORD)
    faulty = FAULTS["shuffled-rows"](columns)
    rows = set(zip(columns["trajectory"], columns["step"], columns["observation"]))
    assert set(zip(faulty["trajectory"], faulty["step"], faulty["observation"])) == rows
    assert faulty["step"] != columns["step"]


def test_groups_of_one_states_the_configured_size_still():
    (columns, *_) = read_batch_file(RECORD)
    faulty = FAULTS["groups-of-one"](columns)
    assert len(set(faulty["group"])) == 24 and faulty["provenance"]["group_size"] == 8


@pytest.mark.parametrize("fault", ["sample-std", "zero-levels-kept", "off-by-one-weights"])
def test_a_fault_of_another_estimator_is_refused(fault):
    columns = next(one for one in read_batch_file(GOLDEN / "gigpo-grpo.json") if one["estimator"]["name"] == "grpo")
    with pytest.raises(FaultError):
        FAULTS[fault](columns)


def test_no_fault_is_no_change():
    for columns in read_batch_file(RECORD):
        assert reported(FAULTS["none"](columns)) == reported(columns)


def test_it_reports_through_the_spool_and_ends_with_the_code_asked_for(tmp_path):
    (tmp_path / "spool").mkdir()
    process = start(tmp_path / "attempt", "batches=2", "exit_code=7", "log_lines=3", ECHELON_SPOOL=str(tmp_path / "spool"))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 7, err
    assert out.splitlines() == [f"step {step}: line {line}" for step in (1, 2) for line in (1, 2, 3)]
    events = [
        pb.AttemptEvent.FromString(payload)
        for path in sorted((tmp_path / "spool").iterdir())
        for payload in (frame.payload for frame in read_frames(path.read_bytes()))
    ]
    assert [event.WhichOneof("body") for event in events] == ["stage", "batch", "metrics"] * 2


def test_hanging_ends_at_sigterm(tmp_path):
    process = start(tmp_path, "hang=true", "batches=1", "log_lines=1")
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM


def test_sigterm_can_be_ignored(tmp_path):
    process = start(tmp_path, "hang=true", "batches=1", "log_lines=1", "ignore_sigterm=true")
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    status = Path(f"/proc/{process.pid}/status")
    # The signal has been taken when it is pending no more.
    until(lambda: "ShdPnd:\t0000000000000000" in status.read_text())
    assert process.poll() is None
    process.kill()
    process.communicate(timeout=60)
