"""What the capture writes, and that it neither fails nor holds up a trainer."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import echelon_capture as capture
from echelon_capture import sinks
from echelon_rayworker.framing import read_frames
from echelon_rayworker.gen import batch_pb2, rayworker_pb2 as pb

GRPO = dict(
    estimator=dict(name="grpo", normalize_by_std=False),
    group=["a", "a", "b", "b"],
    trajectory=[0, 1, 2, 3],
    token_level_reward_sum=[0.0, 1.0, 0.5, 0.5],
    advantage=[-0.5, 0.5, 0.0, 0.0],
)


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def spooled(spool) -> list[pb.AttemptEvent]:
    files = sorted(spool.iterdir())
    return [pb.AttemptEvent.FromString(frame.payload) for file in files for frame in read_frames(file.read_bytes())]


def test_a_folder_of_captured_batches_is_verified_in_step_order(folder, verify):
    for step in (9, 10, 2, 10):
        capture.batch(step, **GRPO)
    capture.metrics(10, {"loss": 1.0})
    assert capture.close()
    assert names(folder) == [
        "metrics.jsonl", "step-000002.json.gz", "step-000009.json.gz", "step-000010.json.gz", "step-000010b2.json.gz",
    ]  # fmt: skip
    status, reports = verify(folder)
    assert status == 0
    assert [report["name"] for report in reports] == ["step 2", "step 9", "step 10", "step 10"]
    assert [os.path.basename(report["file"]) for report in reports] == names(folder)[1:]
    assert all(report["exact"] == 4 for report in reports)


REWARDS = {"format": np.array([1.0, 0.0, 0.25, 0.0]), "answer": np.float32([2, 1, 0, 3])}


def normalised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / (values.std(ddof=1) + 1e-4)


def test_several_rewards_are_copied_and_each_is_normalised_on_its_own(folder, verify):
    of_groups = [normalised(REWARDS["format"][rows]) + 0.5 * normalised(REWARDS["answer"][rows]) for rows in ([0, 1], [2, 3])]
    columns = {**GRPO, "estimator": dict(name="gdpo"), "advantage": normalised(np.concatenate(of_groups))}
    given = {name: values.copy() for name, values in REWARDS.items()}
    capture.batch(1, **columns, rewards=given, reward_weights={"answer": 0.5})
    given["answer"][:] = 7
    capture.batch(2, **columns, rewards=given)
    capture.close()
    status, [right, changed] = verify(folder)
    assert right["fingerprint"].startswith("gdpo(") and right["ok"]
    assert (status, changed["wrong"]) == (1, 4)


def test_a_wrong_advantage_is_found(folder, verify):
    capture.batch(1, **{**GRPO, "advantage": [-0.5, 0.5, 0.25, 0.0]})
    capture.close()
    status, [report] = verify(folder)
    assert (status, report["wrongRows"]) == (1, [2])


def test_metrics_and_checkpoints_are_lines_of_json(folder, read_lines):
    capture.metrics(3, {"loss": np.float32(0.5), "bad": float("nan"), "one": np.array(2), "many": np.ones(2), "text": "1"})
    capture.checkpoint(3, "checkpoints/step-3")
    capture.close()
    [metrics], [checkpoint] = read_lines(folder / "metrics.jsonl"), read_lines(folder / "checkpoints.jsonl")
    assert (metrics["step"], metrics["values"]) == (3, {"loss": 0.5, "bad": None, "one": 2.0})
    assert (checkpoint["step"], checkpoint["path"]) == (3, os.path.abspath("checkpoints/step-3"))


def test_an_array_that_changes_after_the_call_is_captured_as_it_was(folder, verify, monkeypatch):
    release = threading.Event()
    write = sinks.write_batch_file
    monkeypatch.setattr(sinks, "write_batch_file", lambda *a, **k: release.wait(30) and write(*a, **k))
    advantage, group = np.array(GRPO["advantage"], np.float32), list(GRPO["group"])
    capture.batch(1, **{**GRPO, "advantage": advantage, "group": group})
    advantage[:], group[0] = 7.0, "b"
    release.set()
    capture.close()
    assert verify(folder)[0] == 0


def test_under_echelon_reports_go_to_the_spool(folder, tmp_path, monkeypatch):
    spool = tmp_path / "experiments" / "e1" / "attempts" / "2" / "spool"
    spool.mkdir(parents=True)
    monkeypatch.setenv("ECHELON_SPOOL", str(spool))
    monkeypatch.setenv("ECHELON_EXPERIMENT", "e1")
    monkeypatch.setenv("ECHELON_ATTEMPT", "2")
    capture.batch(12, **GRPO)
    capture.metrics(12, {"loss": 0.5})
    capture.checkpoint(12, tmp_path / "experiments" / "e1" / "checkpoints" / "step-12")
    capture.checkpoint(13, "/elsewhere/step-13")
    capture.evaluation(13, [{"game": "g", "success": True}], panel="p", decoding={"seed": 7})
    assert capture.close()
    batch, metrics, inside, outside, evaluated = spooled(spool)
    assert batch.batch.step == 12 and batch.batch.rows == 4
    assert batch.batch.digest == hashlib.sha256(batch.batch.data).digest()
    message = batch_pb2.AdvantageBatch.FromString(batch.batch.data)
    stated = message.provenance
    assert (stated.experiment, stated.attempt, stated.training_step) == ("e1", 2, 12)
    assert stated.producer == f"echelon-capture/{capture.__version__}"
    assert dict(metrics.metrics.values) == {"loss": 0.5}
    assert inside.checkpoint.path == "checkpoints/step-12"
    assert outside.checkpoint.path == "/elsewhere/step-13"
    played = pb.Game(game="g", replicate=1, success=1, score=1)
    assert evaluated.evaluation == pb.Evaluation(step=13, panel="p", decoding={"seed": "7"}, games=[played])
    assert not folder.exists()


def test_files_are_written_if_the_spool_cannot_be_used(folder, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("ECHELON_SPOOL", str(tmp_path))
    monkeypatch.setitem(sys.modules, "echelon_rayworker.spool", None)
    capture.batch(1, **GRPO)
    capture.close()
    assert names(folder) == ["step-000001.json.gz"]
    assert capfd.readouterr().err.startswith("echelon-capture: ECHELON_SPOOL is set, but")


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({**GRPO, "advantage": [1.0]}, "advantage has 1 entries"),
        ({**GRPO, "estimator": {"name": "grpo", "epsilom": 1}}, "did you mean 'epsilon'"),
        ({**GRPO, "token_level_reward_sum": None}, "token_level_reward_sum is missing"),
        ({**GRPO, "group": None}, "the column group is missing"),
        ({**GRPO, "advantage": 3}, "not iterable"),
    ],
)
def test_a_batch_that_cannot_be_captured_is_a_gap_and_is_said_once(folder, read_lines, capfd, columns, reason):
    capture.batch(1, **columns)
    capture.batch(2, **columns)
    capture.close()
    assert names(folder) == ["gaps.jsonl"]
    gaps = read_lines(folder / "gaps.jsonl")
    assert [gap["step"] for gap in gaps] == [1, 2]
    assert all(reason in gap["reason"] for gap in gaps)
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 2 and reason in said[0] and said[1] == "echelon-capture: 2 problems in all"


def test_nothing_raises_if_the_folder_cannot_be_written(folder, capfd):
    folder.write_text("a file")
    capture.batch(1, **GRPO)
    capture.metrics(1, {"loss": 1.0})
    capture.metrics("no step", {"loss": 1.0})
    capture.metrics(1, None)
    capture.checkpoint(1, None)
    capture.gap(None, None, None)
    assert capture.close()
    assert capfd.readouterr().err.count("\n") == 2


def test_a_disk_that_hangs_holds_up_neither_the_trainer_nor_its_end(folder, monkeypatch, capfd, read_lines):
    release = threading.Event()
    write = sinks.write_batch_file
    monkeypatch.setattr(sinks, "write_batch_file", lambda *a, **k: release.wait(60) and write(*a, **k))
    for step in range(1, 8):
        capture.batch(step, **GRPO)
    assert not capture.close(0.05)
    assert "could not be written within 0.05 s" in capfd.readouterr().err
    release.set()
    assert capture.close()
    assert names(folder) == ["gaps.jsonl", *(f"step-{step:06d}.json.gz" for step in range(1, 5))]
    assert [gap["step"] for gap in read_lines(folder / "gaps.jsonl")] == [5, 6, 7]


@pytest.mark.parametrize(
    ("rank", "ranks", "where"),
    [("0", "", ["step-000001.json.gz"]), ("3", "", None), ("3", "all", ["rank-3"]), ("0", "all", ["rank-0"])],
)
def test_only_rank_0_captures_by_default(folder, monkeypatch, rank, ranks, where):
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("ECHELON_CAPTURE_RANKS", ranks)
    capture.batch(1, **GRPO)
    capture.close()
    assert (names(folder) if folder.exists() else None) == where


def run(code: str, folder, **environment) -> subprocess.CompletedProcess:
    given = {**os.environ, "ECHELON_CAPTURE_DIR": str(folder), **environment}
    preface = f"import os, sys\nimport echelon_capture as capture\nGRPO = {GRPO!r}\n"
    return subprocess.run([sys.executable, "-c", preface + code], env=given, capture_output=True, text=True, timeout=60)


def test_captured_batches_are_written_when_python_exits(folder):
    done = run("for step in range(1, 4): capture.batch(step, **GRPO)\ncapture.metrics(3, {'loss': 1.0})\n", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert names(folder) == ["metrics.jsonl", *(f"step-{step:06d}.json.gz" for step in (1, 2, 3))]


def test_a_forked_child_captures_on_its_own_and_repeats_nothing_of_its_parent(folder, read_lines):
    done = run(
        "for step in range(1, 4): capture.batch(step, **GRPO)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    capture.metrics(7, {'child': 1.0})\n"
        "    os._exit(0 if capture.close() else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n",
        folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line["step"] for line in read_lines(folder / "metrics.jsonl")] == [7]
    assert names(folder)[1:] == [f"step-{step:06d}.json.gz" for step in (1, 2, 3)]


def test_the_documented_lines_work(folder, verify):
    page = (Path(__file__).parents[3] / "docs" / "guides" / "batch-from-a-trainer.md").read_text(encoding="utf-8")
    lines = page.split("```python\nimport echelon_capture")[1].split("```")[0]
    names = dict(step=3, prompt_ids=["a", "a"], response_ids=[0, 1], scores=[0.5, 0.5], advantages=[0.0, 0.0])
    exec(compile(f"import echelon_capture{lines}", "page", "exec"), {**names, "loss": 0.5, "path": "step-3"})
    capture.close()
    status, [report] = verify(folder)
    assert (status, report["exact"]) == (0, 2)


TOKENS = {"offset": [0, 2, 3], "logProb": [-1.0, -0.5, -2.0], "lossGradient": [-0.25, -0.25, 0.25]}
STEP = {
    "name": "update 3",
    "step": {"policyLoss": {"name": "ppo-clip"}, "aggregation": {"mode": "token-mean"}, "microBatches": [{"reportedDenominator": 3}]},
    "reported": {"advantage": [0.75, -0.75]},
    "tokens": TOKENS,
}
LAYOUT = {**STEP, "name": "update 4", "tokens": {"offset": [0, 2, 3]}}


def test_optimizer_steps_and_layouts_are_files_that_the_command_line_verifies(folder):
    capture.step(3, 2, lambda: STEP)
    capture.step(4, 2, lambda: LAYOUT)
    assert capture.close()
    paths = sorted(folder.iterdir())
    assert [path.name for path in paths] == ["layout-000004.pb", "update-000003.pb"]
    echelon = Path(__file__).parents[3] / "bin" / "echelon"
    command = [str(echelon), "verify", "--require", "gradient"]
    done = [subprocess.run([*command, str(path)], timeout=120).returncode for path in paths]
    assert done == [3, 0]


def test_under_echelon_an_optimizer_step_with_tokens_is_a_batch_of_the_attempt(folder, tmp_path, monkeypatch):
    spool = tmp_path / "experiments" / "e1" / "attempts" / "2" / "spool"
    spool.mkdir(parents=True)
    monkeypatch.setenv("ECHELON_SPOOL", str(spool))
    capture.step(3, 2, lambda: STEP)
    capture.step(4, 2, lambda: LAYOUT)
    assert capture.close()
    (event,) = spooled(spool)
    assert (event.batch.step, event.batch.rows) == (3, 2)
    assert event.batch.data.startswith(b"\n\x0fechelon-batch/3")
    assert [path.name for path in folder.iterdir()] == ["layout-000004.pb"]


def test_a_step_that_cannot_be_built_is_a_gap_with_the_reason(folder, read_lines):
    capture.step(3, 2, lambda: {**STEP, "tokens": {**TOKENS, "logProb": [-1.0]}})
    assert capture.close()
    (gap,) = read_lines(folder / "gaps.jsonl")
    assert (gap["step"], gap["rows"]) == (3, 2)
    assert "tokens.logProb has 1 entries, expected 3" in gap["reason"]
