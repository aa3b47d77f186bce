import os

import pytest

from echelon_rayworker import launch
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import Directories

DIRECTORIES = Directories("/s/experiments/e/attempts/1", "/s/experiments/e", "/shared")


def test_placeholders_are_replaced_once() -> None:
    tricky = Directories("/a/{sharedRoot}", "/e", "/shared")
    assert launch.fill("{attemptDir}|{experimentDir}|{sharedRoot}|{x}", tricky) == "/a/{sharedRoot}|/e|/shared|{x}"


def test_the_driver_gets_none_of_the_ray_worker_s_own_variables() -> None:
    own = {
        "PATH": "/bin", "RAY_JOB_ID": "01", "RAY_RAYLET_PID": "7", "RAY_NODE_ID": "ab", "RAY_ADDRESS": "old:1",
        "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "t", "ECHELON_RAY_WORKER_TOKEN": "secret", "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": "/mine",
    }
    base = launch.base_environment(own, "head:6380", inside_ray=True)
    assert base == {
        "PATH": "/bin", "RAY_ADDRESS": "head:6380", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "t",
        "RAY_USAGE_STATS_ENABLED": "0", "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": f"{launch.package_root()}{os.pathsep}/mine",
    }
    outside = launch.base_environment(own, "", inside_ray=False)
    assert outside["OMP_NUM_THREADS"] == "1" and outside["CUDA_VISIBLE_DEVICES"] == "" and "RAY_ADDRESS" not in outside


def test_the_plan_s_python_path_comes_before_ours_and_its_variables_win() -> None:
    request = pb.LaunchRequest(experiment="e", attempt=2, plan=pb.LaunchPlan(
        environment={"PYTHONPATH": "{sharedRoot}/verl", "RAY_ADDRESS": "theirs", "EMPTY": ""}
    ))
    made = launch.driver_environment({"PYTHONPATH": "/pkg", "RAY_ADDRESS": "ours"}, request, DIRECTORIES)
    assert made == {
        "PYTHONPATH": f"/shared/verl{os.pathsep}/pkg", "RAY_ADDRESS": "theirs", "EMPTY": "",
        "ECHELON_EXPERIMENT": "e", "ECHELON_ATTEMPT": "2", "ECHELON_SPOOL": f"{DIRECTORIES.attempt}/spool",
    }


@pytest.mark.parametrize(
    ("element", "shown"),
    [
        ("trainer.api_key=abc", "trainer.api_key=***"), ("+env.WANDB_API_KEY=abc", "+env.WANDB_API_KEY=***"),
        ("hf_token=x=y", "hf_token=***"), ("data.max_token=512", "data.max_token=512"), ("lr=1e-6", "lr=1e-6"),
        ("note=it is s3cret-value", "note=it is ***"), ("algorithm.use_token=true", "algorithm.use_token=***"),
    ],
)
def test_a_shown_command_has_no_secret(element: str, shown: str) -> None:
    assert launch.mask_command([element], launch.masker(["s3cret-value"])) == [shown]


def test_secret_values_are_those_of_secret_names() -> None:
    environment = {"WANDB_API_KEY": "abcdefgh", "RAY_AUTH_TOKEN": "abcdefghij", "PATH": "/usr/bin", "TOKEN": "short"}
    assert launch.secret_values(environment) == ["abcdefghij", "abcdefgh"]
    assert launch.masker([]) is None
