# needs: verl
"""The launcher on verl itself, with Ray."""

from __future__ import annotations

import json

import pytest

from conftest import verified
from launcher_support import Trainings

pytest.importorskip("verl")
pytest.importorskip("ray")


@pytest.fixture(scope="module")
def trainings(tmp_path_factory):
    """See `Trainings`."""
    return Trainings(tmp_path_factory.mktemp("verl"), [])


@pytest.fixture(scope="module")
def alone(trainings):
    """The training without the launcher."""
    found = trainings.run("alone", is_launched=False)
    assert found["echelon"] == [] and found["hooks"] == []
    return found


def is_recorded(found, alone) -> None:
    """Fails unless the training has the numbers of one without the launcher, and its batches and steps are verified."""
    assert (found["advantages"], found["weights"]) == (alone["advantages"], alone["weights"])
    assert found["hooks"] == ["trainer", "actor"] and found["bystander"] == []
    assert not (found["folder"] / "gaps.jsonl").exists()
    # The rows of the made-up actor are not those of the batches, so that some stages are not verified: 3.
    status, reports = verified(found["folder"])
    assert status == 3 and [one["name"] for one in reports] == ["step 1", "step 2"] and all(one["ok"] for one in reports), reports
    assert len(list(found["folder"].glob("update-*.pb"))) == 1


def test_a_training_that_starts_its_own_ray_is_recorded_beside_a_sitecustomize_and_a_hook_of_the_user(trainings, alone):
    own = trainings.place / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import os\nos.environ['MINE'] = 'set'\n")
    (own / "mine.py").write_text("def hook(runtime_env):\n    print('asked', sorted(runtime_env['env_vars'])[:1])\n    return runtime_env\n")
    path = f"{trainings.path}:{own}"
    found = trainings.run("local", PYTHONPATH=path, RAY_RUNTIME_ENV_HOOK="mine.hook")
    is_recorded(found, alone)
    assert "the hook was in 2 processes (1 of trainers, 1 of actors)" in found["output"]
    assert found["variables"]["MINE"] == "set"


def test_a_training_in_a_ray_that_runs_already_is_recorded_and_no_secret_reaches_it(trainings, alone):
    found = trainings.run("running", in_ray=True, ECHELON_TOKEN="a-secret")
    is_recorded(found, alone)
    assert found["variables"]["ECHELON_TOKEN"] is None


def test_a_runtime_environment_of_the_user_is_kept(trainings, alone):
    stated = f"+ray_kwargs.ray_init.runtime_env.env_vars={{MINE:'stated',PYTHONPATH:'{trainings.path}'}}"
    found = trainings.run("stated", stated, in_ray=True, NODE_PATH="/nowhere")
    is_recorded(found, alone)
    assert found["variables"]["MINE"] == "stated"


def test_a_submitted_job_that_states_the_search_path_is_recorded(trainings, alone):
    job = {"runtime_env": {"env_vars": {"PYTHONPATH": trainings.path, "MINE": "of the job"}}}
    found = trainings.run("submitted", in_ray=True, NODE_PATH="/nowhere", RAY_JOB_CONFIG_JSON_ENV_VAR=json.dumps(job))
    is_recorded(found, alone)
    assert found["variables"]["MINE"] == "of the job"
