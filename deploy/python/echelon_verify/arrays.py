"""Verification of arrays."""

from __future__ import annotations

import math
import re
from array import array
from functools import lru_cache
from typing import Any, Callable, Mapping, Protocol, Sequence, Union

from .gen.format import build_batch
from .report import ArrayReport, counts_from
from .verifier import BUDGET_BYTES, shared


class SupportsToList(Protocol):
    """An array or tensor of any library."""

    def tolist(self) -> Any:
        """Its values as lists of Python's numbers."""
        ...


Column = Union[Sequence[Any], SupportsToList]
"""One entry per row: a list, or an array or tensor on any device."""

_ROUNDED = ("bfloat16", "float16")
# Columns that say more of the steps of a row than its score.
_OF_STEPS = ("reward", "step", "action_valid", "step_reward")


def verify(
    *,
    advantages: Column,
    rewards: Column | Mapping[str, Column] | None = None,
    groups: Column | None = None,
    group_size: int | None = None,
    estimator: str | Mapping[str, Any],
    trajectories: Column | None = None,
    mask: Column | None = None,
    precision: str | None = None,
    name: str = "batch",
    timeout: float = 60.0,
    **columns: Any,
) -> ArrayReport:
    """Verifies the advantages of one batch.

    `advantages`: one per row, or one per token (rows × tokens) with `mask`, which is 0 at padding. `rewards`: one per row, or
    one per token, or a column for each reward function by its name (with NaN in rows that the function did not score). The score of a
    row is then their sum with `reward_weights` (by name; default: 1), as a trainer has it in its precision, unless
    `token_level_reward_sum` is given. `groups`: what identifies the prompt of each row; or state `group_size` if the rows of a prompt
    follow one another. `estimator`: a trainer's form such as "trl/grpo" (see `forms`), or an estimator with the parameters that
    are not its defaults, such as `{"name": "grpo", "epsilon": 1e-4}`. `precision`: the trainer's arithmetic; it must be stated
    for advantages in 16 bits. `columns`: more columns by the names of docs/guides/batch-from-a-trainer.md, such as
    `observation` and `step_reward`.

    ValueError or TypeError if a column or parameter is missing or does not fit. VerifierError if there is no answer within
    `timeout` seconds.
    """
    if (groups is None) == (group_size is None):
        raise ValueError("state either groups or group_size")
    rows = len(advantages)  # type: ignore[arg-type]
    group = groups if groups is not None else _blocks(rows, group_size or 0)
    return verify_columns(
        estimator=_estimator(estimator, _precision(advantages, precision)),
        name=name,
        group=group,
        trajectory=range(rows) if trajectories is None else trajectories,
        provenance=None if group_size is None else {"group_size": group_size},
        timeout=timeout,
        **_with_steps(_values(advantages, _summed(rewards, columns, precision), mask), rows, trajectories, columns),
        **columns,
    )


def verify_columns(*, timeout: float, **columns: Any) -> ArrayReport:
    """Verifies a batch of the columns that the capture package takes: the arguments of `build_batch` there. Errors
    are those of `verify`."""
    wire = build_batch(**columns)
    answer = shared.request("verify", wire, timeout=timeout, budgetBytes=BUDGET_BYTES)
    explained = answer["explained"]
    return ArrayReport(
        **counts_from(answer["report"]),
        explanation=explained and explained["text"],
        likely_cause=explained and explained["row"]["likelyCause"],
        json=answer["report"],
        _wire=wire,
    )


@lru_cache(maxsize=1)
def forms() -> Mapping[str, Mapping[str, Any]]:
    """The estimators of known trainers by their ids, such as "trl/grpo", as `verify` takes them."""
    answer = shared.request("forms", timeout=60.0)
    return {
        form: {"name": one["estimator"], **{_snake(key): value for key, value in one["params"].items()}}
        for form, one in answer.items()
    }


def _estimator(estimator: str | Mapping[str, Any], precision: str | None) -> dict[str, Any]:
    stated = {"precision": precision} if precision else {}
    if not isinstance(estimator, str):
        return {**stated, **estimator}
    if "/" not in estimator:
        return {**stated, "name": estimator}
    known = forms()
    if estimator not in known:
        of_trainer = [form for form in known if form.startswith(estimator.split("/")[0] + "/")]
        raise ValueError(f"no known form {estimator!r}; there are {', '.join(of_trainer or known)}")
    return {**stated, **known[estimator]}


def _precision(advantages: Any, precision: str | None) -> str | None:
    dtype = str(getattr(advantages, "dtype", "")).rpartition(".")[2]
    if precision is None and dtype in _ROUNDED:
        raise ValueError(
            f"the advantages are {dtype}: state precision={dtype!r} if they were computed in it, or "
            f"precision='{dtype}-output' if they were computed in float32 and rounded at the end"
        )
    return precision


def _blocks(rows: int, size: int) -> list[int]:
    if size < 1 or rows % size:
        raise ValueError(f"{rows} rows are no multiple of group_size={size}")
    return [row // size for row in range(rows)]


def _with_steps(values: dict[str, Any], rows: int, trajectories: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns, with the score as the reward of the only step of a row, unless more is said of steps."""
    score = values.get("token_level_reward_sum")
    if score is None or trajectories is not None or not given.keys().isdisjoint(_OF_STEPS):
        return values
    # A row without a score has no reward either.
    if any(x != x for x in (score.tolist() if hasattr(score, "tolist") else score)):
        return values
    return {**values, "reward": score, "step": [0] * rows}


def _summed(rewards: Any, columns: dict[str, Any], precision: str | None) -> Any:
    """The rewards; those of several functions go to `columns`, and their weighted sum is returned unless it is given there."""
    if not isinstance(rewards, Mapping):
        return rewards
    columns["rewards"] = rewards
    if columns.get("token_level_reward_sum") is not None or not rewards:
        return None
    weights = columns.get("reward_weights") or {}
    if not isinstance(weights, Mapping):
        raise ValueError("reward_weights holds a factor by the name of each reward function")
    is_double = precision == "float64" or any("float64" in str(getattr(one, "dtype", "")) for one in rewards.values())
    rounded = float if is_double else _float32
    lists = [[float(x) for x in (one.tolist() if hasattr(one, "tolist") else one)] for one in rewards.values()]
    factors = [float(weights.get(name, 1)) for name in rewards]
    return [_sum([rounded(weight * rounded(x)) for weight, x in zip(factors, row) if not math.isnan(x)], rounded) for row in zip(*lists)]


def _sum(terms: Sequence[float], rounded: Callable[[float], float]) -> float:
    """One addition after the other, each rounded; NaN without a term."""
    total = math.nan if not terms else 0.0
    for term in terms:
        total = rounded(total + term)
    return total


def _float32(value: float) -> float:
    return array("f", [value])[0]


def _values(advantages: Any, rewards: Any, mask: Any) -> dict[str, Any]:
    """The columns of rewards and advantages, of tokens if they have two dimensions."""
    values: dict[str, Any] = {}
    tokens: dict[str, Any] = {}
    if _is_nested(advantages):
        tokens["advantage"] = advantages
    else:
        values["advantage"] = advantages
    if rewards is not None and _is_nested(rewards):
        tokens["reward"] = rewards
        values["token_level_reward_sum"] = _row_sums(rewards)
    elif rewards is not None:
        values["token_level_reward_sum"] = rewards
    if tokens:
        if mask is None:
            raise ValueError("values per token need mask, which is 0 at padding")
        values["tokens"] = {**tokens, "mask": mask}
    return values


def _row_sums(rewards: Any) -> Any:
    # In the array's own arithmetic, as trainers do, so that the sums have the same bits.
    return rewards.sum(-1) if hasattr(rewards, "sum") else [sum(row) for row in rewards]


def _is_nested(values: Any) -> bool:
    dimensions = getattr(values, "ndim", None)
    if dimensions is None:
        return len(values) > 0 and hasattr(values[0], "__len__")
    return int(dimensions) > 1


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", name)
