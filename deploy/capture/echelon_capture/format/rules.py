"""What an estimator is computed from, in the terms of the columns of a batch."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple


class Parameter(NamedTuple):
    """A parameter of an estimator. Without a default it must be stated."""

    kind: type
    default: Any
    # The parameter whose value it has if omitted.
    same_as: str | None = None


class Estimator(NamedTuple):
    """What an estimator is computed from. Of several columns in one entry, any is enough."""

    parameters: Mapping[str, Parameter]
    columns: tuple[tuple[str, ...], ...]
    # Flag → the columns that it needs as well.
    columns_with: Mapping[str, tuple[str, ...]]


RETURNS = ("step_reward", "reward")
SCORES = ("token_level_reward_sum",)
REWARDS = ("rewards",)
