"""Tests of placement on a Ray of four nodes. Run by test_placement_ray.py."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest
from conftest import PACKAGE_ROOT, PYTHON_PATH, until
from ray_nodes import RayNodes
from spec_support import arguments_in, content_of
from test_verl_agent_export import content as export_content
from test_verl_agent_export import save
from verl_agent_support import verl_agent_launch

import ray
from echelon_rayworker import allocation, gang, nodes, processes
from echelon_rayworker.allocation import AllocatedNode
from echelon_rayworker.engines import savedsteps
from echelon_rayworker.engines.answers import Answer
from echelon_rayworker.engines.verl_agent import placement, preflight
from echelon_rayworker.engines.verl_agent.settings import settings_of
from echelon_rayworker.ending import Circumstances, describe_end
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.spooltail import SpoolTail
from ray.util.placement_group import (
    get_placement_group, placement_group, placement_group_table, remove_placement_group,
)  # fmt: skip

STANDIN = Path(__file__).parent / "standin"
DATASET = PACKAGE_ROOT / "echelon_rayworker" / "engines" / "verl_agent" / "capture_dataset.py"
PATIENCE = 240
SMALL = [
    "rollout.groups=2", "rollout.group_size=2", "evaluation.games=2", "environment.max_steps=8", "training.save_every=1",
    "training.step_delay_seconds=0.02",
]  # fmt: skip


class Run:
    """The engine's launcher with the stand-in for placement. `nodes`: what is allocated to it."""

    def __init__(self, result: Path, nodes: list[AllocatedNode], environments: int = 2) -> None:
        self.result = result
        gpus = [node.gpus for node in nodes if node.gpus > 0]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "echelon_rayworker.engines.verl_agent.launcher", "placed_trainer", str(result),
             str(DATASET), str(environments), f"{gpus[0]:g}", str(len(gpus))],
            cwd=STANDIN, stdout=open(result.with_suffix(".log"), "w"), stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": f"{PYTHON_PATH}:{STANDIN}", "ECHELON_RUNTIME": json.dumps({
                "variables": {allocation.VARIABLE: allocation.to_text(nodes), "PYTHONPATH": f"{PYTHON_PATH}:{STANDIN}"},
                "init": {},
            }), allocation.VARIABLE: allocation.to_text(nodes)},
        )  # fmt: skip

    def placed(self) -> dict:
        def found() -> bool:
            assert self.process.poll() is None, self.result.with_suffix(".log").read_text()[-4000:]
            return self.result.exists()

        until(found, PATIENCE)
        return json.loads(self.result.read_text())

    def end(self) -> None:
        self.result.unlink()
        assert self.process.wait(timeout=60) == 0


def nodes_of_group(group: str) -> set[str]:
    """As Ray's own state has it."""
    return set(placement_group_table()[group]["bundles_to_node_id"].values())


def nothing_is_left() -> bool:
    return all(group["state"] == "REMOVED" for group in placement_group_table().values())


def test_two_trainings_run_together_on_the_nodes_allocated_to_each(cluster: RayNodes, tmp_path: Path) -> None:
    """The groups of a gang go to its nodes in their order; environments go to the nodes of their CPUs. Fails if Ray places
    the groups."""
    head, one, two, three = (node.id for node in cluster.nodes)
    gang = Run(tmp_path / "gang", [AllocatedNode(three, 1, 1), AllocatedNode(two, 1, 1), AllocatedNode(head, 0, 2)])
    spread = Run(
        tmp_path / "spread", [AllocatedNode(one, 2, 3), AllocatedNode(two, 0, 1), AllocatedNode(three, 0, 1)], environments=4
    )
    placed = gang.placed()
    assert [nodes_of_group(group) for group in placed["groups"]] == [{three}, {two}]
    assert placed["workers"] == [three, two]
    assert {placed["trainer"], *placed["environments"]} == {head}
    placed = spread.placed()
    assert [nodes_of_group(group) for group in placed["groups"]] == [{one}] and placed["workers"] == [one, one]
    assert {placed["trainer"], *placed["environments"]} == {one, two, three}
    assert until(lambda: ray.available_resources()["CPU"] == 24 - 4 - 5)
    for run in (gang, spread):
        run.end()
    assert until(nothing_is_left, 60)


def test_the_nodes_of_a_gang_that_do_not_reach_each_other_are_named(
    cluster: RayNodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (node.address for node in cluster.nodes[1:])
    monkeypatch.setattr(nodes, "connect", lambda: None)  # this process is connected

    def together(*overrides: str) -> list[Answer]:
        settings = settings_of(verl_agent_launch(tmp_path, "trainer.n_gpus_per_node=4", *overrides), {})
        return [one for one in preflight.check_cluster(settings) if one.check == "nodes together"]

    assert together("trainer.nnodes=1") == []
    (answer,) = together("trainer.nnodes=2")
    assert answer.ok and all(node in answer.message for node in (one, two, three)), answer
    assert ("all_reduce (gloo) adds up" in answer.message) == (importlib.util.find_spec("torch") is not None), answer
    with socket.socket() as silent:
        silent.bind((two, 0))  # refuses connections, as a firewall between two nodes does
        ports = gang.places_for
        monkeypatch.setattr(gang, "places_for", lambda found: {
            **ports(found), one: {**ports(found)[one], two: silent.getsockname()[1]},
        })  # fmt: skip
        (answer,) = gang.gang_answers(4)
    assert not answer.ok and f"node {one} does not reach node {two}" in answer.message and three not in answer.message
    assert one in answer.remedy and two in answer.remedy


@pytest.fixture
def verl(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stand-in's verl in this process, without a wrapper afterwards."""
    monkeypatch.syspath_prepend(str(STANDIN))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "verl"]:
        del sys.modules[name]


def asked_for(nodes: list[AllocatedNode], counts: list[int]) -> None:
    placement.install({allocation.VARIABLE: allocation.to_text(nodes)}, room_seconds=2)
    from verl.single_controller.ray.base import RayResourcePool

    RayResourcePool(counts).get_placement_groups()


def ended(error: Exception) -> int:
    last = f"{type(error).__module__}.{type(error).__name__}: {error}"
    known = Circumstances(stop_reason=None, told_to_end=False, kernel_oom_kills=0, last_lines=[last])
    return describe_end(1 << 8, known).cause


def test_a_node_without_room_ends_the_run_as_a_shortage_of_gpus(cluster: RayNodes, verl: None) -> None:
    """Fails with a soft target: Ray would take one of the other two nodes."""
    one = cluster.nodes[1]
    other = placement_group([{"CPU": 1, "GPU": 1, f"node:{one.address}": 0.001}] * 3, strategy="STRICT_PACK")
    ray.get(other.ready())
    try:
        with pytest.raises(placement.NoRoom, match=one.id) as failed:
            asked_for([AllocatedNode(one.id, 2, 2)], [2])
        assert ended(failed.value) == pb.Ended.GPUS_SHORT
        with pytest.raises(placement.NoRoom) as failed:
            placement.reserve_cpus([AllocatedNode(one.id, 0, 2)], room_seconds=2)
        assert ended(failed.value) == pb.Ended.GPUS_SHORT
    finally:
        remove_placement_group(other)
    assert until(nothing_is_left, 60)


def test_more_groups_than_nodes_are_refused(cluster: RayNodes, verl: None) -> None:
    with pytest.raises(placement.NoRoom, match="asks for 2 placement groups; 1 node"):
        asked_for([AllocatedNode(cluster.nodes[1].id, 1, 1)], [1, 1])
    remove_placement_group(get_placement_group("verl_group:0"))
    assert until(nothing_is_left, 60)


def test_without_allocated_nodes_verl_is_left_alone(cluster: RayNodes, verl: None) -> None:
    placement.install({})
    assert placement.MODULE not in sys.modules


PROGRAM = """
import json, os, signal, sys, time
names = ("ECHELON_NODE_RANK", "ECHELON_NODE_COUNT", "PET_NNODES", "MASTER_ADDR", "CUDA_VISIBLE_DEVICES", "MY_VARIABLE")
print(json.dumps({name: os.environ.get(name) for name in names}), flush=True)
print(json.dumps({"step": 1, "rank": int(os.environ["ECHELON_NODE_RANK"])}), flush=True)
print("blocked:", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), flush=True)
rank = os.environ["ECHELON_NODE_RANK"]
open(os.path.join(sys.argv[1], "started-" + rank), "w").close()
while not os.path.exists(os.path.join(sys.argv[1], "go-" + rank)):
    time.sleep(0.05)
sys.exit(int(open(os.path.join(sys.argv[1], "go-" + rank)).read()))
"""


class Command:
    """The command engine with PROGRAM on some nodes. `place`: a directory of its own."""

    def __init__(self, place: Path, nodes: list[AllocatedNode], *settings: str, program: str = PROGRAM) -> None:
        self.place, self.spool = place, place / "spool"
        self.spool.mkdir(parents=True)
        content = content_of("command", "workingDir=null", 'metrics={"jsonPrefix":""}', *settings, plan={"resume": []})
        self.process = subprocess.Popen(
            [sys.executable, "-m", "echelon_rayworker.engines.command", *arguments_in(place, content, place), "--", "python", "-c", program, str(place)],
            cwd=PACKAGE_ROOT, stdout=open(place / "log", "w"), stderr=subprocess.STDOUT,
            env={**os.environ, allocation.VARIABLE: allocation.to_text(nodes), "ECHELON_SPOOL": str(self.spool),
                 "PYTHONPATH": PYTHON_PATH, "ECHELON_VARIABLES": "MY_VARIABLE", "MY_VARIABLE": "mine"},
        )  # fmt: skip

    def started(self, count: int) -> None:
        def found() -> bool:
            assert self.process.poll() is None, self.log()
            return len(list(self.place.glob("started-*"))) == count

        until(found, PATIENCE)

    def log(self) -> str:
        return (self.place / "log").read_text()

    def end(self, *codes: int) -> int:
        for rank, code in enumerate(codes):
            (self.place / "new").write_text(str(code))
            (self.place / "new").rename(self.place / f"go-{rank}")
        return self.process.wait(timeout=PATIENCE)

    def processes(self) -> list[int]:
        return processes.marked_by_environment(f"ECHELON_SPOOL={self.spool}".encode())

    def nothing_is_left(self) -> bool:
        return not self.processes()


def test_a_command_runs_once_on_each_of_its_nodes_with_their_gpus(cluster: RayNodes, tmp_path: Path) -> None:
    _, one, two, _ = cluster.nodes
    run = Command(tmp_path / "run", [AllocatedNode(two.id, 1, 1), AllocatedNode(one.id, 1, 1)])
    run.started(2)
    assert until(lambda: ray.available_resources()["GPU"] == 12 - 2)
    assert run.end(0, 0) == 0
    said = [json.loads(line.removeprefix("[node 1] ")) for line in run.log().splitlines() if line.endswith("}")]
    environments = {one["ECHELON_NODE_RANK"]: one for one in said if "MASTER_ADDR" in one}
    assert sorted(environments) == ["0", "1"]
    for environment in environments.values():
        assert environment["ECHELON_NODE_COUNT"] == environment["PET_NNODES"] == "2"
        assert environment["MASTER_ADDR"] == two.address and environment["MY_VARIABLE"] == "mine"
        assert len(environment["CUDA_VISIBLE_DEVICES"]) == 1
    # Ray blocks SIGINT in its own processes.
    assert "blocked: []" in run.log() and "[node 1] blocked: []" in run.log()
    tail = SpoolTail(str(run.spool))
    reported = [dict(report.metrics.values) for report in tail.poll() if report.HasField("metrics")]
    assert reported == [{"rank": 0.0}]
    assert until(run.nothing_is_left)


def test_a_command_that_fails_on_one_node_is_stopped_on_all(cluster: RayNodes, tmp_path: Path) -> None:
    _, one, two, _ = cluster.nodes
    run = Command(tmp_path / "run", [AllocatedNode(one.id, 1, 1), AllocatedNode(two.id, 1, 1)])
    run.started(2)
    (run.place / "go-1").write_text("")  # not a number
    assert run.process.wait(timeout=PATIENCE) == 1
    assert "ended with exit code 1, so it is stopped on all nodes" in run.log()
    assert until(run.nothing_is_left)


def test_a_command_that_starts_once_reserves_nothing_and_its_processes_end_with_a_killed_driver(
    cluster: RayNodes, tmp_path: Path
) -> None:
    _, one, two, _ = cluster.nodes
    run = Command(tmp_path / "run", [AllocatedNode(one.id, 4, 4), AllocatedNode(two.id, 4, 4)], "start=once")
    run.started(1)
    assert until(lambda: ray.available_resources()["GPU"] == 12)
    assert until(lambda: '"ECHELON_NODE_COUNT": "1"' in run.log(), PATIENCE), run.log()
    run.process.kill()
    run.process.wait()
    assert until(run.nothing_is_left)


def test_a_command_runs_in_its_runtime_environment_and_fails_with_rays_text_without_it(cluster: RayNodes, tmp_path: Path) -> None:
    """With fields that Ray sets up at once. Packages of pip: test_runtime_pip_ray_full.py."""
    interpreter = tmp_path / "interpreter"
    interpreter.write_text(f'#!/bin/sh\nPROBE=there exec {sys.executable} "$@"\n')
    interpreter.chmod(0o755)

    def run(place: str, field: str) -> tuple[int, str]:
        nodes = [AllocatedNode(cluster.nodes[1].id, 1, 1)]
        program = "import google.protobuf, os, ray; print('probe is', os.environ['PROBE'])"
        one = Command(tmp_path / place, nodes, f"runtimeEnv={{{field}}}", program=program)
        return one.process.wait(timeout=PATIENCE), one.log()

    code, log = run("without", f'"py_modules": ["file://{tmp_path}/none.zip"]')
    assert code == 2 and "error: Ray could not set up the runtimeEnv" in log and "none.zip" in log, log
    code, log = run("with", f'"py_executable": "{interpreter}"')
    assert code == 0 and "probe is there" in log, log


def test_an_export_merges_on_its_allocated_node_and_ends_with_its_driver(cluster: RayNodes, tmp_path: Path) -> None:
    three = cluster.nodes[3]
    actor = save(tmp_path, 40)
    target = actor.parents[1] / "global_step_40-huggingface"

    def start(shard: bytes) -> tuple[subprocess.Popen, Path]:
        (actor / "model_world_size_2_rank_1.pt").write_bytes(shard)
        log = tmp_path / shard.decode()
        return subprocess.Popen(
            [sys.executable, "-m", "echelon_rayworker.engines.verl_agent_export", *arguments_in(tmp_path / "attempt", export_content(), tmp_path / "experiments/e", tmp_path)],
            cwd=PACKAGE_ROOT, stdout=open(log, "w"), stderr=subprocess.STDOUT,
            env={**os.environ, allocation.VARIABLE: allocation.to_text([AllocatedNode(three.id, 0, 2)]), "VERL_AGENT_HOME": str(STANDIN)},
        ), log  # fmt: skip

    slow, log = start(b"slow")
    assert until(lambda: "Saving model" in log.read_text(), PATIENCE), log.read_text()
    merging = int(log.read_text().partition("in process ")[2].split()[0])
    assert processes.identify(merging)
    assert until(lambda: ray._private.state.available_resources_per_node()[three.id]["CPU"] == 2)
    slow.terminate()
    assert slow.wait(timeout=60) == 143, log.read_text()
    assert until(lambda: processes.identify(merging) is None, 60)
    assert sorted(one.name for one in actor.parents[1].iterdir()) == ["global_step_40", savedsteps.TRACKER]
    whole, log = start(b"whole")
    assert whole.wait(timeout=PATIENCE) == 0, log.read_text()
    assert (target / "model.safetensors").read_bytes() == b"model 40.0;whole"


def test_a_lost_node_ends_the_local_engine_as_a_failure_of_the_cluster(cluster: RayNodes, tmp_path: Path) -> None:
    """Its actors run on the allocated node alone. The next attempt resumes from the checkpoint on another node. A driver that
    is busy until Ray knows of the loss gets another error than one that waits for an actor. The last test: it kills a node."""
    head, lost, other = cluster.nodes[0], cluster.nodes[3], cluster.nodes[2]

    def train(node: str, steps: int, log: str, experiment: str = "experiment") -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "echelon_rayworker.engines.local",
             *arguments_in(tmp_path / f"{log}.attempt", content_of("local", *SMALL, f"training.steps={steps}"), tmp_path / experiment)],
            cwd=PACKAGE_ROOT, stdout=open(tmp_path / log, "w"), stderr=subprocess.STDOUT,
            env={**os.environ, allocation.VARIABLE: allocation.to_text([AllocatedNode(node, 0, 2)])},
        )  # fmt: skip

    first = train(lost.id, 100_000, "first")
    busy = train(lost.id, 100_000, "busy", "another")
    command = Command(tmp_path / "command", [AllocatedNode(other.id, 1, 1), AllocatedNode(lost.id, 1, 1)])
    command.started(2)

    def are_at_step_3() -> bool:
        for run, log in ((first, "first"), (busy, "busy")):
            assert run.poll() is None, (tmp_path / log).read_text()[-4000:]
        return all("step:3 " in (tmp_path / log).read_text() for log in ("first", "busy"))

    until(are_at_step_3, PATIENCE)
    actors = [one for one in ray._private.state.actors().values() if one["ActorClassName"] == "RolloutActor"]
    assert actors and {one["Address"]["NodeID"] for one in actors if one["State"] == "ALIVE"} == {lost.id}
    busy.send_signal(signal.SIGSTOP)
    cluster.kill(lost)
    assert first.wait(timeout=PATIENCE) == 1
    until(lambda: not any(one["Alive"] for one in ray.nodes() if one["NodeID"] == lost.id), PATIENCE)
    busy.send_signal(signal.SIGCONT)
    assert busy.wait(timeout=PATIENCE) == 1
    known = Circumstances(stop_reason=None, told_to_end=False, kernel_oom_kills=0, last_lines=[])
    for log in ("first", "busy"):
        lines = (tmp_path / log).read_text().splitlines()
        known = dataclasses.replace(known, last_lines=lines[-50:])
        assert describe_end(1 << 8, known).cause == pb.Ended.CLUSTER_FAILED, "\n".join(lines[-50:])
    assert command.process.wait(timeout=PATIENCE) == 1
    known = dataclasses.replace(known, last_lines=command.log().splitlines()[-50:])
    assert describe_end(1 << 8, known).cause == pb.Ended.CLUSTER_FAILED, command.log()
    assert until(command.nothing_is_left)
    lines = (tmp_path / "first").read_text().splitlines()
    reached = max(int(line.split(":")[1].split()[0]) for line in lines if line.startswith("step:"))
    second = train(other.id, reached + 2, "second")
    assert second.wait(timeout=PATIENCE) == 0
    assert "resuming after step" in (tmp_path / "second").read_text()
    assert head.process.poll() is None
