"""The verl-agent engine against the stand-in checkout, on a real Ray with real torch tensors."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import pytest
from conftest import PACKAGE_ROOT, Server, end_everything, until
from test_actor import INSIDE, free_port
from verl_agent_support import STANDIN, Reports, verify

from echelon_rayworker import processes
from echelon_rayworker.engines.verl_agent import cluster
from echelon_rayworker.gen import rayworker_pb2 as pb

pytest.importorskip("ray")
pytest.importorskip("torch", reason="torch is not installed: pip install -r deploy/ray-worker/requirements-verl-agent.txt")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

TESTS = 19
SMALL = [
    "algorithm.adv_estimator=hgpo", "algorithm.gamma=0.95", "data.train_batch_size=2", "data.val_batch_size=2",
    "env.rollout.n=3", "trainer.n_gpus_per_node=1", "trainer.save_freq=1", "trainer.val_before_train=False",
]  # fmt: skip


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    """Runs the tests below with only the loopback interface; where namespaces are not permitted, as it is."""
    if os.environ.get(INSIDE):
        pytest.skip("already inside")
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", __file__]
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    environment = {**os.environ, INSIDE: "1"}
    done = subprocess.run(command, cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert f"{TESTS} passed" in done.stdout, done.stdout[-2000:]


@pytest.fixture(scope="module")
def ray_address() -> Iterator[str]:
    if not os.environ.get(INSIDE):
        pytest.skip("runs inside the namespace")
    temporary = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # short: Ray puts sockets below it
    address = f"127.0.0.1:{free_port()}"
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32), RAY_USAGE_STATS_ENABLED="0")
    head = subprocess.Popen(
        [str(Path(sys.executable).parent / "ray"), "start", "--head", "--block", f"--port={address.split(':')[1]}",
         "--node-ip-address=127.0.0.1", "--num-cpus=4", "--num-gpus=2", "--include-dashboard=false",
         f"--temp-dir={temporary}", "--object-store-memory=100000000", f"--ray-client-server-port={free_port()}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
    )  # fmt: skip
    try:
        assert any("runtime started" in line for line in head.stdout)
        os.environ["RAY_ADDRESS"] = address
        yield address
    finally:
        # All of this Ray, and nothing else, is in the head's session.
        processes.end_all(lambda: processes.members_of_session(head.pid), term_seconds=0)
        head.wait()
        shutil.rmtree(temporary, ignore_errors=True)


class Run:
    """One attempt of the engine in a directory of its own; checkpoints are the experiment's."""

    def __init__(self, address: str, directory: Path, *overrides: str, attempt: int = 1, own: tuple = (), **env: str):
        self.directory = directory / str(attempt)
        (self.directory / "spool").mkdir(parents=True)
        variables = {
            "RAY_ADDRESS": address, "ECHELON_SPOOL": str(self.directory / "spool"), "ECHELON_EXPERIMENT": "exp",
            "ECHELON_ATTEMPT": str(attempt), **env,
        }  # fmt: skip
        # To a file: a pipe that nobody reads would stop the engine.
        self.log = open(self.directory / "log", "w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "echelon_rayworker.engines.verl_agent", f"home={STANDIN}", f"attempt_dir={self.directory}",
             f"experiment_dir={directory}", *own, "--", *SMALL, *overrides],
            cwd=PACKAGE_ROOT, env={**os.environ, **variables}, stdout=self.log, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def ends(self, code: int = 0) -> Reports:
        returned = self.process.wait(timeout=180)
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
    state = cluster.state()
    return bool(state) and not state["actors"] and not state["placementGroups"] and state["gpusAvailable"] == 2


def test_a_training_reports_stages_metrics_checkpoints_and_batches(ray_address: str, tmp_path: Path) -> None:
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
    verdicts = verify(reports.batches, tmp_path / "batches.json")["batches"]
    assert len(verdicts) == 3 and all(one["ok"] and one["wrong"] == one["unverifiable"] == 0 for one in verdicts)
    assert until(nothing_is_left, 60)


def test_a_resumed_training_goes_on_and_a_finished_one_is_not_run_again(ray_address: str, tmp_path: Path) -> None:
    Run(ray_address, tmp_path, "trainer.total_epochs=1").ends()
    second = Run(ray_address, tmp_path, "trainer.total_epochs=2", attempt=2)
    reports = second.ends()
    assert sorted(reports.metrics) == [2]
    assert "step 2 of 2" in reports.stages and "step 1 of 2" not in reports.stages
    assert "resumed after step 1" in second.text()
    third = Run(ray_address, tmp_path, "trainer.total_epochs=2", attempt=3).ends()
    assert third.stages == ["finished before: step 2 of 2"] and not third.metrics
    assert [one.step for one in third.of("checkpoint")] == [2]


@pytest.mark.parametrize("estimator", ["gigpo", "grpo", "rloo"])
def test_other_estimators_verify(ray_address: str, tmp_path: Path, estimator: str) -> None:
    reports = Run(ray_address, tmp_path, f"algorithm.adv_estimator={estimator}", "trainer.total_epochs=1").ends()
    (verdict,) = verify(reports.batches, tmp_path / "batches.json")["batches"]
    assert verdict["ok"] and verdict["rows"] == verdict["exact"] + verdict["rounding"]


def test_an_estimator_without_a_kernel_leaves_metrics_and_the_reason(ray_address: str, tmp_path: Path) -> None:
    reports = Run(ray_address, tmp_path, "algorithm.adv_estimator=gae", "trainer.total_epochs=1").ends()
    (gap,) = reports.of("gap")
    assert not reports.batches and sorted(reports.metrics) == [1]
    assert gap.reason.startswith("not verifiable: gae") and gap.rows > 0 and gap.step == 1


def test_exact_advantages_say_so_and_verify(ray_address: str, tmp_path: Path) -> None:
    own = ("advantages=exact",)
    reports = Run(ray_address, tmp_path, "algorithm.hgpo.base_group=True", "trainer.total_epochs=2", own=own).ends()
    assert {batch.estimator.precision for batch in reports.batches} == {"float64"}
    verdicts = verify(reports.batches, tmp_path / "batches.json")["batches"]
    assert all(one["ok"] and one["rows"] == one["exact"] for one in verdicts), verdicts


def test_rows_that_are_shuffled_on_their_way_keep_their_true_steps(ray_address: str, tmp_path: Path) -> None:
    """A batch that was shuffled before the estimator agrees with itself; only its numbering at the source tells."""
    reports = Run(ray_address, tmp_path, "standin.shuffle=True", "trainer.total_epochs=1").ends()
    (verdict,) = verify(reports.batches, tmp_path / "batches.json")["batches"]
    assert "steps-out-of-order" in [finding["code"] for finding in verdict["findings"]], verdict["findings"]


def test_an_evaluation_names_its_checkpoint_and_refuses_none(ray_address: str, tmp_path: Path) -> None:
    evaluation = ["trainer.val_only=True", "trainer.val_before_train=True"]
    refused = Run(ray_address, tmp_path, *evaluation, attempt=1)
    refused.ends(2)
    assert "would silently evaluate the base model" in refused.text()
    Run(ray_address, tmp_path, "trainer.total_epochs=1", attempt=2).ends()
    run = Run(ray_address, tmp_path, *evaluation, attempt=3)
    reports = run.ends()
    assert reports.stages[-1] == "validating global_step_1"
    assert [one.path for one in reports.of("checkpoint")] == ["checkpoints/global_step_1"]
    assert reports.metrics[1]["val/success_rate"] >= 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_end_from_outside_leaves_nothing_in_ray(ray_address: str, tmp_path: Path, number: int) -> None:
    run = Run(ray_address, tmp_path, "standin.delay=600", "trainer.total_epochs=9")
    until(lambda: run.printed("compute_step_discounted_returns"), 90)
    assert cluster.state()["placementGroups"] == 1
    run.process.send_signal(number)
    assert run.process.wait(timeout=60) == (128 + number if number == signal.SIGTERM else -number)
    assert until(nothing_is_left, 60)


@pytest.mark.parametrize("place", ["start", "environments", "workers", "rollout", "save"])
def test_a_failure_at_any_place_ends_the_run_and_leaves_nothing(ray_address: str, tmp_path: Path, place: str) -> None:
    run = Run(ray_address, tmp_path, f"standin.fail={place}", "trainer.total_epochs=1", "trainer.test_freq=1")
    reports = run.ends(1)
    assert f"told to fail: {place}" in run.text()
    assert not reports.of("checkpoint")
    # What was computed before the end is not lost.
    assert len(reports.batches) == (1 if place == "save" else 0)
    assert until(nothing_is_left, 60)


def test_a_lack_of_cpus_is_said_instead_of_a_silent_hang(ray_address: str, tmp_path: Path) -> None:
    run = Run(ray_address, tmp_path, "env.resources_per_worker.num_cpus=0.35", own=("patience_seconds=4",))
    said = until(lambda: [one for one in run.reports().stages if "wait for CPUs" in one], 90)
    assert said[0].startswith("loading the model, for ") and "4.8 are wanted; the cluster has 4, " in said[0]
    run.process.send_signal(signal.SIGTERM)
    run.process.wait(timeout=60)
    assert until(nothing_is_left, 60)


def test_preflight_looks_at_the_nodes(ray_address: str, tmp_path: Path) -> None:
    def said(*own: str) -> dict[str, dict]:
        done = subprocess.run(
            [sys.executable, "-m", "echelon_rayworker.engines.verl_agent.preflight", f"home={STANDIN}",
             f"experiment_dir={tmp_path}", *own, "--", *SMALL],
            cwd=PACKAGE_ROOT, env={**os.environ, "RAY_ADDRESS": ray_address}, capture_output=True, text=True, timeout=180,
        )  # fmt: skip
        return {one["check"]: one for one in json.loads(done.stdout[done.stdout.index("[\n") :])}

    found = said()
    assert found["recipe"]["ok"], found["recipe"]
    assert found["GPUs"]["ok"] and found["CPUs"]["ok"] and found["shared root"]["ok"], found
    assert "sees" in found["shared root"]["message"]
    assert not said(f"shared_root={tmp_path}/none")["cluster"]["ok"]


def test_the_ray_worker_launches_and_stops_it(ray_address: str, tmp_path: Path) -> None:
    """Through the supervisor: placeholders filled, secrets masked, stopped within the grace period, nothing left."""
    server = Server(tmp_path / "state", "--ray-address", ray_address)
    client = server.client()
    try:
        client.launch(
            "home={verlAgentHome}", "attempt_dir={attemptDir}", "experiment_dir={experimentDir}", "phase=train",
            "checkpoint_dir={sharedRoot}/checkpoints/x", "train_rows=2", "val_rows=2", "steps=9", "--", *SMALL,
            "data.train_files='{attemptDir}/data/train.parquet'", "trainer.total_epochs=9", "standin.delay=600",
            engine="verl-agent", module="echelon_rayworker.engines.verl_agent",
            environment={"VERL_AGENT_HOME": str(STANDIN), "WANDB_API_KEY": "never-to-be-shown"},
        )  # fmt: skip
        # The trainer's batch and the console's stage come by two ways, in no order between them.
        awaited = {"batch", "step 1 of 9"}
        for event in client.attach(timeout=120):
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
