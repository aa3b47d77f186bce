"""The metrics that `export` gives to a tracker, and how the command fails."""

from __future__ import annotations

import json
import subprocess

import pytest
from test_command import GOLDEN, call

from echelon_verify.export.series import read_series


def batch(name: str, wrong: int = 0, **more) -> dict:
    wrong_rows = list(range(wrong))
    return {
        **{"name": name, "rows": 8, "exact": 7 - wrong, "rounding": 1, "wrong": wrong, "unverifiable": 2},
        **{"wrongRows": wrong_rows, "ok": wrong == 0, **more},
    }


def test_series_of_a_dump_has_counts_coverage_and_both_shares_of_zero_signal():
    signal = {"groups": 4, "single": 1, "allLowest": 1, "allHighest": 0, "allEqual": 0}
    one = batch("step 12", wrong=1, signal=signal, diagnosis={"zero": {"rows": 2}})
    series = read_series(json.dumps({"batches": [one]}))
    expected = {
        "echelon/rows_wrong": 1,
        "echelon/rows_rounding": 1,
        "echelon/coverage": 0.75,
        "echelon/zero_signal_share": 0.25,
        "echelon/groups_without_signal_share": 0.5,
    }
    assert series.steps == [(12, expected)]


def test_steps_are_the_ascending_numbers_of_the_names_and_else_positions():
    def steps(*names):
        return [step for step, _ in read_series(json.dumps({"batches": [batch(name) for name in names]})).steps]

    assert steps("step 2", "step 10") == [2, 10]
    assert steps("step 2", "step 2") == [1, 2]
    assert steps("step 2", "walk") == [1, 2]


def test_a_wrong_row_is_named_with_cause_and_link():
    cause = {"explanation": {"likelyCause": "no deviation"}, "text": "Row 0 of step 2 is WRONG"}
    report = {"batches": [batch("step 1"), batch("step 2", wrong=2, file="a.json")], "firstWrong": cause}
    series = read_series(json.dumps(report), link="https://example.org/report.html")
    assert series.first_wrong == (
        "Row 0 of step 2 of a.json is wrong. Likely cause: no deviation. https://example.org/report.html#/?batch=1&row=0"
    )
    assert series.explanation == "Row 0 of step 2 is WRONG"


def test_a_wrong_row_of_a_pytest_report_is_named_with_its_test():
    one = batch("step 1", wrong=1, test="tests/test_a.py::test_b", likelyCause="no deviation", explanation="why")
    series = read_series(json.dumps({"batches": [one]}))
    assert series.first_wrong == "Row 0 of step 1 of tests/test_a.py::test_b is wrong. Likely cause: no deviation."
    assert series.explanation == "why"


@pytest.mark.parametrize("text", ["", "[]", '{"batches": 1}', '{"batches": [{"name": "a"}]}', '{"batches": []}'])
def test_another_document_is_refused(text):
    with pytest.raises(ValueError, match="holds no batch|is not the JSON of"):
        read_series(text)


def test_the_command_says_which_library_is_missing_and_which_file(tmp_path):
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"batches": [batch("step 1")]}))
    for name in ("wandb", "mlflow", "trackio"):
        # A file of this name cannot be imported as the library.
        (tmp_path / f"{name}.py").write_text("raise ImportError")
    ended = call("export", report, "--to", "wandb", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, "echelon-verify: wandb is not installed. Run `pip install wandb`.\n")
    absent = call("export", tmp_path / "absent.json", "--to", "wandb", cwd=tmp_path)
    assert absent.returncode == 2 and "absent.json" in absent.stderr


def test_an_error_of_a_library_is_a_sentence_and_no_traceback(tmp_path):
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"batches": [batch("step 1")]}))
    (tmp_path / "wandb.py").write_text(
        "class UsageError(Exception):\n    pass\ndef init(**_):\n    raise UsageError('No API key configured. Use `wandb login` to log in.')\n"
    )
    ended = call("export", report, "--to", "wandb", cwd=tmp_path)
    text = "echelon-verify: wandb refuses the results: No API key configured. Use `wandb login` to log in.\n"
    assert (ended.returncode, ended.stderr) == (2, text)


def test_a_report_of_the_verifier_gives_a_series():
    verified: subprocess.CompletedProcess = call("verify", "--json", GOLDEN / "dumps" / "trl" / "group")
    series = read_series(verified.stdout)
    assert [step for step, _ in series.steps] == [1, 2, 3]
    assert series.first_wrong is None
    for _, values in series.steps:
        assert values["echelon/rows_wrong"] == 0 and values["echelon/coverage"] == 1
        assert 0 <= values["echelon/groups_without_signal_share"] <= 1
        assert 0 <= values["echelon/zero_signal_share"] <= 1
