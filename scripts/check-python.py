"""Trains with TRL's own GRPOTrainer and the callback of echelon-verify, and runs its pytest plugin on tests that train.

    npm run check:python

One training is as it is, and in another the second batch has its advantages in reverse order. The first must end without a wrong
row. The second must stop after its second step. Both must have `echelon/rows_wrong` in the trainer's log and in TensorBoard's files.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "golden"))

import trl_run  # noqa: E402
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402

from echelon_verify.trainer import AdvantageCallback  # noqa: E402

TESTS = '''
import os, sys
sys.path[:0] = {paths!r}
import trl_run

def trained(monkeypatch, folder):
    monkeypatch.chdir(folder)
    trl_run.train("decimal", trl_run.RUNS["decimal"])

def test_training(monkeypatch, tmp_path):
    trained(monkeypatch, tmp_path)
'''
# The fault is planted where TRL computes, so that a follower that was there before sees it.
FAULT = """
import trl.trainer.grpo_trainer as module

def test_training_with_a_fault(monkeypatch, tmp_path):
    generate = module.GRPOTrainer._generate_and_score_completions
    def faulty(self, inputs):
        result = generate(self, inputs)
        result["advantages"] = result["advantages"] * 1.25
        return result
    monkeypatch.setattr(module.GRPOTrainer, "_generate_and_score_completions", faulty)
    trained(monkeypatch, tmp_path)
"""


def train(fault_in_step: int | None) -> dict:
    """What a training of three steps says afterwards."""
    original, made = trl_run.GRPOTrainer.train, {}

    def observed(trainer):
        generate, calls = trainer._generate_and_score_completions, []

        def faulty(inputs):
            result = generate(inputs)
            calls.append(1)
            if len(calls) == fault_in_step:
                result["advantages"] = result["advantages"].flip(0)
            return result

        trainer._generate_and_score_completions = faulty
        callback = AdvantageCallback(trainer)
        trainer.add_callback(callback)
        made.update(trainer=trainer, callback=callback)
        return original(trainer)

    trl_run.GRPOTrainer.train = observed
    try:
        run = trl_run.RUNS["decimal"]
        options = {**run, "config": {**run["config"], "report_to": "tensorboard"}}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.chdir(folder)
            os.environ["TENSORBOARD_LOGGING_DIR"] = os.path.join(folder, "board")
            trl_run.train("decimal", options)
            board = board_of(folder)
            os.chdir(ROOT)
    finally:
        trl_run.GRPOTrainer.train = original
    trainer, callback = made["trainer"], made["callback"]
    logged = [line["echelon/rows_wrong"] for line in trainer.state.log_history if "echelon/rows_wrong" in line]
    return {
        "steps": trainer.state.global_step,
        "rows": callback.verifier.rows,
        "gaps": [gap.reason for gap in callback.verifier.gaps],
        "wrong": callback.verifier.rows_wrong,
        "logged": logged,
        "board": board,
        "explanation": callback.report and callback.report.explanation,
    }


def board_of(folder: str) -> list[float]:
    """The values of TensorBoard's files."""
    for file in Path(folder).rglob("events.out.tfevents.*"):
        board = EventAccumulator(str(file.parent)).Reload()
        for name in board.Tags()["scalars"]:
            if name.endswith("echelon/rows_wrong"):
                return [one.value for one in board.Scalars(name)]
    return []


def tested() -> tuple[str, dict]:
    """The last line of pytest, and its report, of tests that train, without a change to them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(ROOT / "scripts" / "golden")]
        (Path(folder) / "test_training.py").write_text(TESTS.format(paths=paths) + FAULT)
        report = Path(folder) / "report.json"
        options = ["--echelon-follow", "trl", "--echelon-report", str(report)]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", *options, folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=folder)
        return done.stdout + done.stderr, json.loads(report.read_text())


def main() -> int:
    right, wrong = train(None), train(2)
    output, report = tested()
    checks = {
        "a right training runs all its steps": right["steps"] == 3 and right["gaps"] == [],
        "a right training logs no wrong row": right["logged"] == [0.0] * 3 and right["board"] == [0.0] * 3,
        "a wrong batch stops its training after its step": wrong["steps"] == 2,
        "a wrong batch is logged": wrong["logged"][-1] == wrong["wrong"] > 0 and wrong["board"] == wrong["logged"],
        "a wrong batch is explained": "is WRONG" in (wrong["explanation"] or ""),
        "a test that trains fails because of its wrong rows, and no other": "1 failed, 1 passed" in output,
        "the failure has the explanation": "is WRONG" in output and "wrong-rows" in output,
        "the report has every batch of both tests": len(report["batches"]) == 6 and report["gaps"] == [],
    }
    for what, holds in checks.items():
        print(f"{'ok  ' if holds else 'FAIL'} {what}")
    versions = ", ".join(f"{one} {importlib.metadata.version(one)}" for one in ("trl", "transformers", "torch", "pytest"))
    print(f"{versions}, Python {platform.python_version()}; rows {right['rows']} and {wrong['rows']}, wrong {right['wrong']} and {wrong['wrong']}")
    if not all(checks.values()):
        print({**wrong, "explanation": None}, output, sep="\n")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
