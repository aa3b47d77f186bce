"""Optimizer steps of the format `echelon-batch/3` as protobuf (proto/echelon/batch/v1/step.proto), from the form of the file.

    wire = build_step_batch({"name": "update 40", "step": {...}, "tokens": {"offset": [0, 3], "logProb": [...]}})

A batch is a dictionary with the keys of docs/reference/batch-format.md. Columns are sequences or one-dimensional numpy arrays.
"""

from __future__ import annotations

import functools
import json
import math
from array import array
from typing import Any, Iterable, Mapping, Sequence

from .message import encode_message, little_endian
from .names import snake

FORMAT = "echelon-batch/3"
FLOATS = (
    "logProb", "oldLogProb", "rolloutLogProb", "referenceLogProb", "reportedAdvantage", "reportedRatio",
    "rolloutWeight", "entropy", "reportedKl", "reportedLoss", "lossGradient",
)  # fmt: skip
INTEGERS = ("id", "sampledId", "position")
FLAGS = ("mask", "sampled", "kept")
NAMES = ("group", "trajectory")
ROW_INTEGERS = ("microBatch", "policyVersionStart", "policyVersionEnd")
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
        "step": _json(batch.get("step", {})),
        "rows": len(offset) - 1,
        "token_offset": _integers(offset),
    }
    for key in NAMES:
        if batch.get(key) is not None:
            index = {name: at for at, name in enumerate(dict.fromkeys(map(str, batch[key])))}
            fields[key] = _integers(index[str(name)] for name in batch[key])
            fields[f"{key}_names"] = list(index)
    for key in ROW_INTEGERS:
        if batch.get(key) is not None:
            fields[snake(key)] = _integers(batch[key])
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
    return encode_message(fields, _FIELDS)


def _token_fields(key: str, column: Sequence[Any], count: int) -> dict[str, bytes]:
    if len(column) != count:
        raise ValueError(f"tokens.{key} has {len(column)} entries, expected {count}")
    field = f"token_{snake(key)}"
    if key in FLAGS:
        return {field: _packed(column)}
    if key in FLOATS:
        return {field: _floats(column)}
    if key in INTEGERS:
        return {field: _integers(column)}
    if key == "reportedClipped":
        return {field: bytes(bytearray(column))}
    if key == "policyVersion":
        values, lengths = _runs(column)
        return {field: _integers(values), f"{field}_runs": _integers(lengths)}
    raise ValueError(f"tokens.{key} is no column of {FORMAT}")


def _json(step: Mapping[str, Any]) -> str:
    dumps = functools.partial(json.dumps, separators=(",", ":"), allow_nan=False)
    try:
        return dumps(step)
    except ValueError:
        return dumps(_finite(step))


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


def _floats(values: Iterable[Any]) -> bytes:
    if hasattr(values, "astype"):
        return values.astype("<f4").tobytes()
    return little_endian(array("f", (float("nan") if value is None else float(value) for value in values)))


def _integers(values: Iterable[Any]) -> bytes:
    if hasattr(values, "astype"):
        return values.astype("<i4").tobytes()
    return little_endian(array("i", (int(value) for value in values)))
