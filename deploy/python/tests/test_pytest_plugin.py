"""The pytest plugin, in runs of pytest with files of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

CASES = """
import sys
sys.path.insert(0, {tests!r})
from conftest import right_batch, with_fault

COLUMNS = dict(estimator=dict(name="grpo", epsilon=1e-4, singleton="zero"), trajectory=range(16))

def columns(batch):
    return dict(COLUMNS, group=batch["groups"], token_level_reward_sum=batch["rewards"], advantage=batch["advantages"])

def test_right(advantage_check):
    assert advantage_check(**right_batch()).ok

def test_wrong(advantage_check):
    advantage_check(**with_fault(right_batch()))

def test_loop(advantage_check):
    for step in range(3):
        advantage_check.verifier.batch(step, **columns(right_batch(seed=step)))

def test_wrong_loop(advantage_check):
    for step in range(3):
        batch = right_batch(seed=step)
        advantage_check.verifier.batch(step, **columns(with_fault(batch) if step == 1 else batch))

def test_loop_without_rewards(advantage_check):
    advantage_check.verifier.batch(0, **dict(columns(right_batch()), token_level_reward_sum=None))

def test_after_the_failures(advantage_check):
    assert advantage_check(**right_batch()).ok
"""

NEGATIVE = """
import sys
sys.path.insert(0, {tests!r})
import pytest
from conftest import right_batch, with_fault

def test_the_check_finds_the_fault(advantage_check):
    with pytest.raises(AssertionError):
        advantage_check(**with_fault(right_batch()))
    assert advantage_check(**right_batch()).ok

def test_a_loop_whose_batch_has_no_rows_passes_and_is_not_expected(advantage_check):
    advantage_check.verifier.batch(0, estimator=dict(name="grpo"), group=[], trajectory=[], token_level_reward_sum=[], advantage=[])
"""


def run(folder: Path, *options: str) -> tuple[int, str]:
    installed = any(one.name == "echelon" for one in entry_points(group="pytest11"))
    plugin = [] if installed else ["--disable-plugin-autoload", "-p", "echelon_verify.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *plugin, *options, str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=170, env=environment, cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def cases(tmp_path):
    """A folder with the tests of CASES."""
    (tmp_path / "test_cases.py").write_text(CASES.format(tests=str(Path(__file__).parent)))
    return tmp_path


def test_a_test_with_a_wrong_row_fails_with_the_explanation_and_the_others_pass(cases):
    report = cases / "report.json"
    status, output = run(cases, "--echelon-report", str(report))
    assert status == 1
    assert "3 failed, 3 passed" in output
    assert "Row 5 of batch is WRONG" in output and "Row 5 of step 1 is WRONG" in output
    assert "no batch could be verified: ValueError: the column token_level_reward_sum is missing" in output
    assert "9 batches, 144 rows, 2 wrong; 1 batches not verified" in output
    written = json.loads(report.read_text())
    wrong = [batch for batch in written["batches"] if batch["wrong"]]
    assert [batch["test"].rpartition("::")[2] for batch in wrong] == ["test_wrong", "test_wrong_loop"]
    assert wrong[0]["wrongRows"] == [5] and "is WRONG" in wrong[0]["explanation"]
    assert len(written["batches"]) == 9
    assert [gap["test"].rpartition("::")[2] for gap in written["gaps"]] == ["test_loop_without_rewards"]


def test_a_wrong_row_that_a_test_expects_is_no_wrong_row_of_the_run(tmp_path):
    (tmp_path / "test_negative.py").write_text(NEGATIVE.format(tests=str(Path(__file__).parent)))
    report = tmp_path / "report.json"
    status, output = run(tmp_path, "--echelon-report", str(report))
    assert status == 0
    assert "3 batches, 32 rows, 0 wrong; 1 batches not ok, as their tests expect; 0 batches not verified" in output
    written = json.loads(report.read_text())["batches"]
    assert [(batch["ok"], batch["expected"]) for batch in written] == [(False, True), (True, False), (False, False)]


def test_a_run_that_uses_nothing_of_the_plugin_shows_nothing_of_it_and_imports_no_verifier(tmp_path):
    (tmp_path / "test_plain.py").write_text(
        "import sys\ndef test_plain():\n    assert 'echelon_verify.verifier' not in sys.modules\n"
    )
    status, output = run(tmp_path)
    assert (status, "advantages" in output) == (0, False)


def test_a_trainer_that_cannot_be_imported_is_wrong_usage(tmp_path):
    (tmp_path / "verl.py").write_text("")
    (tmp_path / "test_plain.py").write_text("def test_plain():\n    pass\n")
    status, output = run(tmp_path, "--echelon-follow", "verl")
    assert status == 4
    assert "ERROR: --echelon-follow verl: ModuleNotFoundError" in output
