"""Arguments of an engine: `key=value`, every key known, every value of its key's kind. Nothing is ignored."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Mapping, Sequence, Union

Value = Union[bool, int, float, str]


@dataclass(frozen=True)
class Key:
    """A key's default (its type is the kind of value) and what else holds for it."""

    default: Value
    minimum: float = -math.inf
    maximum: float = math.inf
    choices: tuple[str, ...] = ()


class ArgumentError(ValueError):
    """An argument that cannot be taken; the message names the key and the remedy."""


def parse(arguments: Sequence[str], keys: Mapping[str, Key]) -> dict[str, Value]:
    """Every key's value: as given, else its default. Raises ArgumentError."""
    given: dict[str, Value] = {}
    for argument in arguments:
        key, equals, text = argument.partition("=")
        if not equals:
            raise ArgumentError(f"{argument!r} is not of the form key=value")
        if key not in keys:
            near = get_close_matches(key, keys, 1, 0.5)
            raise ArgumentError(f"unknown key {key!r}" + (f"; the nearest is {near[0]!r}" if near else ""))
        if key in given:
            raise ArgumentError(f"{key} is given twice")
        given[key] = _value(key, text, keys[key])
    return {name: given.get(name, key.default) for name, key in keys.items()}


def parse_or_exit(arguments: Sequence[str], keys: Mapping[str, Key]) -> dict[str, Value]:
    """As `parse`; a wrong argument ends the process with its message and code 2."""
    try:
        return parse(arguments, keys)
    except ArgumentError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def _value(key: str, text: str, rule: Key) -> Value:
    if isinstance(rule.default, bool):
        if text.lower() not in ("true", "false"):
            raise ArgumentError(f"{key} must be true or false, not {text!r}")
        return text.lower() == "true"
    if isinstance(rule.default, str):
        if rule.choices and text not in rule.choices:
            raise ArgumentError(f"{key} must be one of {', '.join(rule.choices)}, not {text!r}")
        return text
    kind, words = (int, "a whole number") if isinstance(rule.default, int) else (float, "a number")
    try:
        value = kind(text)
    except ValueError:
        raise ArgumentError(f"{key} must be {words}, not {text!r}") from None
    if not rule.minimum <= value <= rule.maximum:
        raise ArgumentError(f"{key} must be {words} {_range(rule)}, not {text}")
    return value


def _range(rule: Key) -> str:
    if math.isinf(rule.maximum):
        return f"of {rule.minimum:g} or more"
    return f"from {rule.minimum:g} to {rule.maximum:g}"
