"""Hydra's command line, as far as the engine has to read and change it: `key=value`, `+key=value`, `++key=value`."""

from __future__ import annotations

import re
from typing import Iterable

_OVERRIDE = re.compile(r"(?P<sign>\+{0,2})(?P<key>[A-Za-z_][\w.@/]*)=(?P<value>.*)", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_/][A-Za-z0-9_./:@%+-]*")


class Overrides:
    """A list of overrides in order; where a key is given twice, the last one holds, as in Hydra."""

    def __init__(self, arguments: Iterable[str]) -> None:
        """Raises ValueError for an argument that is no override."""
        self._items: list[tuple[str, str, str]] = []
        for argument in arguments:
            match = _OVERRIDE.fullmatch(argument)
            if not match:
                raise ValueError(f"{argument!r} is not an override of the form key=value")
            self._items.append((match["sign"], match["key"], match["value"]))

    def text(self, key: str, default: str | None = None) -> str | None:
        """The value without its quotes; `null` and an absent key give the default."""
        for _, name, value in reversed(self._items):
            if name == key:
                return default if value == "null" else unquoted(value)
        return default

    def number(self, key: str, default: float) -> float:
        """The value as a number; the default if it is absent or none."""
        try:
            return float(self.text(key) or default)
        except ValueError:
            return default

    def flag(self, key: str, default: bool) -> bool:
        """The value as a truth value."""
        value = self.text(key)
        return default if value is None else value.lower() == "true"

    def set(self, key: str, value: str, added: bool = False) -> None:
        """Puts a text in the place of the key's value, else at the end; `added` for a key that the configuration
        does not have. Raises ValueError for a text that Hydra has no plain form of."""
        shown = quoted(value)
        found = [index for index, item in enumerate(self._items) if item[1] == key]
        if not found:
            self._items.append(("+" if added else "", key, shown))
            return
        for index in reversed(found[:-1]):
            del self._items[index]
        index = found[-1] - len(found) + 1
        self._items[index] = (self._items[index][0], key, shown)

    def take(self, prefix: str) -> dict[str, str]:
        """Removes the keys below a prefix; returns them, less the prefix, with their values."""
        taken = {key[len(prefix) :]: unquoted(value) for _, key, value in self._items if key.startswith(prefix)}
        self._items = [item for item in self._items if not item[1].startswith(prefix)]
        return taken

    def arguments(self) -> list[str]:
        """One `key=value` each."""
        return [f"{sign}{key}={value}" for sign, key, value in self._items]


def unquoted(value: str) -> str:
    """The text that a value stands for."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1].replace(f"\\{value[0]}", value[0])
    return value


def quoted(text: str) -> str:
    """A text as Hydra's grammar writes it. Raises ValueError if it has no plain form."""
    if _PLAIN.fullmatch(text):
        return text
    if "\\" in text or "${" in text or any(ord(one) < 32 for one in text):
        raise ValueError(f"{text!r} cannot be written as an override")
    return "'" + text.replace("'", "\\'") + "'"
