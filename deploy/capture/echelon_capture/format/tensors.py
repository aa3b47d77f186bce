"""What a trainer's tensors of tokens come down to in a batch."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, Mapping


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
