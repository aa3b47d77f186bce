"""What the settings of trainers mean."""

from __future__ import annotations

import pytest

from echelon_capture.forms import form_of

ROWS = {"name": "grpo", "singleton": "zero", "missing": "exclude"}


@pytest.mark.parametrize(
    ("trainer", "settings", "estimator"),
    [
        ("trl", {}, {**ROWS, "epsilon": 1e-4}),
        ("trl", {"scale_rewards": "True"}, {**ROWS, "epsilon": 1e-4}),
        # The word, not a setting that is omitted.
        ("trl", {"scale_rewards": "none"}, {**ROWS, "normalize_by_std": False}),
        ("trl", {"scale_rewards": False, "before_1_6": True}, {**ROWS, "normalize_by_std": False, "missing": "zero"}),
        ("verl", {"adv_estimator": "grpo_vectorized", "norm_adv_by_std_in_grpo": False}, {"name": "grpo"}),
        ("verl", {"adv_estimator": "reinforce_plus_plus", "gamma": 1.0}, {"name": "reinforce_plus_plus"}),
        (
            "verl",
            {"adv_estimator": "reinforce_plus_plus", "gamma": 0.9, "tokens": True},
            {"name": "reinforce_plus_plus_token", "discount": 0.9},
        ),
        (
            "verl-agent",
            {"adv_estimator": "gae", "gamma": 1, "lam": 0.95},
            {"name": "gae", "masked_tokens": "include", "discount": 1, "lambda": 0.95},
        ),
        ("verl-agent", {"adv_estimator": "grpo_passk", "norm_adv_by_std_in_grpo": None}, {"name": "grpo_passk"}),
    ],
)
def test_the_settings_of_a_trainer_select_an_estimator_with_its_parameters(trainer: str, settings: dict, estimator: dict):
    form = form_of(trainer, settings)
    assert form is not None and form.of(settings) == estimator


@pytest.mark.parametrize(
    ("trainer", "settings"),
    [
        ("trl", {"scale_rewards": "odd"}),
        ("verl", {"adv_estimator": "gae"}),
        ("verl", {"adv_estimator": "reinforce_plus_plus", "gamma": 0.9}),
        ("verl-agent", {"adv_estimator": "hgpo", "hgpo_mode": "odd"}),
        ("verl-agent", {}),
    ],
)
def test_settings_without_a_known_form_select_none(trainer: str, settings: dict):
    assert form_of(trainer, settings) is None


def test_a_form_names_the_columns_of_tokens_that_it_starts_from():
    assert form_of("verl-agent", {"adv_estimator": "gae"}).tokens == ("reward", "value")
    assert form_of("verl-agent", {"adv_estimator": "reinforce_plus_plus"}).tokens == ("reward",)
    assert form_of("verl-agent", {"adv_estimator": "rloo"}).tokens == ()
