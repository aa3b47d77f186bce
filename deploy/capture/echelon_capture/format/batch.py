"""Advantage batches from a trainer's arrays, as bytes for the spool or as a file for `echelon verify`.

    columns = dict(
        estimator=dict(name="hgpo", history_length=2, mode="mean_std_norm", gamma=0.95, invalid_action_penalty=0.1),
        group=uid, trajectory=traj_uid, observation=anchor_obs, reward=rewards, action_valid=is_action_valid,
        step_reward=step_rewards, advantage=advantages[:, 0],
    )
    spool.batch(step, build_batch(**columns, provenance=dict(training_step=step, group_size=8)), rows=len(uid))
    write_batch_file("step-12.json.gz", [columns])

One entry a row in every column, rows in the order in which the trainer computed. Only the standard library is used,
and the protobuf message is written field by field, so that this file can be loaded into any trainer's process.
The message's definition is proto/echelon/batch/v1/batch.proto.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import operator
import os
import re
import struct
import sys
from array import array
from decimal import Decimal
from difflib import get_close_matches
from functools import reduce
from itertools import accumulate
from typing import Any, Hashable, Iterable, Mapping, NamedTuple, Sequence

FORMAT = "echelon-batch/1"
# A batch with tokens.
TOKEN_FORMAT = "echelon-batch/2"

_BATCH_FIELDS = {
    "format": 1, "name": 2, "provenance": 3, "estimator": 4, "rows": 5, "group": 6, "group_names": 7,
    "trajectory": 8, "trajectory_names": 9, "step": 10, "observation": 11, "observation_digests": 12,
    "observation_texts": 13, "reward": 14, "action_valid": 15, "token_level_reward_sum": 16,
    "response_length": 17, "reported_step_reward": 18, "reported_advantage": 19, "action": 30, "action_texts": 31,
    "rewards": 32, "next_observation": 33, "reward_baseline": 34,
    "token_offset": 40, "token_mask": 41, "token_reward": 42, "token_value": 43, "reported_token_advantage": 44,
    "token_log_prob": 45, "token_squared_probabilities": 46, "token_rollout_weight": 47,
}  # fmt: skip
_PROVENANCE_FIELDS = {
    "experiment": 1, "attempt": 2, "training_step": 3, "group_size": 4, "groups": 5, "rows_collected": 6,
    "producer": 7, "preparation": 8,
}  # fmt: skip
_ESTIMATOR_FIELDS = {"name": 1, "gamma": 8, "invalid_action_penalty": 9, "precision": 12, "forms": 14, "parameters": 15}
_REWARD_FIELDS = {"name": 1, "weight": 2, "value": 3}
# The encodings of the numbers below 128.
_ONE_BYTE = tuple(bytes((value,)) for value in range(0x80))
_DOUBLES = frozenset(("gamma", "invalid_action_penalty"))


class _Parameter(NamedTuple):
    """A parameter of an estimator. Without a default it must be stated."""

    kind: type
    default: Any
    # The parameter whose value it has if omitted.
    same_as: str | None = None


class _Estimator(NamedTuple):
    """What an estimator is computed from. Of several columns in one entry, any is enough."""

    parameters: Mapping[str, _Parameter]
    columns: tuple[tuple[str, ...], ...]
    # Flag → the columns that it needs as well.
    columns_with: Mapping[str, tuple[str, ...]]


_RETURNS = ("step_reward", "reward")
_SCORES = ("token_level_reward_sum",)
_REWARDS = ("rewards",)
# Generated from packages/echelon-verify/src/kernel/estimators by `npm run generate`.
_ESTIMATORS = {
    "hgpo": _Estimator(
        parameters={
            "history_length": _Parameter(float, None),
            "mode": _Parameter(str, None),
            "length_weight_alpha": _Parameter(float, 1),
            "base_group": _Parameter(bool, False),
            "epsilon": _Parameter(float, 1e-6),
            "epsilon_place": _Parameter(str, "added"),
            "deviation": _Parameter(str, "population"),
            "singleton": _Parameter(str, "drop"),
            "zero": _Parameter(str, "drop"),
            "weight_offset": _Parameter(float, 2),
            "weight_epsilon": _Parameter(float, 1e-6, "epsilon"),
            "base_deviation": _Parameter(str, "sample"),
            "base_singleton": _Parameter(str, "raw"),
            "base_statistics": _Parameter(str, "rows", "statistics"),
        },
        columns=(("observation",), _RETURNS),
        columns_with={"base_group": _SCORES},
    ),
    "gigpo": _Estimator(
        parameters={
            "mode": _Parameter(str, None),
            "episode_mode": _Parameter(str, "as-mode"),
            "step_advantage_weight": _Parameter(float, 1),
            "episode_advantage_weight": _Parameter(float, 1),
            "epsilon": _Parameter(float, 1e-6),
            "epsilon_place": _Parameter(str, "added"),
            "deviation": _Parameter(str, "sample"),
            "singleton": _Parameter(str, "raw"),
            "statistics": _Parameter(str, "rows"),
            "states_over": _Parameter(str, "group"),
            "undivided": _Parameter(str, "plain"),
            "guard": _Parameter(str, "none"),
            "guard_above": _Parameter(float, 0),
        },
        columns=(("observation",), _RETURNS, _SCORES),
        columns_with={},
    ),
    "graphgpo": _Estimator(
        parameters={
            "mode": _Parameter(str, None),
            "episode_mode": _Parameter(str, "as-mode"),
            "step_advantage_weight": _Parameter(float, 1),
            "episode_advantage_weight": _Parameter(float, 1),
            "epsilon": _Parameter(float, 1e-6),
            "epsilon_place": _Parameter(str, "added"),
            "deviation": _Parameter(str, "sample"),
            "singleton": _Parameter(str, "raw"),
            "statistics": _Parameter(str, "rows"),
            "states_over": _Parameter(str, "group"),
            "undivided": _Parameter(str, "plain"),
            "guard": _Parameter(str, "none"),
            "guard_above": _Parameter(float, 0),
            "distance": _Parameter(str, "absolute"),
            "goal_reward": _Parameter(float, 10),
            "merged_states": _Parameter(bool, False),
        },
        columns=(("observation",), ("next_observation",), _RETURNS, _SCORES),
        columns_with={},
    ),
    "g2po": _Estimator(
        parameters={
            "mode": _Parameter(str, None),
            "step_advantage_weight": _Parameter(float, 1),
            "discount": _Parameter(float, 9.5e-1),
            "success_reward": _Parameter(float, 10),
            "invalid_penalty": _Parameter(float, 1e-1),
            "value_format": _Parameter(str, "float64"),
            "epsilon": _Parameter(float, 1e-6),
            "deviation": _Parameter(str, "sample"),
            "singleton": _Parameter(str, "raw"),
            "statistics": _Parameter(str, "rows"),
        },
        columns=(("observation",), ("reward",), ("action_valid",), _SCORES),
        columns_with={},
    ),
    "grpo": _Estimator(
        parameters={
            "normalize_by_std": _Parameter(bool, True),
            "epsilon": _Parameter(float, 1e-6),
            "epsilon_place": _Parameter(str, "added"),
            "deviation": _Parameter(str, "sample"),
            "singleton": _Parameter(str, "raw"),
            "statistics": _Parameter(str, "rows"),
            "baseline": _Parameter(str, "group"),
            "deviation_over": _Parameter(str, "group"),
            "guard": _Parameter(str, "none"),
            "guard_above": _Parameter(float, 0),
            "missing": _Parameter(str, "propagate"),
            "clip": _Parameter(float, 0),
        },
        columns=(_SCORES,),
        columns_with={},
    ),
    "rloo": _Estimator(
        parameters={
            "singleton": _Parameter(str, "raw"),
            "statistics": _Parameter(str, "rows"),
            "normalize": _Parameter(str, "none"),
            "epsilon": _Parameter(float, 1e-6),
            "missing": _Parameter(str, "propagate"),
        },
        columns=(_SCORES,),
        columns_with={},
    ),
    "reinforce_plus_plus": _Estimator(
        parameters={
            "baseline": _Parameter(str, "none"),
            "weight": _Parameter(str, "token"),
            "recentre": _Parameter(bool, True),
            "normalize_by_std": _Parameter(bool, True),
            "deviation": _Parameter(str, "sample"),
            "epsilon": _Parameter(float, 1e-8),
            "epsilon_place": _Parameter(str, "variance-added"),
            "singleton": _Parameter(str, "raw"),
        },
        columns=(_SCORES,),
        columns_with={},
    ),
    "max_rl": _Estimator(
        parameters={
            "epsilon": _Parameter(float, 0),
            "guard": _Parameter(str, "zero"),
            "guard_above": _Parameter(float, 0),
            "singleton": _Parameter(str, "zero"),
        },
        columns=(_SCORES,),
        columns_with={},
    ),
    "gdpo": _Estimator(
        parameters={
            "baseline": _Parameter(str, "group"),
            "epsilon": _Parameter(float, 1e-4),
            "batch_epsilon": _Parameter(float, 1e-4),
            "batch_epsilon_place": _Parameter(str, "added"),
            "weight": _Parameter(str, "row"),
            "singleton": _Parameter(str, "zero"),
            "missing": _Parameter(str, "propagate"),
        },
        columns=(_REWARDS,),
        columns_with={},
    ),
    "opo": _Estimator(
        parameters={
            "singleton": _Parameter(str, "raw"),
        },
        columns=(_SCORES,),
        columns_with={},
    ),
    "gpg": _Estimator(
        parameters={
            "singleton": _Parameter(str, "raw"),
        },
        columns=(_SCORES,),
        columns_with={},
    ),
    "grpo_passk": _Estimator(
        parameters={
            "normalize_by_std": _Parameter(bool, True),
            "epsilon": _Parameter(float, 1e-6),
        },
        columns=(_SCORES,),
        columns_with={},
    ),
    "rae": _Estimator(
        parameters={
            "decay": _Parameter(float, None),
            "start": _Parameter(float, 0),
        },
        columns=(_SCORES,),
        columns_with={},
    ),
    "gae": _Estimator(
        parameters={
            "discount": _Parameter(float, 1),
            "lambda": _Parameter(float, 1),
            "masked_tokens": _Parameter(str, "skip"),
            "recentre": _Parameter(bool, True),
            "normalize_by_std": _Parameter(bool, True),
            "deviation": _Parameter(str, "sample"),
            "epsilon": _Parameter(float, 1e-8),
            "epsilon_place": _Parameter(str, "variance-added"),
        },
        columns=(("tokens",),),
        columns_with={},
    ),
    "reinforce_plus_plus_token": _Estimator(
        parameters={
            "discount": _Parameter(float, 1),
            "masked_tokens": _Parameter(str, "skip"),
            "recentre": _Parameter(bool, True),
            "normalize_by_std": _Parameter(bool, True),
            "deviation": _Parameter(str, "sample"),
            "epsilon": _Parameter(float, 1e-8),
            "epsilon_place": _Parameter(str, "variance-added"),
        },
        columns=(("tokens",),),
        columns_with={},
    ),
    "remax": _Estimator(
        parameters={
            "masked_tokens": _Parameter(str, "skip"),
        },
        columns=(("reward_baseline",), ("tokens",)),
        columns_with={},
    ),
    "optimal_token_baseline": _Estimator(
        parameters={
            "align": _Parameter(str, "position"),
            "zero_tail": _Parameter(bool, True),
            "rollout_weights": _Parameter(bool, False),
            "epsilon": _Parameter(float, 1e-8),
        },
        columns=(("tokens",),),
        columns_with={},
    ),
}
# End of what is generated.
# The fields from which returns are computed or with which they are compared.
_OF_RETURNS = ("gamma", "invalid_action_penalty")
# What an estimator states beside its parameters.
_OF_BATCH = ("name", *_OF_RETURNS, "precision", "forms")

# Column → its name in a file, array type code.
_COLUMNS = {
    "step": ("step", "i"),
    "reward": ("reward", "d"),
    "action_valid": ("actionValid", "B"),
    "token_level_reward_sum": ("tokenLevelRewardSum", "d"),
    "reward_baseline": ("rewardBaseline", "d"),
    "response_length": ("responseLength", "i"),
    "step_reward": ("stepReward", "f"),
    "advantage": ("advantage", "f"),
}
_REPORTED = ("step_reward", "advantage")
# Column of the tokens → its name in a file, array type code, field of the message.
_TOKEN_COLUMNS = {
    "mask": ("mask", "B", "token_mask"),
    "reward": ("reward", "f", "token_reward"),
    "value": ("value", "f", "token_value"),
    "log_prob": ("logProb", "f", "token_log_prob"),
    "squared_probabilities": ("squaredProbabilities", "f", "token_squared_probabilities"),
    "rollout_weight": ("rolloutWeight", "f", "token_rollout_weight"),
    "advantage": ("reportedAdvantage", "f", "reported_token_advantage"),
}


def build_batch(
    *,
    estimator: Mapping[str, Any],
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable],
    observation: Sequence[Any] | None = None,
    next_observation: Sequence[Any] | None = None,
    action: Sequence[str] | None = None,
    rewards: Mapping[str, Sequence[float]] | None = None,
    reward_weights: Mapping[str, float] | None = None,
    provenance: Mapping[str, Any] | None = None,
    tokens: Mapping[str, Any] | None = None,
    name: str = "",
    texts: bool = False,
    incomplete: bool = False,
    **columns: Any,
) -> bytes:
    """A serialized `AdvantageBatch`.

    `columns` are step, reward, action_valid, token_level_reward_sum, reward_baseline, response_length, step_reward and
    advantage, as lists, arrays or tensors; omit a field that the trainer does not have (`step` too: give it only from what
    numbers the steps, never from the rows' order). `observation` holds the anchor observations, equal as in Python;
    with `texts` they are part of the batch, else only their digests. `next_observation` holds the observations after the
    steps, None for a step that reached the goal. `action` holds the actions as people read them; they
    are part of the batch with `texts`, else ignored. `rewards` holds the column of each reward function by its name, with
    NaN in rows that it did not score; `reward_weights` holds the functions' factors, 1 if omitted. `tokens` holds mask,
    reward, value, log_prob, squared_probabilities, rollout_weight and advantage of each token, each a list of rows or a
    tensor of two dimensions; padding has mask 0.
    `estimator` and `provenance` have the fields of the messages of these names. Raises ValueError or TypeError, naming the
    field; also where a column is missing that the estimator needs, unless `incomplete` says that the trainer does not have
    it: then the rows are unverifiable.
    """
    stated = _estimator(
        estimator, {**columns, "observation": observation, "next_observation": next_observation, "rewards": rewards, "tokens": tokens}, incomplete
    )
    groups, group_names = _named(group)
    trajectories, trajectory_names = _named(trajectory)
    arrays = {"group": groups, "trajectory": trajectories, **_arrays(columns)}
    observed, dictionary = _observations(observation, next_observation)
    arrays.update(observed)
    if "next_observation" in arrays:
        arrays["next_observation"] = array("i", (at + 1 for at in arrays["next_observation"]))
    action_texts = []
    if action is not None and texts:
        arrays["action"], action_texts = _distinct(action)
    functions = _rewards(rewards, reward_weights)
    _same_length({**arrays, **{f"rewards.{key}": values for key, (_weight, values) in functions.items()}})
    fields: dict[str, Any] = {
        "format": FORMAT if tokens is None else TOKEN_FORMAT,
        "name": name,
        "provenance": _message(_checked("provenance", provenance or {}, _PROVENANCE_FIELDS), _PROVENANCE_FIELDS),
        "estimator": _estimator_message(stated),
        "rows": len(groups),
        "group_names": group_names,
        "trajectory_names": trajectory_names,
        "observation_digests": b"".join(digest(text) for text in dictionary),
        "observation_texts": dictionary if texts else [],
        "action_texts": action_texts,
        "rewards": [_reward_message(key, *function) for key, function in functions.items()],
    }
    for column, values in arrays.items():
        fields[f"reported_{column}" if column in _REPORTED else column] = _little_endian(values)
    if tokens is not None:
        offset, of_tokens = _token_arrays(tokens, len(groups))
        fields["token_offset"] = _little_endian(offset)
        for column, values in of_tokens.items():
            fields[_TOKEN_COLUMNS[column][2]] = _little_endian(values)
    return _message(fields, _BATCH_FIELDS)


def write_batch_file(path: str | os.PathLike[str], batches: Iterable[Mapping[str, Any]], source: str = "") -> None:
    """Writes an `echelon-batch/1` file (`/2` with tokens), in gzip where the name ends in .gz; `batches` are arguments of build_batch.

    Without `texts`, an observation stands in the file as the hexadecimal digits of its digest.
    """
    listed = [_json_batch(**batch) for batch in batches]
    version = TOKEN_FORMAT if any("tokens" in batch for batch in listed) else FORMAT
    content = {"format": version, "source": source, "batches": listed}
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    data = text.encode("utf-8", "surrogatepass")
    with open(path, "wb") as file:
        file.write(gzip.compress(data, 9, mtime=0) if str(path).endswith(".gz") else data)


def read_batch_file(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The batches of an `echelon-batch/1` or `/2` file as arguments of build_batch."""
    with open(path, "rb") as file:
        data = file.read()
    content = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    if not isinstance(content, dict) or content.get("format") not in (FORMAT, TOKEN_FORMAT):
        raise ValueError(f"{path} is not a file of the format {FORMAT} or {TOKEN_FORMAT}")
    return [_arguments(batch) for batch in content["batches"]]


def canonical_text(observation: Any) -> str:
    """Texts are equal where observations are: numbers by value (1, 1.0 and True are one), lists, tuples and flattened
    arrays by their elements, a mapping as the list of its sorted pairs. It is JSON without spaces.
    """
    value = observation
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", quoted)
    if value is None:
        return "null"
    if isinstance(value, (bool, int, float)):
        return _number_text(value)
    if isinstance(value, Mapping):
        pairs = sorted(value.items())
        return f"[{','.join(f'[{canonical_text(key)},{canonical_text(item)}]' for key, item in pairs)}]"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(canonical_text(item) for item in value)}]"
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # an array, a tensor or a scalar of one
        return canonical_text(value.flatten().tolist() if getattr(value, "shape", ()) else value.item())
    raise TypeError(f"an observation of type {type(value).__name__} has no equality to group by")


def without_padding(tokens: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of tokens, arrays of one row a response, each row up to the last token that can change a sum: a later one has no
    reward, no value and is not trained."""
    inputs = [values != 0 for column, values in tokens.items() if column in ("mask", "reward", "value")]
    counts = reduce(operator.or_, inputs)
    places = counts * range(1, counts.shape[1] + 1)
    lengths = places.max(axis=1).tolist()
    return {column: [row[:length] for row, length in zip(values, lengths)] for column, values in tokens.items()}


def row_advantages(advantages: Any, mask: Any) -> dict[str, Any]:
    """The columns of an estimator with one advantage a row, from tensors of one row a response: the advantage of the first trained
    token and, only if the trained tokens of a row differ, the tokens of these rows; the others have none."""
    trained = mask.bool()
    first = advantages.gather(-1, trained.long().argmax(-1, keepdim=True))
    differs = trained & (advantages != first) & ~(advantages.isnan() & first.isnan())
    columns = {"advantage": first.squeeze(-1).float()}
    if differs.any():
        columns["tokens"] = {"mask": trained & differs.any(-1, keepdim=True), "advantage": advantages.float()}
    return columns


def uses_returns(name: str) -> bool:
    """True if the estimator of this name starts from step returns."""
    return name in _ESTIMATORS and _RETURNS in _ESTIMATORS[name].columns


def digest(canonical: str) -> bytes:
    """The 16 bytes that stand for an observation on the wire."""
    return hashlib.sha256(canonical.encode("utf-8")).digest()[:16]


def _number_text(value: bool | int | float) -> str:
    """As JavaScript writes the number, so that both sides have one text for one value."""
    if not isinstance(value, float):
        try:
            if float(value) != value:
                return str(value)
        except OverflowError:
            return str(value)
        value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        text = format(Decimal(repr(abs(value))), "f").removesuffix(".0")
        return f"-{text}" if value < 0 else text
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}e{int(exponent):+d}"


def _listed(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _arrays(columns: Mapping[str, Any]) -> dict[str, array]:
    _checked("column", columns, _COLUMNS)
    given = {column: values for column, values in columns.items() if values is not None}
    return {column: _array(column, _COLUMNS[column][1], _listed(values)) for column, values in given.items()}


def _array(column: str, code: str, values: list[Any]) -> array:
    try:
        return array(code, [bool(value) for value in values] if code == "B" else values)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{column}: {error}") from None


def _token_arrays(tokens: Mapping[str, Any], rows: int) -> tuple[array, dict[str, array]]:
    """Where the tokens of each row start, and the columns of the tokens, one row after the other."""
    _checked("tokens", tokens, _TOKEN_COLUMNS)
    nested = {column: [_listed(row) for row in _listed(values)] for column, values in tokens.items() if values is not None}
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
    return offset, {column: _array(f"tokens.{column}", _TOKEN_COLUMNS[column][1], values) for column, values in flat.items()}


def _rewards(
    rewards: Mapping[str, Sequence[float]] | None, weights: Mapping[str, float] | None
) -> dict[str, tuple[float, array]]:
    """The weight and the column of each reward function."""
    named = {str(key): values for key, values in (rewards or {}).items()}
    _checked("reward_weights", weights or {}, named)
    functions = {}
    for key, values in named.items():
        try:
            functions[key] = (float((weights or {}).get(key, 1)), array("d", _listed(values)))
        except (TypeError, OverflowError) as error:
            raise type(error)(f"rewards.{key}: {error}") from None
    return functions


def _same_length(arrays: Mapping[str, array]) -> None:
    rows = len(arrays["group"])
    for column, values in arrays.items():
        if len(values) != rows:
            raise ValueError(f"{column} has {len(values)} entries, group has {rows}: every column has one a row")


def _named(ids: Sequence[Hashable]) -> tuple[array, list[str]]:
    """Indices into the distinct ids, and these as texts."""
    if isinstance(ids, range):
        # All are distinct, as the trajectories of rows that are one each.
        return array("i", range(len(ids))), [str(one) for one in ids]
    listed = _listed(ids)
    known = {one: at for at, one in enumerate(dict.fromkeys(listed))}
    index = array("i", map(known.__getitem__, listed))
    names = [str(one) for one in known]
    return index, names if len(set(names)) == len(names) else [repr(one) for one in known]


def _distinct(texts: Sequence[str]) -> tuple[array, list[str]]:
    """Indices into the distinct texts, and these."""
    known: dict[str, int] = {}
    index = array("i", (known.setdefault(str(one), len(known)) for one in texts))
    return index, list(known)


def _dictionary(observations: Sequence[Any]) -> tuple[array, list[str]]:
    """Indices into the distinct observations, and their canonical texts. One that holds a NaN is equal to none."""
    known: dict[str, int] = {}
    index = array("i")
    for row, observation in enumerate(observations):
        text = canonical_text(observation)
        if "NaN" in text and not isinstance(observation, str):
            text = f"{text}#{row}"
        index.append(known.setdefault(text, len(known)))
    return index, list(known)


_GOAL = -1


def _observations(
    observation: Sequence[Any] | None, following: Sequence[Any] | None
) -> tuple[dict[str, array], list[str]]:
    """The columns of observations and of those after the steps, as indices into one dictionary, and its texts."""
    if observation is None:
        return {}, []
    listed = list(observation)
    after = [] if following is None else list(following)
    index, dictionary = _dictionary([*listed, *(one for one in after if one is not None)])
    columns = {"observation": index[: len(listed)]}
    if following is not None:
        known = iter(index[len(listed) :])
        columns["next_observation"] = array("i", (_GOAL if one is None else next(known) for one in after))
    return columns, dictionary


def _checked(kind: str, given: Mapping[str, Any], known: Iterable[str]) -> Mapping[str, Any]:
    for key in given:
        if key not in known:
            near = get_close_matches(key, known, 1)
            raise ValueError(f"{kind} has no {key!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    return given


def _estimator(estimator: Mapping[str, Any], columns: Mapping[str, Any], incomplete: bool) -> dict[str, Any]:
    """The estimator with all its parameters, once everything that its advantages are computed from is there."""
    stated = dict(_checked("estimator", estimator, _stateable()))
    name = stated.get("name")
    if name not in _ESTIMATORS:
        raise ValueError(f"estimator.name is {name!r}, not one of {', '.join(_ESTIMATORS)}")
    own = _ESTIMATORS[name]
    needs = _OF_RETURNS if _RETURNS in own.columns and columns.get("reward") is not None else ()
    for key in (*(key for key, rule in own.parameters.items() if rule.default is None), *needs):
        if key not in stated:
            raise ValueError(f"estimator.{key} is missing: {name} needs it")
    for key, rule in own.parameters.items():
        stated.setdefault(key, stated.get(rule.same_as, rule.default))
    given = {column for column, values in columns.items() if values is not None}
    wanted = (*own.columns, *(more for flag, more in own.columns_with.items() if stated[flag]))
    for either in wanted:
        if not incomplete and given.isdisjoint(either):
            raise ValueError(
                f"the column {' or '.join(either)} is missing: {name} needs it; where the trainer does not have it, "
                "pass incomplete=True, and the rows are unverifiable"
            )
    return stated


def _stateable() -> list[str]:
    """What an estimator may state: its own parameters, those of the others, and what holds for the whole batch."""
    rules = [pair for one in _ESTIMATORS.values() for pair in one.parameters.items()]
    names = [name for key, rule in rules for name in (key, rule.same_as) if name is not None]
    return list(dict.fromkeys((*_OF_BATCH, *names)))


def _estimator_message(stated: Mapping[str, Any]) -> bytes:
    """Every parameter by its name."""
    own = _ESTIMATORS[stated["name"]].parameters
    parameters = [_parameter_message(key, value, own) for key, value in stated.items() if key not in _OF_BATCH]
    return _message({**stated, "parameters": parameters}, _ESTIMATOR_FIELDS)


def _parameter_message(key: str, given: Any, own: Mapping[str, _Parameter]) -> bytes:
    """One of `number`, `flag` and `text` is there, zero or not."""
    value = (own[key].kind if key in own else type(given) if isinstance(given, (bool, str)) else float)(given)
    name = _message({"name": _camel(key)}, {"name": 1})
    if isinstance(value, bool):
        return name + _varint(3 << 3) + _varint(int(value))
    if isinstance(value, float):
        return name + _varint(2 << 3 | 1) + struct.pack("<d", value)
    data = value.encode("utf-8", "replace")
    return name + _varint(4 << 3 | 2) + _varint(len(data)) + data


def _reward_message(name: str, weight: float, values: array) -> bytes:
    """The weight is there, zero or not."""
    fields = {"name": name, "value": _little_endian(values)}
    return _varint(2 << 3 | 1) + struct.pack("<d", weight) + _message(fields, _REWARD_FIELDS)


def _varint(value: int) -> bytes:
    if 0 <= value <= 0x7F:
        return _ONE_BYTE[value]
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*encoded, value))


def _message(fields: Mapping[str, Any], numbers: Mapping[str, int]) -> bytes:
    """Protobuf's encoding of the fields, in the order of their numbers; zeros and empty texts are omitted."""
    parts = []
    for name, number in numbers.items():
        value = fields.get(name)
        if name in _DOUBLES:
            if value:
                parts.append(_varint(number << 3 | 1) + struct.pack("<d", value))
        elif isinstance(value, (bool, int)):
            if value < 0:
                raise ValueError(f"{name} is negative")
            if value:
                parts.append(_varint(number << 3) + _varint(int(value)))
        elif value:
            items = value if isinstance(value, list) else [value]
            parts.append(_fields(number, [one if isinstance(one, bytes) else str(one).encode("utf-8", "replace") for one in items]))
    return b"".join(parts)


def _fields(number: int, items: list[bytes]) -> bytes:
    """A repeated field. A batch has many short names, so the common case calls no function for each."""
    tag = _varint(number << 3 | 2)
    short = _ONE_BYTE
    return b"".join([tag + (short[len(item)] if len(item) <= 0x7F else _varint(len(item))) + item for item in items])


def _little_endian(values: array) -> bytes:
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda match: match[1].upper(), name)


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", name)


def _short(value: float) -> float | None:
    """The float of fewest digits that is the same float32, so that files stay small; None for what JSON has not."""
    if not math.isfinite(value):
        return None
    for digits in range(1, 9):
        candidate = float(f"{value:.{digits}g}")
        if struct.pack("<f", candidate) == struct.pack("<f", value):
            return candidate
    return value


def _finite(values: Iterable[float]) -> list[float | None]:
    """None for what JSON has not."""
    return [value if math.isfinite(value) else None for value in values]


def _json_batch(
    *, estimator, group, trajectory, observation=None, next_observation=None, action=None, rewards=None, reward_weights=None,
    provenance=None, tokens=None, name="", texts=False, incomplete=False, **columns,
) -> dict[str, Any]:
    stated = _estimator(
        estimator, {**columns, "observation": observation, "next_observation": next_observation, "rewards": rewards, "tokens": tokens}, incomplete
    )
    params = {_camel(key): value for key, value in stated.items()}
    params["estimator"] = params.pop("name")
    batch: dict[str, Any] = {"name": name, "params": params}
    if provenance:
        stated = _checked("provenance", provenance, _PROVENANCE_FIELDS)
        batch["provenance"] = {_camel(key): value for key, value in stated.items()}
    arrays = _arrays(columns)
    for key, ids in (("group", group), ("trajectory", trajectory)):
        index, names = _named(ids)
        arrays[key] = index
        batch[key] = [names[one] for one in index]
    observed, dictionary = _observations(observation, next_observation)
    arrays.update(observed)
    if observation is not None:
        batch["observationIndex"] = arrays["observation"].tolist()
        if "next_observation" in arrays:
            batch["nextObservationIndex"] = [None if at == _GOAL else at for at in arrays["next_observation"]]
        batch["observations"] = [json.loads(text) if texts else digest(text).hex() for text in dictionary]
    if action is not None and texts:
        arrays["action"], batch["actions"] = _distinct(action)
        batch["actionIndex"] = arrays["action"].tolist()
    functions = _rewards(rewards, reward_weights)
    _same_length({**arrays, **{f"rewards.{key}": values for key, (_weight, values) in functions.items()}})
    if functions:
        batch["rewards"] = {key: _finite(values) for key, (_weight, values) in functions.items()}
        batch["rewardWeights"] = {key: weight for key, (weight, _values) in functions.items()}
    for column, (key, _code) in _COLUMNS.items():
        if column in arrays:
            into = batch.setdefault("reported", {}) if column in _REPORTED else batch
            into[key] = _json_column(arrays[column], params)
    if tokens is not None:
        offset, of_tokens = _token_arrays(tokens, len(arrays["group"]))
        own = {_TOKEN_COLUMNS[column][0]: _json_column(values, params) for column, values in of_tokens.items()}
        batch["tokens"] = {"offset": offset.tolist(), **own}
    return batch


def _json_column(column: array, params: Mapping[str, Any]) -> list[Any]:
    if column.typecode == "B":
        return [bool(value) for value in column]
    # The true value is known to float64, so omitted digits would look like an error.
    if column.typecode == "f" and params.get("precision") != "float64":
        return [_short(value) for value in column]
    if column.typecode in "fd":
        return _finite(column)
    return column.tolist()


def _arguments(batch: Mapping[str, Any]) -> dict[str, Any]:
    """What build_batch takes, from a batch of a file."""
    params = {_snake(key): value for key, value in batch["params"].items()}
    params["name"] = params.pop("estimator", "hgpo")
    provenance = {_snake(key): value for key, value in batch.get("provenance", {}).items()}
    if "group_size" in params:
        provenance.setdefault("group_size", params.pop("group_size"))
    arguments = {"estimator": params, "name": batch.get("name", ""), "provenance": provenance}
    arguments.update(group=batch["group"], trajectory=batch["trajectory"], observation=batch.get("observation"))
    if "observationIndex" in batch:
        arguments["observation"] = [batch["observations"][index] for index in batch["observationIndex"]]
    following = batch.get("nextObservationIndex")
    if following is not None:
        known = batch["observations"]
        arguments["next_observation"] = [None if index is None else known[index] for index in following]
    elif "nextObservation" in batch:
        arguments["next_observation"] = batch["nextObservation"]
    if "actionIndex" in batch:
        arguments["action"] = [batch["actions"][index] for index in batch["actionIndex"]]
    for column, (key, code) in _COLUMNS.items():
        values = (batch.get("reported", {}) if column in _REPORTED else batch).get(key)
        if values is not None:
            arguments[column] = _numbers(values)
    if "rewards" in batch:
        arguments["rewards"] = {key: _numbers(values) for key, values in batch["rewards"].items()}
        arguments["reward_weights"] = batch.get("rewardWeights", {})
    if "tokens" in batch:
        arguments["tokens"] = _token_rows(batch["tokens"])
    return arguments


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _token_rows(tokens: Mapping[str, Any]) -> dict[str, list[list[Any]]]:
    spans = list(zip(tokens["offset"], tokens["offset"][1:]))
    known = {column: tokens.get(key) for column, (key, *_rest) in _TOKEN_COLUMNS.items()}
    return {
        column: [_numbers(values[start:end]) for start, end in spans] for column, values in known.items() if values is not None
    }
