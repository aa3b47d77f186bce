"""Optimizer steps of the format `echelon-batch/3` as protobuf (proto/echelon/batch/v1/step.proto), from and to the form of the file.

    wire = build_step_batch({"name": "update 40", "step": {...}, "tokens": {"offset": [0, 3], "logProb": [...]}})
    batch = read_step_batch(wire)

A batch is a dictionary with the keys of docs/reference/batch-format.md. Columns are sequences or one-dimensional numpy arrays;
those that are read are arrays of the standard library, floats as the float32 numbers of the wire. Writing needs the standard
library and batch.py only, so that it works in any trainer's process; reading needs protobuf.
"""

from __future__ import annotations

import json
import math
import sys
from array import array
from typing import Any, Iterable, Mapping, Sequence

from .batch import _little_endian, _message, _snake

FORMAT = "echelon-batch/3"
_FLOATS = (
    "logProb", "oldLogProb", "rolloutLogProb", "referenceLogProb", "reportedAdvantage", "reportedRatio",
    "rolloutWeight", "entropy", "reportedKl", "reportedLoss", "lossGradient",
)  # fmt: skip
_INTEGERS = ("id", "sampledId", "position")
_FLAGS = ("mask", "sampled", "kept")
_NAMES = ("group", "trajectory")
_ROW_INTEGERS = ("microBatch", "policyVersionStart", "policyVersionEnd")
_FIELDS = {
    "format": 1, "name": 2, "step": 4, "rows": 5, "group": 6, "group_names": 7, "trajectory": 8, "trajectory_names": 9,
    "micro_batch": 10, "policy_version_start": 11, "policy_version_end": 12, "reported_advantage": 19, "reported_denominator": 22, "text_id": 20, "id_texts": 21,
    "token_offset": 40,
    "token_mask": 41, "token_reported_advantage": 44, "token_sampled": 45, "token_kept": 46, "token_id": 47,
    "token_sampled_id": 48, "token_position": 49, "token_log_prob": 50, "token_old_log_prob": 51,
    "token_rollout_log_prob": 52, "token_reference_log_prob": 53, "token_reported_ratio": 54, "token_rollout_weight": 55,
    "token_entropy": 56, "token_reported_kl": 57, "token_reported_loss": 58, "token_loss_gradient": 59,
    "token_reported_clipped": 60, "token_policy_version": 61, "token_policy_version_runs": 62,
}  # fmt: skip


def build_step_batch(batch: Mapping[str, Any]) -> bytes:
    """The bytes of a batch. ValueError for a token column that the format does not have or of another length."""
    tokens = batch["tokens"]
    offset = tokens["offset"]
    fields: dict[str, Any] = {
        "format": FORMAT,
        "name": batch.get("name", ""),
        "step": json.dumps(_finite(batch.get("step", {})), separators=(",", ":"), allow_nan=False),
        "rows": len(offset) - 1,
        "token_offset": _integers(offset),
    }
    for key in _NAMES:
        if batch.get(key) is not None:
            index = {name: at for at, name in enumerate(dict.fromkeys(map(str, batch[key])))}
            fields[key] = _integers(index[str(name)] for name in batch[key])
            fields[f"{key}_names"] = list(index)
    for key in _ROW_INTEGERS:
        if batch.get(key) is not None:
            fields[_snake(key)] = _integers(batch[key])
    for key, column in (batch.get("reported") or {}).items():
        if column is not None:
            fields[f"reported_{key}"] = _floats(column)
    texts = batch.get("idTexts")
    if texts:
        fields["text_id"] = _integers(texts)
        fields["id_texts"] = list(texts.values())
    for key, column in tokens.items():
        if key != "offset" and column is not None:
            fields.update(_token_fields(key, column, int(offset[-1])))
    return _message(fields, _FIELDS)


def read_step_batch(wire: bytes) -> dict[str, Any]:
    """The batch of bytes. ValueError if they are no step."""
    from .gen import step_pb2

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
    reported = {key: _from("f", getattr(message, f"reported_{key}")) for key in ("advantage", "denominator")}
    if any(reported.values()):
        batch["reported"] = {key: column for key, column in reported.items() if column}
    if message.id_texts:
        batch["idTexts"] = dict(zip(map(str, _from("i", message.text_id)), message.id_texts))
    columns = {key: _column(message, key, count) for key in (*_FLAGS, *_FLOATS, *_INTEGERS)}
    columns["reportedClipped"] = array("B", message.token_reported_clipped) or None
    columns["policyVersion"] = _unrolled(message)
    batch["tokens"] = {"offset": offset, **{key: column for key, column in columns.items() if column is not None}}
    return batch


def _token_fields(key: str, column: Sequence[Any], count: int) -> dict[str, bytes]:
    if len(column) != count:
        raise ValueError(f"tokens.{key} has {len(column)} entries, expected {count}")
    field = f"token_{_snake(key)}"
    if key in _FLAGS:
        return {field: _packed(column)}
    if key in _FLOATS:
        return {field: _floats(column)}
    if key in _INTEGERS:
        return {field: _integers(column)}
    if key == "reportedClipped":
        return {field: bytes(bytearray(column))}
    if key == "policyVersion":
        values, lengths = _runs(column)
        return {field: _integers(values), f"{field}_runs": _integers(lengths)}
    raise ValueError(f"tokens.{key} is no column of {FORMAT}")


def _column(message: Any, key: str, count: int) -> array | None:
    data = getattr(message, f"token_{_snake(key)}")
    if not data:
        return None
    if key in _FLAGS:
        return array("B", ((data[at >> 3] >> (at & 7)) & 1 for at in range(count)))
    return _from("f" if key in _FLOATS else "i", data)


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinities: they are texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    # Not Mapping: comparing with it takes longer than all else here.
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, (list, tuple)) else value


def _packed(flags: Sequence[Any]) -> bytes:
    """Eight flags to a byte, the first one lowest."""
    if hasattr(flags, "astype"):
        import numpy

        return numpy.packbits(flags.astype(bool), bitorder="little").tobytes()
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


def _floats(values: Iterable[Any]) -> bytes:
    if hasattr(values, "astype"):
        return values.astype("<f4").tobytes()
    return _little_endian(array("f", (float("nan") if value is None else float(value) for value in values)))


def _integers(values: Iterable[Any]) -> bytes:
    if hasattr(values, "astype"):
        return values.astype("<i4").tobytes()
    return _little_endian(array("i", (int(value) for value in values)))


def _from(typecode: str, data: bytes) -> array:
    column = array(typecode)
    column.frombytes(data)
    if sys.byteorder == "big":
        column.byteswap()
    return column
