"""Steps of several ranks that reach a sink with one writer, as one batch each."""

from __future__ import annotations

import numpy
import pytest

from echelon_capture.ranks import run_of
from echelon_capture.recorder import Recorder

SIZE = 3


def step_of(rank, number=7, run="ab12"):
    """What a rank records of its two rows, of which the second has a token more."""
    column = numpy.arange(5, dtype="float32") - 10 * (rank + 1)
    micro_batches = [{"rank": rank, "index": at} for at in range(2)]
    return {
        "name": f"update {number}",
        "step": {
            "optimizerStep": number, "run": run, "dataParallelSize": SIZE, "microBatches": micro_batches,
            "window": {"microBatches": 4, "tokens": 10 + rank},
        },
        "microBatch": numpy.array([0, 1]),
        "reported": {"advantage": numpy.array([rank, -rank], dtype="float32")},
        "tokens": {"offset": numpy.array([0, 2, 5]), "mask": numpy.ones(5, bool), "logProb": column},
    }  # fmt: skip


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    """A recorder for each rank of an attempt, and the batches of its spool."""
    spool = tmp_path / "attempts" / "1" / "spool"
    spool.mkdir(parents=True)
    environment = {"ECHELON_SPOOL": str(spool), "ECHELON_CAPTURE_DIR": str(tmp_path / "captured")}

    def batches():
        from echelon_rayworker.framing import read_frames
        from echelon_rayworker.gen import rayworker_pb2 as pb
        from step_reader import read_step_batch

        frames = [frame for path in sorted(spool.iterdir()) for frame in read_frames(path.read_bytes())]
        return [read_step_batch(pb.AttemptEvent.FromString(frame.payload).batch.data) for frame in frames]

    return lambda rank: Recorder({**environment, "RANK": str(rank)}), batches


def test_the_steps_of_all_ranks_reach_an_attempt_as_one_batch(attempt):
    recorder, batches = attempt
    recorders = [recorder(rank) for rank in range(SIZE)]
    for rank in (2, 0, 1):
        recorders[rank].step(7, 2, lambda rank=rank: step_of(rank))
    assert all(recorders[rank].close(5) for rank in (1, 2, 0))
    (batch,) = batches()
    assert [one["rank"] for one in batch["step"]["microBatches"]] == [0, 0, 1, 1, 2, 2]
    assert batch["step"]["window"] == {"microBatches": 4, "tokens": 33}
    assert list(batch["microBatch"]) == [0, 1, 2, 3, 4, 5]
    assert list(batch["tokens"]["offset"]) == [0, 2, 5, 7, 10, 12, 15]
    assert list(batch["tokens"]["logProb"][::5]) == [-10, -20, -30]
    assert list(batch["reported"]["advantage"]) == [0, 0, 1, -1, 2, -2]


def test_a_rank_that_leaves_nothing_is_missing_in_the_batch_and_is_not_waited_for(attempt):
    recorder, batches = attempt
    for rank in (1, 0):
        own = recorder(rank)
        own.step(7, 2, lambda rank=rank: step_of(rank))
        assert own.close(5)
    (batch,) = batches()
    assert [one["rank"] for one in batch["step"]["microBatches"]] == [0, 0, 1, 1]
    assert batch["step"]["dataParallelSize"] == SIZE


def test_what_another_training_left_is_not_taken(attempt):
    recorder, batches = attempt
    other, own = recorder(1), recorder(0)
    other.step(7, 2, lambda: step_of(1, run="cd34"))
    other.close(5)
    own.step(7, 2, lambda: step_of(0))
    assert own.close(5)
    (batch,) = batches()
    assert [one["rank"] for one in batch["step"]["microBatches"]] == [0, 0]


LAUNCHED = {"MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"}


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({**LAUNCHED, "RANK": "0"}, {**LAUNCHED, "RANK": "1"}, True),
        (LAUNCHED, {**LAUNCHED, "MASTER_PORT": "29501"}, False),
        (LAUNCHED, {**LAUNCHED, "TORCHELASTIC_RESTART_COUNT": "1"}, False),
        ({}, {}, False),
    ],
)
def test_the_ranks_of_a_training_name_its_run_alike_and_other_trainings_do_not(one, other, is_same):
    assert (run_of(one, 1) == run_of(other, 1)) is is_same
    assert run_of(one, 1) != run_of(one, 2)
