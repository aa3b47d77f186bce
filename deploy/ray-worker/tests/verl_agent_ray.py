"""The verl-agent engine against the stand-in checkout, on a real Ray with real torch tensors. Run by test_verl_agent_ray.py.
Runs that do not disturb each other are under way together: most of their time is the start of processes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest
from conftest import PACKAGE_ROOT, Server, end_everything, until
from ray_nodes import OneNode
from spec_support import DIRECTORIES, arguments_in
from verl_agent_support import STANDIN, Reports, verify, verl_agent_content

import ray
from echelon_rayworker import nodes
from echelon_rayworker.engines.spec import FILE
from echelon_rayworker.engines.verl_agent import cluster
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import SPEC_VERSIONS

SMALL = [
    "algorithm.adv_estimator=hgpo", "algorithm.gamma=0.95", "data.train_batch_size=2", "data.val_batch_size=2",
    "env.rollout.n=3", "trainer.n_gpus_per_node=1", "trainer.save_freq=1", "trainer.val_before_train=False",
]  # fmt: skip
# Rows of the data files for these sizes.
DERIVED = {"dataRows": {"train": 2, "validation": 2}}
# Seconds on a busy machine for something that takes one on an idle machine.
PATIENCE = 400
# One group of two, one game to validate, one step: as few processes as a run can have.
FEW = ["data.train_batch_size=1", "data.val_batch_size=1", "env.rollout.n=2", "trainer.total_epochs=1"]


@pytest.fixture(scope="module")
def ray_address(one_node: OneNode) -> Iterator[str]:
    os.environ["RAY_ADDRESS"] = one_node.address
    nodes.connect()
    yield one_node.address
    ray.shutdown()


class Run:
    """One attempt of the engine in a directory of its own; checkpoints are the experiment's."""

    def __init__(self, address: str, directory: Path, *overrides: str, attempt: int = 1, plan: dict = {}, fields: tuple = (), **env: str):
        self.directory = directory / str(attempt)
        (self.directory / "spool").mkdir(parents=True)
        variables = {
            "RAY_ADDRESS": address, "ECHELON_SPOOL": str(self.directory / "spool"), "ECHELON_EXPERIMENT": "exp",
            "ECHELON_ATTEMPT": str(attempt), **env,
        }  # fmt: skip
        content = verl_agent_content(*SMALL, *overrides, fields=fields, **{**DERIVED, **plan})
        # To a file: a pipe without a reader would stop the engine.
        self.log = open(self.directory / "log", "w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "echelon_rayworker.engines.verl_agent", *arguments_in(self.directory, content, directory, directory),
             "--", f"trainer.default_local_dir={directory}/checkpoints", *SMALL, *overrides],
            cwd=PACKAGE_ROOT, env={**os.environ, **variables}, stdout=self.log, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def ends(self, code: int = 0) -> Reports:
        returned = self.process.wait(timeout=PATIENCE)
        assert returned == code, self.text()[-4000:]
        return self.reports()

    def reports(self) -> Reports:
        return Reports(self.directory / "spool")

    def text(self) -> str:
        return (self.directory / "log").read_text()

    def printed(self, text: str) -> bool:
        assert self.process.poll() is None, self.text()[-4000:]
        return text in self.text()


def nothing_is_left() -> bool:
    state = cluster.look()
    return not state["actors"] and not state["placementGroups"] and state["gpusAvailable"] == 8


# test_verl_agent_tensors.py has the other estimators.
ESTIMATORS = {
    "gigpo": ["algorithm.adv_estimator=gigpo"],
    "remax": ["algorithm.adv_estimator=remax"],
    "shuffled": ["standin.shuffle=True"],
}


@pytest.fixture(scope="module")
def started(ray_address: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """One step under each setting, all under way together."""
    started = {}
    for name, overrides in ESTIMATORS.items():
        fields = ("observations=texts",) if name == "gigpo" else ()
        started[name] = Run(ray_address, tmp_path_factory.mktemp(name), *FEW, *overrides, fields=fields)
    return started


@pytest.fixture(scope="module")
def runs(started: dict[str, Run]) -> dict[str, Reports]:
    """What the runs of each setting have reported at their end."""
    reports = {name: run.ends() for name, run in started.items()}
    assert until(nothing_is_left, 60)
    return reports


def test_a_training_reports_its_stages_resumes_and_is_not_run_again(
    ray_address: str, started: dict[str, Run], tmp_path: Path
) -> None:
    reports = Run(ray_address, tmp_path, "trainer.total_epochs=3", "trainer.test_freq=3").ends()
    of_three = [f"step {step} of 3" for step in (1, 2, 3)]
    expected = ["connecting", "building environments", "loading the model", of_three[0], "saving", of_three[1], "saving"]
    assert reports.stages == [*expected, of_three[2], "validating", "saving"]
    assert sorted(reports.metrics) == [1, 2, 3]
    assert reports.metrics[1]["webshop_task_score (not success_rate)"] == 1 / 3
    assert 0 < reports.metrics[1]["actor/lr"] < 1e-5
    assert [(one.step, one.path) for one in reports.of("checkpoint")] == [
        (step, f"checkpoints/global_step_{step}") for step in (1, 2, 3)
    ]
    assert not reports.of("gap")
    provenance = reports.batches[1].provenance
    assert (provenance.experiment, provenance.attempt, provenance.training_step) == ("exp", 1, 2)
    assert (provenance.group_size, provenance.groups, provenance.rows_collected) == (3, 2, reports.batches[1].rows)
    reports = verify(reports.batches, tmp_path / "batches.json")["batches"]
    assert len(reports) == 3 and all(one["ok"] and one["wrong"] == one["unverifiable"] == 0 for one in reports)
    # The next attempt resumes after the last checkpoint, and one after the last step has nothing to do.
    second = Run(ray_address, tmp_path, "trainer.total_epochs=4", "algorithm.hgpo.base_group=True", attempt=2)
    reports = second.ends()
    verified = verify(reports.batches, tmp_path / "second.json")["batches"]
    assert len(verified) == 1 and verified[0]["ok"] and verified[0]["wrong"] == verified[0]["unverifiable"] == 0, verified
    assert sorted(reports.metrics) == [4]
    assert "step 4 of 4" in reports.stages and "step 3 of 4" not in reports.stages
    assert "resumed after step 3" in second.text()
    third = Run(ray_address, tmp_path, "trainer.total_epochs=4", attempt=3).ends()
    assert third.stages == ["finished before: step 4 of 4"] and not third.metrics
    assert [one.step for one in third.of("checkpoint")] == [4]


def test_another_estimator_verifies(runs: dict[str, Reports], tmp_path: Path) -> None:
    (report,) = verify(runs["gigpo"].batches, tmp_path / "batches.json")["batches"]
    assert report["ok"] and report["rows"] == report["exact"] + report["rounding"]


def test_observations_leave_the_cluster_as_texts_if_they_are_asked_for(runs: dict[str, Reports]) -> None:
    texts = {text for batch in runs["gigpo"].batches for text in batch.observation_texts}
    assert texts and all(json.loads(text).startswith("You are in room ") for text in texts)
    assert not runs["shuffled"].batches[0].observation_texts and runs["shuffled"].batches[0].observation_digests


def test_an_estimator_without_a_kernel_leaves_metrics_and_the_reason(runs: dict[str, Reports]) -> None:
    (gap,) = runs["remax"].of("gap")
    assert not runs["remax"].batches and sorted(runs["remax"].metrics) == [1]
    assert gap.reason.startswith("not verifiable: remax") and gap.rows > 0 and gap.step == 1


def test_rows_that_are_shuffled_on_their_way_keep_their_true_steps(runs: dict[str, Reports], tmp_path: Path) -> None:
    """A batch that was shuffled before the estimator agrees with itself; only its numbering at the source tells."""
    (report,) = verify(runs["shuffled"].batches, tmp_path / "batches.json")["batches"]
    assert "steps-out-of-order" in [finding["code"] for finding in report["findings"]], report["findings"]


def test_an_evaluation_names_its_checkpoint_and_refuses_none(ray_address: str, tmp_path: Path) -> None:
    evaluation = ["trainer.val_only=True", "trainer.val_before_train=True"]
    refused = Run(ray_address, tmp_path, *evaluation, attempt=1)
    refused.ends(2)
    assert "would silently evaluate the base model" in refused.text()
    saved = tmp_path / "checkpoints" / "global_step_1"
    (saved / "actor").mkdir(parents=True)
    for kind in ("model", "optim", "extra_state"):
        (saved / "actor" / f"{kind}_world_size_1_rank_0.pt").write_bytes(b"x")
    (saved.parent / "latest_checkpointed_iteration.txt").write_text("1")
    trained = Run(ray_address, tmp_path, *FEW, *evaluation, attempt=2)
    base = [*evaluation, "trainer.resume_mode=disable"]
    untrained = Run(ray_address, tmp_path, *FEW, *base, attempt=3, fields=("evaluation.base_model=true",))
    reports = trained.ends()
    assert reports.stages[-1] == "validating global_step_1"
    assert [one.path for one in reports.of("checkpoint")] == ["checkpoints/global_step_1"]
    assert reports.metrics[1]["val/success_rate"] >= 0
    (evaluation,) = reports.of("evaluation")
    (game,) = evaluation.games
    assert (evaluation.step, evaluation.panel, evaluation.digest) == (1, "sampled alfworld", "")
    assert evaluation.decoding["engine seed"] == "0" and game.success == reports.metrics[1]["val/success_rate"] and game.steps > 0
    reports = untrained.ends()
    assert reports.stages[-1] == "validating" and not reports.of("checkpoint")


def test_an_end_from_outside_leaves_nothing_in_ray(ray_address: str, tmp_path: Path) -> None:
    numbers = (signal.SIGTERM, signal.SIGKILL)
    started = [Run(ray_address, tmp_path / number.name, *FEW, "standin.delay=600") for number in numbers]
    for run in started:
        until(lambda: run.printed("compute_step_discounted_returns"), PATIENCE)
    assert cluster.look()["placementGroups"] == 2
    second = Run(ray_address, tmp_path / "SIGTERM", *FEW, attempt=2, plan={"waitSeconds": 0})
    second.ends(2)
    assert "in use by experiment exp, attempt 1" in second.text()
    for number, run in zip(numbers, started):
        run.process.send_signal(number)
    codes = [run.process.wait(timeout=60) for run in started]
    assert codes == [128 + signal.SIGTERM, -signal.SIGKILL]
    assert until(nothing_is_left, 60)


def test_a_failure_at_any_place_ends_the_run_and_leaves_nothing(ray_address: str, tmp_path: Path) -> None:
    places = ["start", "environments", "workers", "save"]
    started = {place: Run(ray_address, tmp_path / place, *FEW, f"standin.fail={place}") for place in places}
    for place, run in started.items():
        reports = run.ends(1)
        assert f"fails as configured: {place}" in run.text()
        assert not reports.of("checkpoint")
        # What was computed before the end is not lost.
        assert len(reports.batches) == (1 if place == "save" else 0)
    assert until(nothing_is_left, 60)


def test_a_lack_of_cpus_is_said_instead_of_a_silent_hang(ray_address: str, tmp_path: Path) -> None:
    run = Run(ray_address, tmp_path, *FEW, "env.resources_per_worker.num_cpus=10.3", plan={"patienceSeconds": 3})
    said = until(lambda: [one for one in run.reports().stages if "wait for CPUs" in one], PATIENCE)
    assert said[0].startswith("loading the model, for ") and "32.9 are wanted; the cluster has 32, " in said[0]
    run.process.send_signal(signal.SIGTERM)
    run.process.wait(timeout=60)
    assert until(nothing_is_left, 60)


def test_preflight_through_the_ray_worker_looks_at_the_nodes(ray_address: str, tmp_path: Path) -> None:
    """Every node with GPUs reads and writes the shared root, sees the checkout, and says what is installed there."""
    server = Server(tmp_path / "state", "--ray-address", ray_address)
    client = server.client()
    try:
        arguments = [*DIRECTORIES, "--", "trainer.default_local_dir='{sharedRoot}/checkpoints/x'", *SMALL]
        plan = pb.LaunchPlan(
            engine="verl-agent", module="echelon_rayworker.engines.verl_agent", arguments=arguments, spec_version=SPEC_VERSIONS[-1]
        )
        plan.files[FILE] = json.dumps(verl_agent_content(*SMALL, **DERIVED)).encode()
        request = pb.PreflightRequest(plan=plan)
        findings = client.call("Preflight", request, pb.PreflightResponse, timeout=320).findings
        found = {one.check: one for one in findings}
        for check in ("checkout", "recipe", "GPUs", "CPUs", "shared root"):
            assert found[check].severity == pb.Finding.OK, found[check]
        assert "may write there" in found["shared root"].message
        assert found["tensordict"].severity != pb.Finding.OK and found["tensordict"].remedy
        cluster_found = client.call("Preflight", pb.PreflightRequest(), pb.PreflightResponse, timeout=320).findings
        assert [one.check for one in cluster_found][:2] == ["Ray", "shared root"]
        assert all(one.severity == pb.Finding.OK for one in cluster_found), cluster_found
        assert not list(tmp_path.rglob(".echelon-preflight-*")) and not list(server.state_dir.glob("preflight/*"))
    finally:
        client.close()
        end_everything(server)


def test_a_directory_that_a_node_does_not_see_is_named(ray_address: str, tmp_path: Path) -> None:
    """Fails without the token: a directory of the same name elsewhere is another one."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (look,) = nodes.look(str(hidden), ["torch"], [str(tmp_path / "none")], with_gpus=True)
    assert look.reads and look.writes and look.packages["torch"] and look.missing == (str(tmp_path / "none"),)
    with pytest.raises(OSError):
        nodes.look(str(tmp_path / "none"))


def test_the_ray_worker_launches_and_stops_it(ray_address: str, tmp_path: Path) -> None:
    """Through the supervisor: placeholders filled, secrets masked, stopped within the grace period, nothing left."""
    server = Server(tmp_path / "state", "--ray-address", ray_address)
    client = server.client()
    try:
        client.launch(
            *DIRECTORIES, "--", "trainer.default_local_dir='{sharedRoot}/checkpoints/x'", *SMALL, *FEW[:-1],
            "data.train_files='{attemptDir}/data/train.parquet'", "trainer.total_epochs=9", "standin.delay=600",
            engine="verl-agent", module="echelon_rayworker.engines.verl_agent",
            files={FILE: json.dumps(verl_agent_content(fields=("home=null",), **{**DERIVED, "steps": 9})).encode()},
            environment={"VERL_AGENT_HOME": str(STANDIN), "WANDB_API_KEY": "never-to-be-shown"},
        )  # fmt: skip
        # The trainer's batch and the console's stage come by two ways, in no order between them.
        awaited = {"batch", "step 1 of 9"}
        for event in client.attach(timeout=PATIENCE):
            awaited -= {event.WhichOneof("body"), event.stage.name}
            if not awaited:
                break
        assert not awaited
        stopped = client.stop(grace=20_000)
        assert stopped.ended.cause == pb.Ended.STOPPED and stopped.ended.signal != signal.SIGKILL
        assert not server.processes_of()
        assert until(nothing_is_left, 60)
        assert b"never-to-be-shown" not in b"".join(event.SerializeToString() for event in client.events())
    finally:
        client.close()
        end_everything(server)
