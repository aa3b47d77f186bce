"""The columns of a batch as arrays of the standard library."""

from __future__ import annotations

from array import array
from difflib import get_close_matches
from itertools import accumulate
from typing import Any, Hashable, Iterable, Mapping, Sequence

# Column → its name in a file, array type code.
COLUMNS = {
    "step": ("step", "i"),
    "reward": ("reward", "d"),
    "action_valid": ("actionValid", "B"),
    "token_level_reward_sum": ("tokenLevelRewardSum", "d"),
    "reward_baseline": ("rewardBaseline", "d"),
    "response_length": ("responseLength", "i"),
    "step_reward": ("stepReward", "f"),
    "advantage": ("advantage", "f"),
}
REPORTED = ("step_reward", "advantage")
# Column of the tokens → its name in a file, array type code, field of the message.
TOKEN_COLUMNS = {
    "mask": ("mask", "B", "token_mask"),
    "reward": ("reward", "f", "token_reward"),
    "value": ("value", "f", "token_value"),
    "log_prob": ("logProb", "f", "token_log_prob"),
    "squared_probabilities": ("squaredProbabilities", "f", "token_squared_probabilities"),
    "rollout_weight": ("rolloutWeight", "f", "token_rollout_weight"),
    "advantage": ("reportedAdvantage", "f", "reported_token_advantage"),
}


def checked(kind: str, given: Mapping[str, Any], known: Iterable[str]) -> Mapping[str, Any]:
    for key in given:
        if key not in known:
            near = get_close_matches(key, known, 1)
            raise ValueError(f"{kind} has no {key!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    return given


def as_list(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def column_arrays(columns: Mapping[str, Any]) -> dict[str, array]:
    checked("column", columns, COLUMNS)
    given = {column: values for column, values in columns.items() if values is not None}
    return {column: _array(column, COLUMNS[column][1], as_list(values)) for column, values in given.items()}


def _array(column: str, code: str, values: list[Any]) -> array:
    try:
        return array(code, [bool(value) for value in values] if code == "B" else values)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{column}: {error}") from None


def token_arrays(tokens: Mapping[str, Any], rows: int) -> tuple[array, dict[str, array]]:
    """Where the tokens of each row start, and the columns of the tokens, one row after the other."""
    checked("tokens", tokens, TOKEN_COLUMNS)
    nested = {column: [as_list(row) for row in as_list(values)] for column, values in tokens.items() if values is not None}
    lengths: list[int] | None = None
    for column, values in nested.items():
        own = [len(row) for row in values]
        if len(own) != rows:
            raise ValueError(f"tokens.{column} has {len(own)} rows, group has {rows}: every column has one entry a row")
        if lengths is not None and own != lengths:
            raise ValueError(f"tokens.{column} has other numbers of tokens than tokens.{next(iter(nested))}")
        lengths = own
    offset = array("i", [0, *accumulate(lengths or [0] * rows)])
    flat = {column: [x for row in values for x in row] for column, values in nested.items()}
    return offset, {column: _array(f"tokens.{column}", TOKEN_COLUMNS[column][1], values) for column, values in flat.items()}


def reward_columns(
    rewards: Mapping[str, Sequence[float]] | None, weights: Mapping[str, float] | None
) -> dict[str, tuple[float, array]]:
    """The weight and the column of each reward function."""
    named = {str(key): values for key, values in (rewards or {}).items()}
    checked("reward_weights", weights or {}, named)
    functions = {}
    for key, values in named.items():
        try:
            functions[key] = (float((weights or {}).get(key, 1)), array("d", as_list(values)))
        except (TypeError, OverflowError) as error:
            raise type(error)(f"rewards.{key}: {error}") from None
    return functions


def check_lengths(arrays: Mapping[str, array]) -> None:
    rows = len(arrays["group"])
    for column, values in arrays.items():
        if len(values) != rows:
            raise ValueError(f"{column} has {len(values)} entries, group has {rows}: every column has one a row")


def named(ids: Sequence[Hashable]) -> tuple[array, list[str]]:
    """Indices into the distinct ids, and these as texts."""
    if isinstance(ids, range):
        # All are distinct, as the trajectories of rows that are one each.
        return array("i", range(len(ids))), [str(one) for one in ids]
    listed = as_list(ids)
    known = {one: at for at, one in enumerate(dict.fromkeys(listed))}
    index = array("i", map(known.__getitem__, listed))
    names = [str(one) for one in known]
    return index, names if len(set(names)) == len(names) else [repr(one) for one in known]


def distinct(texts: Sequence[str]) -> tuple[array, list[str]]:
    """Indices into the distinct texts, and these."""
    known: dict[str, int] = {}
    index = array("i", (known.setdefault(str(one), len(known)) for one in texts))
    return index, list(known)
