"""Optimizer steps of the format `echelon-batch/3` as protobuf (proto/echelon/batch/v1/step.proto), from and to the form of the file.

    wire = build_step_batch({"name": "update 40", "step": {...}, "tokens": {"offset": [0, 3], "logProb": [...]}})
    batch = read_step_batch(wire)

A batch is a dictionary with the keys of docs/reference/batch-format.md. Columns that are read are arrays of the standard library,
floats as the float32 numbers of the wire.
"""

from __future__ import annotations

import json
import sys
from array import array
from typing import Any, Iterable, Mapping, Sequence

from .gen import step_pb2

FORMAT = "echelon-batch/3"
_FLOATS = (
    "logProb", "oldLogProb", "rolloutLogProb", "referenceLogProb", "reportedAdvantage", "reportedRatio",
    "rolloutWeight", "entropy", "reportedKl", "reportedLoss", "lossGradient",
)  # fmt: skip
_INTEGERS = ("id", "sampledId", "position")
_FLAGS = ("mask", "sampled", "kept")
_NAMES = ("group", "trajectory")
_ROW_INTEGERS = ("microBatch", "policyVersionStart", "policyVersionEnd")


def build_step_batch(batch: Mapping[str, Any]) -> bytes:
    """The bytes of a batch. ValueError for a token column that the format does not have or of another length."""
    tokens = batch["tokens"]
    offset = _integers(tokens["offset"])
    count = offset[-1]
    message = step_pb2.StepBatch(format=FORMAT, name=batch.get("name", ""), rows=len(offset) - 1)
    message.step = json.dumps(batch.get("step", {}), separators=(",", ":"))
    message.token_offset = _bytes(offset)
    for key in _NAMES:
        if batch.get(key) is not None:
            names = list(dict.fromkeys(str(name) for name in batch[key]))
            index = {name: at for at, name in enumerate(names)}
            setattr(message, key, _bytes(_integers(index[str(name)] for name in batch[key])))
            getattr(message, f"{key}_names").extend(names)
    for key in _ROW_INTEGERS:
        if batch.get(key) is not None:
            setattr(message, _snake(key), _bytes(_integers(batch[key])))
    advantage = (batch.get("reported") or {}).get("advantage")
    if advantage is not None:
        message.reported_advantage = _bytes(_floats(advantage))
    for key, column in tokens.items():
        if key != "offset" and column is not None:
            _set_column(message, key, column, count)
    return message.SerializeToString(deterministic=True)


def read_step_batch(wire: bytes) -> dict[str, Any]:
    """The batch of bytes. ValueError if they are no step."""
    try:
        message = step_pb2.StepBatch.FromString(wire)
    except Exception as error:
        raise ValueError(f"not a protobuf StepBatch: {error}") from error
    if message.format != FORMAT:
        raise ValueError(f"expected the format {FORMAT}, found {message.format!r}")
    offset = _from("i", message.token_offset)
    count = offset[-1]
    batch: dict[str, Any] = {"name": message.name, "step": json.loads(message.step or "{}")}
    for key in _NAMES:
        names = list(getattr(message, f"{key}_names"))
        if getattr(message, key):
            batch[key] = [names[at] for at in _from("i", getattr(message, key))]
    for key in _ROW_INTEGERS:
        if getattr(message, _snake(key)):
            batch[key] = _from("i", getattr(message, _snake(key)))
    if message.reported_advantage:
        batch["reported"] = {"advantage": _from("f", message.reported_advantage)}
    columns = {key: _column(message, key, count) for key in (*_FLAGS, *_FLOATS, *_INTEGERS)}
    columns["reportedClipped"] = array("B", message.token_reported_clipped) or None
    columns["policyVersion"] = _unrolled(message)
    batch["tokens"] = {"offset": offset, **{key: column for key, column in columns.items() if column is not None}}
    return batch


def _set_column(message: Any, key: str, column: Sequence[Any], count: int) -> None:
    if len(column) != count:
        raise ValueError(f"tokens.{key} has {len(column)} entries, expected {count}")
    field = f"token_{_snake(key)}"
    if key in _FLAGS:
        setattr(message, field, _packed(column))
    elif key in _FLOATS:
        setattr(message, field, _bytes(_floats(column)))
    elif key in _INTEGERS:
        setattr(message, field, _bytes(_integers(column)))
    elif key == "reportedClipped":
        message.token_reported_clipped = bytes(column)
    elif key == "policyVersion":
        values, lengths = _runs(column)
        message.token_policy_version = _bytes(_integers(values))
        message.token_policy_version_runs = _bytes(_integers(lengths))
    else:
        raise ValueError(f"tokens.{key} is no column of {FORMAT}")


def _column(message: Any, key: str, count: int) -> array | None:
    data = getattr(message, f"token_{_snake(key)}")
    if not data:
        return None
    if key in _FLAGS:
        return array("B", ((data[at >> 3] >> (at & 7)) & 1 for at in range(count)))
    return _from("f" if key in _FLOATS else "i", data)


def _packed(flags: Sequence[Any]) -> bytes:
    """Eight flags to a byte, the first one lowest."""
    packed = bytearray((len(flags) + 7) // 8)
    for at, flag in enumerate(flags):
        if flag:
            packed[at >> 3] |= 1 << (at & 7)
    return bytes(packed)


def _runs(column: Iterable[int]) -> tuple[list[int], list[int]]:
    values: list[int] = []
    lengths: list[int] = []
    for value in column:
        if values and values[-1] == value:
            lengths[-1] += 1
        else:
            values.append(int(value))
            lengths.append(1)
    return values, lengths


def _unrolled(message: Any) -> array | None:
    lengths = _from("i", message.token_policy_version_runs)
    values = _from("i", message.token_policy_version)
    if not lengths:
        return None
    return array("i", (value for value, length in zip(values, lengths) for _ in range(length)))


def _floats(values: Iterable[Any]) -> array:
    return array("f", (float("nan") if value is None else float(value) for value in values))


def _integers(values: Iterable[Any]) -> array:
    return array("i", (int(value) for value in values))


def _bytes(column: array) -> bytes:
    """Little-endian, whatever the machine is."""
    if sys.byteorder == "big":
        column = array(column.typecode, column)
        column.byteswap()
    return column.tobytes()


def _from(typecode: str, data: bytes) -> array:
    column = array(typecode)
    column.frombytes(data)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
