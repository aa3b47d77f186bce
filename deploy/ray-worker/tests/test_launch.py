import os
from pathlib import Path

import pytest

from echelon_rayworker import allocation, launch, packages, programvariables
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import Directories

DIRECTORIES = Directories("/s/experiments/e/attempts/1", "/s/experiments/e", "/shared")


ROOTS = [str(Path(__file__).parents[2] / name) for name in ("ray-worker", "capture")]


def test_the_search_path_names_the_packages_unless_they_are_installed(monkeypatch):
    assert packages.with_packages("/mine") == os.pathsep.join([*ROOTS, "/mine"])
    monkeypatch.setattr(packages.sysconfig, "get_path", lambda _name: ROOTS[0])
    assert packages.with_packages("/mine") == os.pathsep.join([ROOTS[1], "/mine"])


def test_a_ray_worker_without_the_capture_names_what_is_missing(monkeypatch):
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ImportError, match="install echelon-capture beside"):
        packages.directory_of("echelon_capture")


def test_placeholders_are_replaced_once() -> None:
    tricky = Directories("/a/{sharedRoot}", "/e", "/shared")
    assert launch.fill("{attemptDir}|{experimentDir}|{sharedRoot}|{x}", tricky) == "/a/{sharedRoot}|/e|/shared|{x}"


def test_the_driver_gets_none_of_the_ray_worker_s_own_variables() -> None:
    own = {
        "PATH": "/bin", "RAY_JOB_ID": "01", "RAY_RAYLET_PID": "7", "RAY_NODE_ID": "ab", "RAY_ADDRESS": "old:1",
        "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "t", "ECHELON_RAY_WORKER_TOKEN": "secret", "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": "/mine", "PYTHONBREAKPOINT": "ray.util.rpdb.set_trace",
    }
    base = launch.base_environment(own, "head:6380", inside_ray=True)
    assert base == {
        "PATH": "/bin", "RAY_ADDRESS": "head:6380", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "t",
        "RAY_USAGE_STATS_ENABLED": "0", "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join([*ROOTS, "/mine"]),
    }
    outside = launch.base_environment(own, "", inside_ray=False)
    assert outside["OMP_NUM_THREADS"] == "1" and outside["CUDA_VISIBLE_DEVICES"] == "" and "RAY_ADDRESS" not in outside


def test_the_plan_s_python_path_comes_before_ours_and_its_variables_win() -> None:
    request = pb.LaunchRequest(experiment="e", attempt=2, plan=pb.LaunchPlan(
        environment={"PYTHONPATH": "{sharedRoot}/verl", "RAY_ADDRESS": "theirs", "EMPTY": ""}
    ))
    made = launch.driver_environment({"PYTHONPATH": "/pkg", "RAY_ADDRESS": "ours"}, request, DIRECTORIES, {})
    assert made == {
        "PYTHONPATH": f"/shared/verl{os.pathsep}/pkg", "RAY_ADDRESS": "theirs", "EMPTY": "",
        "ECHELON_VARIABLES": "EMPTY,PYTHONPATH,RAY_ADDRESS",
        "ECHELON_EXPERIMENT": "e", "ECHELON_ATTEMPT": "2", "ECHELON_SPOOL": f"{DIRECTORIES.attempt}/spool",
    }


def test_variables_of_python_are_the_program_s_alone() -> None:
    plan = pb.LaunchPlan(environment={"PYTHONINSPECT": "1", "PYTHONPATH": "/verl", "PLACE": "{sharedRoot}", "PYTHONUSERBASE": "{sharedRoot}"})
    made = launch.plan_environment({"PYTHONPATH": "/pkg", "PYTHONUNBUFFERED": "1"}, plan, DIRECTORIES)
    assert "PYTHONINSPECT" not in made and made["PYTHONUNBUFFERED"] == "1" and made["PLACE"] == "/shared"
    program = programvariables.program_environment(made)
    assert program == {
        **{name: value for name, value in made.items() if name != programvariables.VARIABLE},
        "PYTHONINSPECT": "1", "PYTHONUSERBASE": "/shared",
    }


def test_the_allocated_nodes_are_in_the_driver_s_environment() -> None:
    nodes = [pb.AllocatedNode(id="m", gpus=4, cpus=4), pb.AllocatedNode(id="k", cpus=2.5)]
    request = pb.LaunchRequest(experiment="e", attempt=1, plan=pb.LaunchPlan(nodes=nodes))
    read = allocation.nodes_of(launch.driver_environment({}, request, DIRECTORIES, {}))
    assert read == [allocation.AllocatedNode("m", 4, 4), allocation.AllocatedNode("k", 0, 2.5)]
    assert [node.cpus_beside for node in read] == [0, 2.5]
    assert allocation.nodes_of({}) == []


def test_secrets_go_into_the_driver_s_environment_and_are_named_there() -> None:
    request = pb.LaunchRequest(experiment="e", attempt=1, plan=pb.LaunchPlan(secrets={"HF_TOKEN": "hf"}))
    made = launch.driver_environment({}, request, DIRECTORIES, {"HF_TOKEN": "value", "A_KEY": "other"})
    assert made["HF_TOKEN"] == "value" and made["ECHELON_HIDDEN_VARIABLES"] == "A_KEY,HF_TOKEN"


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "PYTHONPATH", "RAY_ADDRESS", "ECHELON_SPOOL", "A-B", "TAKEN"])
def test_a_secret_takes_no_variable_that_has_another_use(name: str) -> None:
    plan = pb.LaunchPlan(engine="local", module="m", secrets={name: "reference"}, environment={"TAKEN": "1"})
    with pytest.raises(launch.InvalidLaunch, match="cannot hold a secret"):
        launch.check_request(pb.LaunchRequest(experiment="e", attempt=1, plan=plan))


def test_every_package_of_engines_is_an_engine_and_an_unknown_one_is_refused_with_the_known_ones() -> None:
    assert {"local", "prompt", "replay", "verl-agent"} <= set(launch.ENGINES)
    with pytest.raises(launch.InvalidLaunch, match=f"no engine 'nope'; it has {', '.join(launch.ENGINES)}"):
        launch.check_plan(pb.LaunchPlan(engine="nope", module="m"))
