# needs: verl-agent
"""The launcher on verl-agent's fork of verl, with Ray. VERL_AGENT_HOME: a checkout of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import ROOT, verified
from launcher_support import Trainings

HOME = os.environ.get("VERL_AGENT_HOME", "")


@pytest.mark.parametrize("in_ray", [False, True])
def test_verl_agent_s_own_trainer_and_actor_are_recorded_beside_another_sitecustomize(tmp_path, in_ray):
    if not HOME:
        pytest.skip("VERL_AGENT_HOME is not set")
    pytest.importorskip("ray")
    # The fork imports these packages and does not use them here.
    for name in ("PIL/__init__.py", "PIL/Image.py", "wandb/__init__.py"):
        (tmp_path / "stubs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "stubs" / name).write_text("class Image: ...\n")
    # Without the `sitecustomize` of the first directory the fork cannot train on a CPU.
    trainings = Trainings(tmp_path, [ROOT / "scripts" / "verl-agent-on-cpu", Path(HOME), tmp_path / "stubs"])
    alone = trainings.run("alone", is_launched=False)
    found = trainings.run("launched", in_ray=in_ray)
    assert (found["advantages"], found["weights"]) == (alone["advantages"], alone["weights"])
    assert found["hooks"] == ["trainer", "actor"] and found["bystander"] == []
    # The rows of the made-up actor are not those of the batches, so that some stages are not verified: 3.
    status, reports = verified(found["folder"])
    assert status == 3 and [one["name"] for one in reports] == ["step 1", "step 2"] and all(one["ok"] for one in reports)
    assert len(list(found["folder"].glob("update-*.pb"))) == 6
