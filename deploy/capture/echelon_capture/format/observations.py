"""Observations as indices into a dictionary of canonical texts, which are equal where the observations are."""

from __future__ import annotations

import hashlib
import json
import math
import re
from array import array
from decimal import Decimal
from typing import Any, Mapping, Sequence


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


GOAL = -1


def observation_columns(
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
        columns["next_observation"] = array("i", (GOAL if one is None else next(known) for one in after))
    return columns, dictionary
