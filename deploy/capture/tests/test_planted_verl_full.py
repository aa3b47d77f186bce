# needs: verl
"""Each public bug of training steps in verl's engine and losses on two ranks, as the hook records it."""

from __future__ import annotations

import pytest

import planted_verl
from planted_support import compared, outcomes, slug
from ranks_support import run_ranks
from verl_ranks_support import trains

pytest.importorskip("verl.workers.engine_workers")


def captured(folder, size, cases, **more):
    """Runs the cases, and gives what the command line says of each."""
    run_ranks(size, {f"of/{slug(name)}": trains(plant=plant, **settings, **more) for name, (plant, settings) in cases.items()}, folder)
    return outcomes(folder / "of", list(cases))


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_right_updates_have_nothing_wrong(tmp_path, size, dtype):
    found = captured(tmp_path, size, planted_verl.RIGHT, dtype=dtype)
    assert {name: one for name, one in found.items() if one["found"]} == {}


def test_no_planted_bug_is_right(tmp_path):
    found = captured(tmp_path, 2, planted_verl.PLANTED)
    assert [name for name, one in found.items() if one["status"] == 0 or not one["found"]] == []
    compared("verl", found, planted_verl.NOT_PLANTED)
