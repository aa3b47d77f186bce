"""The JSON form of batches: files of the formats `echelon-batch/1` and `/2`."""

from __future__ import annotations

import gzip
import json
import math
import os
import struct
from array import array
from typing import Any, Iterable, Mapping

from .batch import FORMAT, PROVENANCE_FIELDS, TOKEN_FORMAT
from .columns import COLUMNS, REPORTED, TOKEN_COLUMNS, check_lengths, checked, column_arrays, distinct, named, reward_columns, token_arrays
from .estimators import complete_estimator
from .names import camel, snake
from .observations import GOAL, digest, observation_columns


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
    stated = complete_estimator(
        estimator, {**columns, "observation": observation, "next_observation": next_observation, "rewards": rewards, "tokens": tokens}, incomplete
    )
    params = {camel(key): value for key, value in stated.items()}
    params["estimator"] = params.pop("name")
    batch: dict[str, Any] = {"name": name, "params": params}
    if provenance:
        stated = checked("provenance", provenance, PROVENANCE_FIELDS)
        batch["provenance"] = {camel(key): value for key, value in stated.items()}
    arrays = column_arrays(columns)
    for key, ids in (("group", group), ("trajectory", trajectory)):
        index, names = named(ids)
        arrays[key] = index
        batch[key] = [names[one] for one in index]
    observed, dictionary = observation_columns(observation, next_observation)
    arrays.update(observed)
    if observation is not None:
        batch["observationIndex"] = arrays["observation"].tolist()
        if "next_observation" in arrays:
            batch["nextObservationIndex"] = [None if at == GOAL else at for at in arrays["next_observation"]]
        batch["observations"] = [json.loads(text) if texts else digest(text).hex() for text in dictionary]
    if action is not None and texts:
        arrays["action"], batch["actions"] = distinct(action)
        batch["actionIndex"] = arrays["action"].tolist()
    functions = reward_columns(rewards, reward_weights)
    check_lengths({**arrays, **{f"rewards.{key}": values for key, (_weight, values) in functions.items()}})
    if functions:
        batch["rewards"] = {key: _finite(values) for key, (_weight, values) in functions.items()}
        batch["rewardWeights"] = {key: weight for key, (weight, _values) in functions.items()}
    for column, (key, _code) in COLUMNS.items():
        if column in arrays:
            into = batch.setdefault("reported", {}) if column in REPORTED else batch
            into[key] = _json_column(arrays[column], params)
    if tokens is not None:
        offset, of_tokens = token_arrays(tokens, len(arrays["group"]))
        own = {TOKEN_COLUMNS[column][0]: _json_column(values, params) for column, values in of_tokens.items()}
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
    params = {snake(key): value for key, value in batch["params"].items()}
    params["name"] = params.pop("estimator", "hgpo")
    provenance = {snake(key): value for key, value in batch.get("provenance", {}).items()}
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
    for column, (key, code) in COLUMNS.items():
        values = (batch.get("reported", {}) if column in REPORTED else batch).get(key)
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
    known = {column: tokens.get(key) for column, (key, *_rest) in TOKEN_COLUMNS.items()}
    return {
        column: [_numbers(values[start:end]) for start, end in spans] for column, values in known.items() if values is not None
    }
