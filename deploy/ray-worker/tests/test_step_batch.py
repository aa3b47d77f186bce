"""Optimizer steps on the wire: Python and TypeScript read the same files."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import pytest
from step_reader import read_step_batch

from echelon_capture.format import build_step_batch

STEPS = Path(__file__).parents[3] / "test/golden/steps"


def step():
    return json.loads((STEPS / "every-column.json").read_text())["batches"][0]


def as_wire(batch):
    """A batch of a file with the types of the wire."""
    floats = lambda values: [None if value != value else value for value in array("f", [float("nan") if v is None else v for v in values])]
    tokens = {key: floats(column) if any(isinstance(v, float) for v in column) else column for key, column in batch["tokens"].items()}
    return {**batch, "tokens": tokens, "reported": {key: floats(column) for key, column in batch["reported"].items()}}


def listed(batch):
    """A batch that was read, with lists in place of arrays and None in place of NaN."""
    plain = lambda column: [None if value != value else value for value in column]
    rows = {key: plain(value) if isinstance(value, array) else value for key, value in batch.items()}
    return {
        **rows,
        "reported": {key: plain(column) for key, column in batch["reported"].items()},
        "tokens": {key: plain(column) for key, column in batch["tokens"].items()},
    }


def test_a_step_with_every_column_is_the_same_after_the_wire():
    assert listed(read_step_batch(build_step_batch(step()))) == as_wire(step())


def test_a_step_that_typescript_wrote_is_read_as_its_file_says():
    read = listed(read_step_batch((STEPS / "typescript.pb").read_bytes()))
    # TypeScript states the defaults of the settings as well.
    assert read["step"]["policyLoss"] == step()["step"]["policyLoss"]
    assert {**read, "step": None} == {**as_wire(step()), "step": None}


def test_the_bytes_that_typescript_reads_are_those_that_python_writes():
    assert build_step_batch(step()) == (STEPS / "python.pb").read_bytes()


@pytest.mark.parametrize(
    "tokens",
    [{"offset": [0, 2], "logProb": [-1.0]}, {"offset": [0, 1], "logprobs": [-1.0]}],
    ids=["a column of another length", "an unknown column"],
)
def test_a_step_with_a_wrong_column_is_refused(tokens):
    with pytest.raises(ValueError, match="tokens"):
        build_step_batch({"tokens": tokens})


def test_bytes_of_another_format_are_refused():
    with pytest.raises(ValueError, match="echelon-batch/3"):
        read_step_batch(b"\x0a\x0fechelon-batch/2")


def test_flags_of_arrays_are_the_same_bytes_as_flags_of_lists():
    numpy = pytest.importorskip("numpy")
    mask = [1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1]
    tokens = {"offset": [0, len(mask)], "logProb": [-1.0] * len(mask)}
    written = [build_step_batch({**step(), "rows": 1, "tokens": {**tokens, "mask": column}}) for column in (mask, numpy.array(mask))]
    assert written[0] == written[1]
    assert list(read_step_batch(written[1])["tokens"]["mask"]) == mask
