"""Protobuf's encoding, field by field, so that no library is needed in a trainer's process."""

from __future__ import annotations

import struct
import sys
from array import array
from typing import Any, Mapping

# The encodings of the numbers below 128.
_ONE_BYTE = tuple(bytes((value,)) for value in range(0x80))
_DOUBLES = frozenset(("gamma", "invalid_action_penalty"))


def varint(value: int) -> bytes:
    if 0 <= value <= 0x7F:
        return _ONE_BYTE[value]
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*encoded, value))


def encode_message(fields: Mapping[str, Any], numbers: Mapping[str, int]) -> bytes:
    """Protobuf's encoding of the fields, in the order of their numbers; zeros and empty texts are omitted."""
    parts = []
    for name, number in numbers.items():
        value = fields.get(name)
        if name in _DOUBLES:
            if value:
                parts.append(varint(number << 3 | 1) + struct.pack("<d", value))
        elif isinstance(value, (bool, int)):
            if value < 0:
                raise ValueError(f"{name} is negative")
            if value:
                parts.append(varint(number << 3) + varint(int(value)))
        elif value:
            items = value if isinstance(value, list) else [value]
            parts.append(_fields(number, [one if isinstance(one, bytes) else str(one).encode("utf-8", "replace") for one in items]))
    return b"".join(parts)


def _fields(number: int, items: list[bytes]) -> bytes:
    """A repeated field. A batch has many short names, so the common case calls no function for each."""
    tag = varint(number << 3 | 2)
    short = _ONE_BYTE
    return b"".join([tag + (short[len(item)] if len(item) <= 0x7F else varint(len(item))) + item for item in items])


def little_endian(values: array) -> bytes:
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()
