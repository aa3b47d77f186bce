"""Verification of arrays."""

from __future__ import annotations

import math

import numpy
import pytest
from conftest import right_batch

import echelon_verify
from echelon_verify import VerifierError
from echelon_verify.verifier import shared

IMAGE = '<img src="x" onerror="alert(1)">'


def test_right_advantages_are_ok(batch):
    report = echelon_verify.verify(**batch)
    assert (report.ok, report.rows, report.exact, report.wrong, report.explanation) == (True, 16, 16, 0, None)


def test_a_wrong_row_is_named_and_explained(faulty):
    report = echelon_verify.verify(**faulty)
    assert (report.ok, report.wrong, report.wrong_rows) == (False, 1, (5,))
    assert report.explanation.startswith("Row 5 of batch is WRONG")
    assert [one.code for one in report.findings if one.severity == "error"] == ["wrong-rows"]


def test_a_known_mistake_in_all_rows_is_named_as_likely_cause():
    report = echelon_verify.verify(**right_batch(degrees=0))
    assert report.wrong == 16 and "population" in report.likely_cause


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_give_the_report_of_lists(batch, dtype):
    arrays = {**batch, "advantages": numpy.array(batch["advantages"], dtype), "rewards": numpy.array(batch["rewards"])}
    assert echelon_verify.verify(**arrays) == echelon_verify.verify(**batch)


def test_a_group_size_stands_for_groups_of_adjacent_rows(batch):
    del batch["groups"]
    report = echelon_verify.verify(**batch, group_size=4)
    assert (report.ok, report.exact) == (True, 16)


def test_a_group_size_that_does_not_divide_the_rows_is_refused(batch):
    del batch["groups"]
    with pytest.raises(ValueError, match="16 rows are no multiple of group_size=5"):
        echelon_verify.verify(**batch, group_size=5)


def test_a_batch_without_groups_is_refused(batch):
    del batch["groups"]
    with pytest.raises(ValueError, match="either groups or group_size"):
        echelon_verify.verify(**batch)


def test_a_value_per_token_is_verified_where_the_mask_is_set(batch):
    mask = numpy.ones((16, 3))
    mask[:, 2] = 0
    advantages = numpy.array(batch["advantages"], "float32")[:, None] * mask
    rewards = numpy.zeros((16, 3), "float64")
    rewards[:, 1] = batch["rewards"]
    report = echelon_verify.verify(**{**batch, "advantages": advantages, "rewards": rewards}, mask=mask)
    assert (report.ok, report.exact) == (True, 16)
    advantages[5, :2] += 0.5
    report = echelon_verify.verify(**{**batch, "advantages": advantages, "rewards": rewards}, mask=mask)
    assert report.wrong_rows == (5,)


def test_values_per_token_without_a_mask_are_refused(batch):
    with pytest.raises(ValueError, match="need mask"):
        echelon_verify.verify(**{**batch, "advantages": [[value, value] for value in batch["advantages"]]})


def test_one_column_per_reward_function_is_verified_with_its_weight():
    first, second = [0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]
    scores = [one + 2 * two for one, two in zip(first, second)]
    mean = sum(scores) / 4
    report = echelon_verify.verify(
        advantages=[score - mean for score in scores],
        rewards={"format": first, "answer": second},
        reward_weights={"answer": 2.0},
        token_level_reward_sum=scores,
        group_size=4,
        estimator={"name": "grpo", "normalize_by_std": False},
    )
    assert (report.ok, report.exact) == (True, 4)


def test_one_column_per_reward_function_without_scores_is_summed_as_a_trainer_does_and_its_faults_are_found():
    first, second = [0.1, 1.0, math.nan, 0.3, math.nan], [1.0, 0.7, 0.0, 0.2, math.nan]
    columns = {"format": first, "answer": numpy.array(second, "float32")}
    products = numpy.array([[math.nan if x != x else x for x in first], second], "float32") * numpy.array([[0.3], [2.0]], "float32")
    scores = numpy.nansum(products, axis=0, dtype="float32")
    mean = scores[:4].mean(dtype="float32")
    advantages = [*(scores[:4] - mean), 0.0]
    stated = dict(
        rewards=columns, reward_weights={"format": 0.3, "answer": 2.0}, groups=[0] * 5,
        estimator={"name": "grpo", "normalize_by_std": False, "missing": "exclude", "singleton": "zero"},
    )  # fmt: skip
    report = echelon_verify.verify(advantages=advantages, **stated)
    assert (report.wrong, report.unverifiable, report.exact + report.rounding) == (0, 0, 5), report.findings
    advantages[1] += 0.01
    assert echelon_verify.verify(advantages=advantages, **stated).wrong_rows == (1,)
    with pytest.raises(ValueError, match="a factor by the name of each reward function"):
        echelon_verify.verify(advantages=advantages, **{**stated, "reward_weights": [0.3, 2.0]})


def test_a_batch_whose_rewards_were_given_has_no_warning(batch):
    assert echelon_verify.verify(**batch).findings == ()
    rewards = {"first": batch["rewards"]}
    assert echelon_verify.verify(**{**batch, "rewards": rewards}).findings == ()


def test_a_batch_without_rows_is_not_ok():
    report = echelon_verify.verify(advantages=[], rewards=[], groups=[], estimator="trl/grpo")
    assert (report.ok, [one.code for one in report.findings]) == (False, ["batch-empty"])


def test_the_parameters_of_the_stated_estimator_decide_which_rows_are_wrong(batch):
    assert echelon_verify.verify(**{**batch, "estimator": {"name": "grpo", "epsilon": 0.5}}).wrong > 0


def test_an_unknown_form_is_refused_with_the_forms_of_the_trainer(batch):
    with pytest.raises(ValueError, match="no known form 'trl/grop'; there are trl/grpo, "):
        echelon_verify.verify(**{**batch, "estimator": "trl/grop"})


def test_a_column_of_another_length_is_refused_by_name(batch):
    with pytest.raises(ValueError, match="token_level_reward_sum has 1 entries"):
        echelon_verify.verify(**{**batch, "rewards": [1.0]})


def test_16_bit_advantages_need_a_stated_precision(batch):
    half = {**batch, "advantages": numpy.array(batch["advantages"], "float16")}
    with pytest.raises(ValueError, match="precision='float16-output'"):
        echelon_verify.verify(**half)
    assert echelon_verify.verify(**half, precision="float16-output").wrong == 0
    assert echelon_verify.verify(**half, precision="float32").wrong > 0


def test_any_row_can_be_explained(batch):
    report = echelon_verify.verify(**batch)
    assert report.explain(3).startswith("Row 3 of batch is EXACT")
    with pytest.raises(ValueError, match="rows 0 to 15, not 99"):
        report.explain(99)


def test_a_notebook_shows_counts_and_explanation_and_no_markup_of_the_batch(faulty):
    shown = echelon_verify.verify(**{**faulty, "groups": [IMAGE] * 16, "name": IMAGE})._repr_html_()
    assert "<td>16</td>" in shown and "is WRONG" in shown
    assert "<img" not in shown and "&lt;img" in shown


def test_an_assertion_fails_with_the_explanation(batch, faulty):
    assert echelon_verify.assert_advantages(**batch).ok
    with pytest.raises(AssertionError, match="(?s)1 wrong.*wrong-rows.*Row 5 of batch is WRONG") as failure:
        echelon_verify.assert_advantages(**faulty)
    assert failure.value.report.wrong_rows == (5,)


def test_a_batch_over_the_memory_budget_is_unverifiable_and_not_wrong(batch, monkeypatch):
    monkeypatch.setattr("echelon_verify.arrays.BUDGET_BYTES", 1000)
    report = echelon_verify.verify(**batch)
    assert (report.ok, report.wrong, report.unverifiable) == (False, 0, 16)
    assert "budget-exceeded" in [one.code for one in report.findings]


def test_a_batch_that_takes_too_long_is_given_up_and_the_next_is_verified(batch):
    rows = 200_000
    large = {"advantages": [0.5] * rows, "rewards": [0.5] * rows, "groups": range(rows), "estimator": "grpo"}
    echelon_verify.verify(**batch)
    with pytest.raises(VerifierError, match="longer than 0.05 s") as failure:
        echelon_verify.verify(**large, timeout=0.05)
    assert (failure.value.code, shared.pid) == ("timeout", None)
    assert echelon_verify.verify(**batch).ok
