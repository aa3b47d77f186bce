"""Replaces a batch's advantages by the float64 result (`advantages: exact`), for HGPO."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from echelon_capture.format.observations import canonical_text

from . import exact_hgpo


def replace_advantages(data: Any, columns: Mapping[str, Any], facts: Mapping[str, Any]) -> np.ndarray:
    """Sets `advantages`, `returns` and `step_rewards` of the recipe's DataProto; returns the step returns as float32.

    `columns` are those of `capture.copy_inputs`, `facts` those of `capture.estimator_facts`. Raises before anything
    is changed where a column is missing.
    """
    trajectory = columns["trajectory"].tolist()
    returns = exact_hgpo.step_returns(
        columns["reward"], trajectory, columns["action_valid"], facts["gamma"], facts["invalid_action_penalty"]
    )
    observation = [one if isinstance(one, str) else (canonical_text(one),) for one in columns["observation"]]
    values = exact_hgpo.hgpo(
        returns, columns["token_level_reward_sum"], columns["group"].tolist(), trajectory, observation, facts
    )
    if not np.isfinite(values).all() and np.isfinite(returns).all():
        raise ValueError("the float64 advantages are not finite")
    mask = data.batch["response_mask"]
    template = data.batch["advantages"]
    advantages = template.new_tensor(values.tolist()).unsqueeze(-1) * mask
    replaced = returns.astype(np.float32)
    data.batch["advantages"] = advantages
    data.batch["returns"] = advantages
    data.batch["step_rewards"] = data.batch["step_rewards"].new_tensor(replaced.tolist())
    return replaced
