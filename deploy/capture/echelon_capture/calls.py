"""The arguments of a function that a hook wraps."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Mapping


def bound(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, defaults included, `**kwargs` among them. TypeError if they do not fit."""
    call = inspect.signature(function).bind(*arguments, **keywords)
    call.apply_defaults()
    named = dict(call.arguments)
    return {**named, **named.pop("kwargs", {})}
