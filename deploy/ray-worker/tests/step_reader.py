"""Reads an optimizer step of the wire back into the form that `build_step_batch` takes."""

from __future__ import annotations

import json
import sys
from array import array
from typing import Any

from echelon_capture.format.names import snake
from echelon_capture.format.step_batch import FLAGS, FLOATS, FORMAT, INTEGERS, NAMES, ROW_INTEGERS
from echelon_rayworker.gen import step_pb2


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
    for key in NAMES:
        names = list(getattr(message, f"{key}_names"))
        if getattr(message, key):
            batch[key] = [names[at] for at in _from("i", getattr(message, key))]
    for key in ROW_INTEGERS:
        if getattr(message, snake(key)):
            batch[key] = _from("i", getattr(message, snake(key)))
    reported = {key: _from("f", getattr(message, f"reported_{key}")) for key in ("advantage", "denominator")}
    if any(reported.values()):
        batch["reported"] = {key: column for key, column in reported.items() if column}
    if message.id_texts:
        batch["idTexts"] = dict(zip(map(str, _from("i", message.text_id)), message.id_texts))
    columns = {key: _column(message, key, count) for key in (*FLAGS, *FLOATS, *INTEGERS)}
    columns["reportedClipped"] = array("B", message.token_reported_clipped) or None
    columns["policyVersion"] = _unrolled(message)
    batch["tokens"] = {"offset": offset, **{key: column for key, column in columns.items() if column is not None}}
    return batch


def _column(message: Any, key: str, count: int) -> array | None:
    data = getattr(message, f"token_{snake(key)}")
    if not data:
        return None
    if key in FLAGS:
        return array("B", ((data[at >> 3] >> (at & 7)) & 1 for at in range(count)))
    return _from("f" if key in FLOATS else "i", data)


def _unrolled(message: Any) -> array | None:
    lengths = _from("i", message.token_policy_version_runs)
    values = _from("i", message.token_policy_version)
    if not lengths:
        return None
    return array("i", (value for value, length in zip(values, lengths) for _ in range(length)))


def _from(typecode: str, data: bytes) -> array:
    column = array(typecode)
    column.frombytes(data)
    if sys.byteorder == "big":
        column.byteswap()
    return column
