"""Trains with a real verl-agent checkout on the CPU, as the engine launches it; see check-verl-agent.ts.

    python scripts/check-verl-agent-training.py --home DIR [--node NODE] [--keep DIR]

The plan, the engine, Ray, the recipe's trainer with its FSDP workers, and the capture hook are real. What a GPU or a download
would be needed for is stood in for by verl-agent-on-cpu. Prints one line a check and ends with `N passed, N failed`;
what the runs wrote stays in the directory that --keep names.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
RAY_WORKER, CAPTURE = ROOT / "deploy" / "ray-worker", ROOT / "deploy" / "capture"
STANDINS = ROOT / "scripts" / "verl-agent-on-cpu"
# Ten minutes; on an idle machine a run takes one.
RUN_SECONDS = 600
TRAINING = {
    "name": "on the CPU", "engine": "verl-agent", "recipe": "qwen2.5_1.5b_alfworld_train", "resources": {"gpus": 1},
    "environment": {"maxSteps": 8, "cpusPerActor": 0.01},
    "rollout": {"groups": 2, "groupSize": 4, "engine": "hf", "tensorParallelSize": 1, "maxPromptTokens": 448,
                "maxResponseTokens": 32},
    "training": {"steps": 2, "saveEvery": 1, "evaluateEvery": 2, "logger": ["console"], "miniBatchSize": 16,
                 "microBatchSizePerGpu": 8},
    "evaluation": {"games": 2},
}  # fmt: skip
COUNTS = {"passed": 0, "failed": 0}


def check(name: str, action: Callable[[], str]) -> None:
    try:
        outcome, text = "passed", action()
    except Exception as error:  # noqa: BLE001 - said in its line
        outcome, text = "failed", f"{type(error).__name__}: {error}"
    COUNTS[outcome] += 1
    print(f"{outcome:7} {name}: {text}", flush=True)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def ray_with_a_gpu(environment: dict[str, str]) -> Iterator[str]:
    """A local Ray that says it has a GPU; yields its address."""
    from echelon_rayworker import processes

    address = f"127.0.0.1:{free_port()}"
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as temporary:
        head = subprocess.Popen(
            [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", f"--port={address.split(':')[1]}",
             "--node-ip-address=127.0.0.1", "--num-cpus=16", "--num-gpus=1", "--include-dashboard=false",
             f"--temp-dir={temporary}", "--object-store-memory=200000000", f"--ray-client-server-port={free_port()}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True, env=environment,
        )  # fmt: skip
        try:
            assert head.stdout and any("runtime started" in line for line in head.stdout), "Ray did not start"
            yield address
        finally:
            processes.end_all(lambda: processes.members_of_session(head.pid), term_seconds=0)
            head.wait()


class Run:
    """An attempt that has ended: its exit code, its console, and what it reported."""

    def __init__(self, code: int, place: Path) -> None:
        from verl_agent_support import Reports

        self.code, self.log, self.reports = code, (place / "log").read_text(errors="replace"), Reports(place / "spool")

    def ended_well(self) -> "Run":
        from echelon_rayworker.engines.verl_agent import causes

        assert self.code == 0, f"exit code {self.code}: {self.log[-1500:]}"
        assert not self.reports.of("gap"), self.reports.of("gap")
        # What the recipe prints of a run that ends well is no cause of an end.
        assert not (cause := causes.cause_of_end(self.log.splitlines())), cause
        return self

    def verified(self, place: Path) -> str:
        """What the verifier says of all its batches; raises where a row is wrong or unverifiable."""
        from verl_agent_support import verify

        reports = verify(self.reports.batches, place / "batches.json.gz")["batches"]
        total = {key: sum(one[key] for one in reports) for key in ("rows", "exact", "rounding", "wrong", "unverifiable")}
        assert reports and all(one["ok"] for one in reports) and total["wrong"] == total["unverifiable"] == 0, reports
        return f"{len(reports)} batches: " + ", ".join(f"{value} {key}" for key, value in total.items())


class Checks:
    """Runs on one checkout and one Ray; the attempts' directories and the checkpoints lie below `directory`."""

    def __init__(self, home: Path, node: str, directory: Path) -> None:
        self.home, self.node, self.directory = home, node, directory
        self.model = directory / "model"
        self.attempts = 0
        self.environment = {
            **os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1",
            "VERL_AGENT_HOME": str(home), "PYTHONPATH": os.pathsep.join([str(STANDINS), str(RAY_WORKER), str(CAPTURE)]),
        }  # fmt: skip

    def make_model(self) -> str:
        prompts = (self.home / "agent_system" / "environments" / "prompts" / "alfworld.py").read_text()
        command = [sys.executable, str(STANDINS / "model.py"), str(self.model), prompts]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=RUN_SECONDS)
        assert done.returncode == 0, done.stderr[-1500:]
        return f"a Qwen2 of {(self.model / 'model.safetensors').stat().st_size // 4000} thousand parameters, trained here"

    def command(self, place: Path, spec: dict[str, Any]) -> list[str]:
        """The engine's arguments, from `echelon plan`, with the cluster's places filled in."""
        own = {"home": str(self.home), "model": {"path": str(self.model), "removePadding": False}}
        given = {**(own if "recipe" in spec else {}), **spec}
        done = subprocess.run(
            [self.node, "src/cli/main.ts", "plan", "-", "--json"], cwd=ROOT, input=json.dumps(given), capture_output=True,
            text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        launch = json.loads(done.stdout)["launch"]
        for name, content in launch["files"].items():
            (place / name).write_text(content)
        places = {"attemptDir": place, "experimentDir": self.directory, "sharedRoot": self.directory}

        def filled(argument: str) -> str:
            for name, value in places.items():
                argument = argument.replace(f"{{{name}}}", str(value))
            return argument

        return [sys.executable, "-m", launch["module"], *map(filled, launch["arguments"])]

    def run(self, spec: dict[str, Any]) -> tuple[Run, Path]:
        self.attempts += 1
        place = self.directory / str(self.attempts)
        (place / "spool").mkdir(parents=True)
        variables = {"ECHELON_SPOOL": str(place / "spool"), "ECHELON_EXPERIMENT": "on-the-cpu",
                     "ECHELON_ATTEMPT": str(self.attempts)}  # fmt: skip
        with open(place / "log", "wb") as log:
            process = subprocess.Popen(
                self.command(place, spec), env={**self.environment, **variables}, stdout=log, stderr=subprocess.STDOUT,
                cwd=place,
            )  # fmt: skip
            try:
                code = process.wait(RUN_SECONDS)
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(60)
        return Run(code, place), place

    def training(self) -> str:
        run, place = self.run(TRAINING)
        reports = run.ended_well().reports
        assert reports.stages == [
            "connecting", "building environments", "loading the model", "step 1 of 2", "saving", "step 2 of 2",
            "validating", "saving",
        ], reports.stages  # fmt: skip
        assert sorted(reports.metrics) == [1, 2] and "val/success_rate" in reports.metrics[2], reports.metrics
        saved = [one.path for one in reports.of("checkpoint")]
        assert [Path(one).name for one in saved] == ["global_step_1", "global_step_2"], saved
        hook = max(values["echelon/capture_s"] for values in reports.metrics.values())
        return f"{run.verified(place)}; the capture hook took {hook * 1000:.0f} ms of a step at most"

    def resumed(self) -> str:
        """Before it, `training` has left two checkpoints."""
        spec = {**TRAINING, "training": {**TRAINING["training"], "steps": 3}}
        run, place = self.run(spec)
        assert sorted(run.ended_well().reports.metrics) == [3] and "resumed after step 2" in run.log
        again, _ = self.run(spec)
        assert again.ended_well().reports.stages == ["finished before: step 3 of 3"], again.reports.stages
        return f"{run.verified(place)}; a launch after the last step does nothing"

    def evaluation(self) -> str:
        (directory,) = (self.directory / "checkpoints").glob("*/*")
        checkpoint = {"directory": str(directory.relative_to(self.directory / "checkpoints")), "step": 1}
        run, _ = self.run({
            **{key: TRAINING[key] for key in ("name", "engine", "resources", "environment")},
            "recipe": "qwen2.5_1.5b_alfworld_eval", "training": {"logger": ["console"]},
            "rollout": TRAINING["rollout"], "evaluation": {"games": 2, "checkpoint": checkpoint},
        })  # fmt: skip
        reports = run.ended_well().reports
        assert reports.stages[-1] == "validating global_step_1", reports.stages
        assert "val/success_rate" in reports.metrics[1], reports.metrics
        return "of step 1, though later ones are there"

    def export(self) -> str:
        from transformers import AutoModelForCausalLM

        (directory,) = (self.directory / "checkpoints").glob("*/*")
        run, _ = self.run({
            "name": "export", "engine": "verl-agent-export", "resources": {"cpus": 1}, "output": "model",
            "checkpoint": {"directory": str(directory.relative_to(self.directory / "checkpoints"))},
        })  # fmt: skip
        (saved,) = run.ended_well().reports.of("checkpoint")
        exported = AutoModelForCausalLM.from_pretrained(self.directory / "exports" / "model")
        base = AutoModelForCausalLM.from_pretrained(self.model)
        assert exported.num_parameters() == base.num_parameters(), exported.num_parameters()
        return f"step {saved.step}, loaded by transformers with {exported.num_parameters()} parameters"

    def other_estimators(self) -> str:
        texts = []
        for name in ("gigpo", "grpo", "reinforce_plus_plus"):
            spec = {**TRAINING, "estimator": {"name": name}, "training": {**TRAINING["training"], "steps": 1}}
            run, place = self.run(spec)
            texts.append(f"{name}, {run.ended_well().verified(place)}")
        return "; ".join(texts)

    def failure(self) -> str:
        run, _ = self.run({**TRAINING, "model": {"path": str(self.directory / "no-model"), "removePadding": False}})
        assert run.code == 1 and not run.reports.batches, run.code
        *_, last = run.log.rstrip().splitlines()
        assert "likely cause: the model cannot be reached" in last, last
        return "a model that is not there is named as the likely cause"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", required=True, type=Path)
    parser.add_argument("--node", default=str(ROOT / "node_modules" / ".bin" / "node"))
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    sys.path[:0] = [str(RAY_WORKER / "tests"), str(RAY_WORKER)]
    with tempfile.TemporaryDirectory(prefix="training-") as temporary:
        directory = (options.keep or Path(temporary)).resolve()
        checks = Checks(options.home.resolve(), options.node, directory)
        check("a model and its tokenizer", checks.make_model)
        with ray_with_a_gpu(checks.environment) as address:
            checks.environment["RAY_ADDRESS"] = address
            check("a training of two steps", checks.training)
            check("a third step from the checkpoint", checks.resumed)
            check("an evaluation of a checkpoint", checks.evaluation)
            check("an export of a checkpoint", checks.export)
            check("trainings with other estimators", checks.other_estimators)
            check("a training that fails", checks.failure)
    print(", ".join(f"{value} {key}" for key, value in COUNTS.items()))
    return int(COUNTS["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
