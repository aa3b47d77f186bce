"""Preflight through the ray-worker: the engines' programs, their deadline, and what is left of them."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import grpc
import pytest
from conftest import Client, Server
from spec_support import DIRECTORIES, files_of
from verl_agent_support import verl_agent_launch

from echelon_rayworker import nodes
from echelon_rayworker.engines.verl_agent import memory, preflight
from echelon_rayworker.engines.verl_agent.settings import settings_of
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import SPEC_VERSIONS
from echelon_rayworker.preflight import read_answers

OK, WARNING, ERROR = pb.Finding.OK, pb.Finding.WARNING, pb.Finding.ERROR


def ask(client: Client, module: str, *arguments: str, engine: str = "replay", deadline_ms: int = 0, secrets=(), files=None, **environment: str):
    plan = pb.LaunchPlan(
        engine=engine, module=module, arguments=arguments, environment=environment, files=files, spec_version=SPEC_VERSIONS[-1]
    )
    plan.secrets.update({name: "of-the-test" for name in secrets})
    request = pb.PreflightRequest(plan=plan, deadline_ms=deadline_ms)
    return list(client.call("Preflight", request, pb.PreflightResponse).findings)


def test_small_engines_say_whether_they_would_take_it(server: Server, client: Client):
    found = ask(client, "echelon_rayworker.engines.replay", *DIRECTORIES, files=files_of("replay"))
    assert [(one.check, one.severity) for one in found] == [("record", OK)]
    (found,) = ask(client, "echelon_rayworker.engines.replay", "batches=3")
    assert found.severity == ERROR and "use a control plane and a ray-worker of one version" in found.message and found.remedy
    local = "echelon_rayworker.engines.local"
    found = ask(client, local, *DIRECTORIES, engine="local", files=files_of("local"))
    assert [one.check for one in found] == ["packages", "disk"], found
    assert {one.severity for one in found} == {OK}
    assert not list(server.state_dir.glob("preflight/*")) and not client.list()


def test_an_engine_without_a_preflight_says_so(client: Client, tmp_path: Path):
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/__init__.py").touch()
    (found,) = ask(client, "bare", PYTHONPATH=str(tmp_path))
    assert (found.check, found.severity) == ("engine", OK)
    (found,) = ask(client, "no_such_engine", PYTHONPATH=str(tmp_path))
    assert (found.check, found.severity) == ("preflight", ERROR) and "no_such_engine" in found.message


def test_a_plan_that_cannot_be_launched_is_refused_as_a_launch_is(client: Client):
    with pytest.raises(grpc.RpcError) as refused:
        ask(client, "x; y")
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def program(tmp_path: Path, body: str) -> dict[str, str]:
    package = tmp_path / "code" / "engine_of_the_test"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "preflight.py").write_text(textwrap.dedent(body))
    return {"PYTHONPATH": str(tmp_path / "code"), "API_TOKEN": "never-to-be-shown"}


def test_a_program_that_hangs_is_ended_with_its_children(client: Client, tmp_path: Path):
    """Fails without the end at the deadline, and without the look for the session's other processes."""
    body = f"""
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
        time.sleep(600)
    """
    (found,) = ask(client, "engine_of_the_test", deadline_ms=6000, **program(tmp_path, body))
    assert found.severity == ERROR and "not over after 6 s" in found.message
    stat = Path("/proc", (tmp_path / "pid").read_text(), "stat")
    assert not stat.exists() or ") Z " in stat.read_text()


def test_a_program_that_fails_says_why_without_secrets(client: Client, tmp_path: Path):
    body = "import os, sys\nsys.exit('cannot: ' + os.environ['API_TOKEN'])"
    (found,) = ask(client, "engine_of_the_test", **program(tmp_path, body))
    assert found.severity == ERROR and found.message.endswith("cannot: ***")


def test_a_program_knows_the_names_of_the_plans_secrets(client: Client, tmp_path: Path):
    body = "import os, sys\nsys.exit('secrets: ' + os.environ['ECHELON_HIDDEN_VARIABLES'] + str('B_KEY' in os.environ))"
    (found,) = ask(client, "engine_of_the_test", secrets=("B_KEY", "A_KEY"), **program(tmp_path, body))
    assert found.message.endswith("secrets: A_KEY,B_KEYFalse")


def test_without_a_plan_the_cluster_is_looked_at(client: Client):
    (found,) = client.call("Preflight", pb.PreflightRequest(), pb.PreflightResponse).findings
    assert (found.severity, found.message) == (WARNING, "this ray-worker runs without Ray")


def test_answers_are_found_after_the_output_of_a_library():
    assert read_answers('[notice] ray\n[\n {"a": 1}\n]\n') == [{"a": 1}]
    assert read_answers("no\n") is None


def test_looking_at_a_checkout_runs_no_program_that_its_configuration_names(tmp_path: Path):
    home, mark = tmp_path / "home", tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(home)]
    home.mkdir()
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *arguments], check=True)
    subprocess.run([*git, "config", "core.fsmonitor", str(program)], check=True)
    # Fails where git takes the checkout's own configuration.
    assert preflight.commit_of(str(home)).startswith("commit ")
    assert not mark.exists()


def test_nodes_that_differ_are_named():
    seen = {"reads": True, "writes": True, "python": "3.11.2"}
    looks = [
        nodes.Look("10.0.0.1", 2, **seen, packages={"torch": "2.8"}, devices=(("A", 81920),) * 2),
        nodes.Look("10.0.0.2", 4, **{**seen, "writes": False}, packages={"torch": ""}, devices=(("A", 81920),) * 2),
        nodes.Look("10.0.0.3", 1, trouble="it did not answer a task in time"),
    ]
    shared = nodes.shared_answers(looks, "/s")
    assert [one.ok for one in shared] == [True, False, False]
    assert "may not write to /s" in shared[1].message and "did not answer" in shared[2].message
    (torch,) = nodes.version_answers(looks, ["torch"])
    assert torch.message == "torch differs between nodes: missing on 10.0.0.2; 2.8 on 10.0.0.1"
    assert [one.ok for one in nodes.device_answers(looks)] == [True, False]


def test_memory_is_guessed_from_the_models_name(tmp_path: Path):
    def answer(model: str, *overrides: str, gib: int = 0):
        given = [f"actor_rollout_ref.model.path={model}", "trainer.n_gpus_per_node=2", *overrides]
        run = settings_of(verl_agent_launch(tmp_path, *given), {})
        looks = [nodes.Look("n", 2, devices=(("A", gib * 1024),))] if gib else []
        (found,) = memory.memory_answers(run, looks)
        return found

    assert "does not tell its size" in answer("Qwen/Q").message
    assert "about 11 GiB" in answer("Qwen/Qwen2.5-1.5B-Instruct").message
    assert answer("Qwen/Qwen2.5-7B-Instruct", gib=80).severity == "warning"
    assert not answer("Qwen/Qwen2.5-7B-Instruct", gib=80).ok
    offload = [f"actor_rollout_ref.actor.fsdp_config.{one}_offload=True" for one in ("param", "optimizer")]
    assert answer("Qwen/Qwen2.5-7B-Instruct", *offload, gib=80).ok


