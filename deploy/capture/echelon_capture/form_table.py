"""The forms of every trainer that a capture follows. Generated from packages/echelon-verify/src/identify/trainers.json by `npm run generate`."""

from __future__ import annotations

from .form import Form

FORMS: dict[str, tuple[Form, ...]] = {
    "trl": (
        Form(
            when=({"scale_rewards": ("group", True, None), "multi_objective_aggregation": ("sum_then_normalize", None), "before_1_6": (False, None)},),
            estimator={"name": "grpo", "singleton": "zero", "epsilon": 1e-4, "missing": "exclude"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"scale_rewards": ("batch",), "multi_objective_aggregation": ("sum_then_normalize", None), "before_1_6": (False, None)},),
            estimator={"name": "grpo", "singleton": "zero", "epsilon": 1e-4, "missing": "exclude", "deviation_over": "batch"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"scale_rewards": ("none", False), "multi_objective_aggregation": ("sum_then_normalize", None), "before_1_6": (False, None)},),
            estimator={"name": "grpo", "normalize_by_std": False, "singleton": "zero", "missing": "exclude"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"multi_objective_aggregation": ("normalize_then_sum",), "before_1_6": (False, None)},),
            estimator={"name": "gdpo", "missing": "exclude"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"scale_rewards": ("group", True, None), "multi_objective_aggregation": ("sum_then_normalize", None), "before_1_6": (True,)},),
            estimator={"name": "grpo", "singleton": "zero", "epsilon": 1e-4, "missing": "zero"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"scale_rewards": ("batch",), "multi_objective_aggregation": ("sum_then_normalize", None), "before_1_6": (True,)},),
            estimator={"name": "grpo", "singleton": "zero", "epsilon": 1e-4, "missing": "zero", "deviation_over": "batch"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"scale_rewards": ("none", False), "multi_objective_aggregation": ("sum_then_normalize", None), "before_1_6": (True,)},),
            estimator={"name": "grpo", "normalize_by_std": False, "singleton": "zero", "missing": "zero"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"multi_objective_aggregation": ("normalize_then_sum",), "before_1_6": (True,)},),
            estimator={"name": "gdpo", "missing": "zero"},
            settings={},
            tokens=(),
        ),
    ),
    "verl": (
        Form(
            when=({"adv_estimator": ("grpo",), "norm_adv_by_std_in_grpo": (True,)}, {"adv_estimator": ("grpo_vectorized",)}),
            estimator={"name": "grpo"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("grpo",), "norm_adv_by_std_in_grpo": (False,)},),
            estimator={"name": "grpo", "normalize_by_std": False},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("rloo",)},),
            estimator={"name": "rloo"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("rloo_vectorized",)},),
            estimator={"name": "rloo", "singleton": "zero"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("reinforce_plus_plus",), "gamma": (1,), "tokens": (False, None)},),
            estimator={"name": "reinforce_plus_plus"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("reinforce_plus_plus_baseline",)},),
            estimator={"name": "reinforce_plus_plus", "baseline": "group"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("gdpo",)},),
            estimator={"name": "gdpo", "epsilon": 1e-6, "batch_epsilon": 1e-8, "batch_epsilon_place": "variance-added", "weight": "token", "singleton": "raw"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("gae",), "tokens": (True,)},),
            estimator={"name": "gae"},
            settings={"discount": "gamma", "lambda": "lam"},
            tokens=("reward", "value"),
        ),
        Form(
            when=({"adv_estimator": ("reinforce_plus_plus",), "tokens": (True,)},),
            estimator={"name": "reinforce_plus_plus_token"},
            settings={"discount": "gamma"},
            tokens=("reward",),
        ),
        Form(
            when=({"adv_estimator": ("opo",)},),
            estimator={"name": "opo"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("gpg",)},),
            estimator={"name": "gpg"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("grpo_passk",)},),
            estimator={"name": "grpo_passk"},
            settings={"normalize_by_std": "norm_adv_by_std_in_grpo"},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("remax",), "tokens": (True,)},),
            estimator={"name": "remax"},
            settings={},
            tokens=("reward",),
        ),
        Form(
            when=({"adv_estimator": ("optimal_token_baseline",), "tokens": (True,), "rollout_is_weights": (False, None)},),
            estimator={"name": "optimal_token_baseline"},
            settings={},
            tokens=("reward", "log_prob", "squared_probabilities"),
        ),
        Form(
            when=({"adv_estimator": ("optimal_token_baseline",), "tokens": (True,), "rollout_is_weights": (True,)},),
            estimator={"name": "optimal_token_baseline", "rollout_weights": True},
            settings={},
            tokens=("reward", "log_prob", "squared_probabilities", "rollout_weight"),
        ),
        Form(
            when=({"adv_estimator": ("tir_optimal_token_baseline",), "tokens": (True,), "rollout_is_weights": (False, None)},),
            estimator={"name": "optimal_token_baseline", "align": "trained-token"},
            settings={},
            tokens=("reward", "log_prob", "squared_probabilities"),
        ),
        Form(
            when=({"adv_estimator": ("tir_optimal_token_baseline",), "tokens": (True,), "rollout_is_weights": (True,)},),
            estimator={"name": "optimal_token_baseline", "align": "trained-token", "rollout_weights": True},
            settings={},
            tokens=("reward", "log_prob", "squared_probabilities", "rollout_weight"),
        ),
    ),
    "verl-agent": (
        Form(
            when=({"adv_estimator": ("gigpo",), "gigpo_mode": ("mean_norm",)},),
            estimator={"name": "gigpo", "mode": "mean_norm"},
            settings={"step_advantage_weight": "step_advantage_w"},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("gigpo",), "gigpo_mode": ("mean_std_norm", None)},),
            estimator={"name": "gigpo", "mode": "mean_std_norm"},
            settings={"step_advantage_weight": "step_advantage_w"},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("graphgpo",), "gigpo_mode": ("mean_norm",)},),
            estimator={"name": "graphgpo", "mode": "mean_norm"},
            settings={"step_advantage_weight": "step_advantage_w", "episode_advantage_weight": "episode_advantage_w", "distance": "distance", "merged_states": "enable_similarity"},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("graphgpo",), "gigpo_mode": ("mean_std_norm", None)},),
            estimator={"name": "graphgpo", "mode": "mean_std_norm"},
            settings={"step_advantage_weight": "step_advantage_w", "episode_advantage_weight": "episode_advantage_w", "distance": "distance", "merged_states": "enable_similarity"},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("hgpo",), "hgpo_mode": ("mean_norm",)},),
            estimator={"name": "hgpo", "history_length": 2, "mode": "mean_norm", "length_weight_alpha": 1, "base_group": False},
            settings={"history_length": "history_length", "length_weight_alpha": "hgpo_length_weight_alpha", "base_group": "hgpo_base_group"},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("hgpo",), "hgpo_mode": ("mean_std_norm", None)},),
            estimator={"name": "hgpo", "history_length": 2, "mode": "mean_std_norm", "length_weight_alpha": 1, "base_group": False},
            settings={"history_length": "history_length", "length_weight_alpha": "hgpo_length_weight_alpha", "base_group": "hgpo_base_group"},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("grpo",), "norm_adv_by_std_in_grpo": (True, None)},),
            estimator={"name": "grpo"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("grpo",), "norm_adv_by_std_in_grpo": (False,)},),
            estimator={"name": "grpo", "normalize_by_std": False},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("grpo_passk",)},),
            estimator={"name": "grpo_passk"},
            settings={"normalize_by_std": "norm_adv_by_std_in_grpo"},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("rloo",)},),
            estimator={"name": "rloo"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("gae",)},),
            estimator={"name": "gae", "masked_tokens": "include"},
            settings={"discount": "gamma", "lambda": "lam"},
            tokens=("reward", "value"),
        ),
        Form(
            when=({"adv_estimator": ("reinforce_plus_plus",)},),
            estimator={"name": "reinforce_plus_plus_token", "masked_tokens": "reset"},
            settings={"discount": "gamma"},
            tokens=("reward",),
        ),
        Form(
            when=({"adv_estimator": ("reinforce_plus_plus_baseline",)},),
            estimator={"name": "reinforce_plus_plus", "baseline": "group"},
            settings={},
            tokens=(),
        ),
        Form(
            when=({"adv_estimator": ("remax",)},),
            estimator={"name": "remax"},
            settings={},
            tokens=("reward",),
        ),
    ),
}
