# needs: trl
"""Each public bug of training steps in a training of TRL's GRPOTrainer on two ranks, as the hook records it."""

from __future__ import annotations

import sys

import pytest

import planted_trl
from planted_support import compared, outcomes, slug
from ranks_support import run_ranks
from trl_ranks_support import GOLDEN, trains

pytest.importorskip("trl")


def captured(folder, size, cases, **more):
    """Runs the cases, with a policy that is sure of its tokens."""
    import torch

    sys.path.insert(0, str(GOLDEN))
    import trl_run

    torch.manual_seed(1)
    model = trl_run.model()
    model.lm_head.weight.data *= 25
    model.save_pretrained(folder / "model")
    run_ranks(size, {f"of/{slug(name)}": trains(plant, **settings, **more) for name, (plant, settings) in cases.items()}, folder)
    return outcomes(folder / "of", list(cases))


@pytest.mark.parametrize(("size", "bf16"), [(2, False), (4, False), (2, True), (4, True)])
def test_right_trainings_have_nothing_wrong(tmp_path, size, bf16):
    # For two windows of four ranks there are not enough prompts.
    cases = {name: case for name, case in planted_trl.RIGHT.items() if size == 2 or name != "windows"}
    found = captured(tmp_path, size, cases, bf16=bf16)
    assert {name: one for name, one in found.items() if one["found"]} == {}


def test_no_planted_bug_is_right(tmp_path):
    found = captured(tmp_path, 2, planted_trl.PLANTED)
    assert [name for name, one in found.items() if one["status"] == 0 or not one["found"]] == []
    compared("trl", found, planted_trl.NOT_PLANTED)
