"""Framed records in append-only files.

A frame is ``u32 length, u32 crc32(payload), payload``, little-endian. The length is at least 1, so that a tail
of zeros, as a crash may leave it, is never a frame, and at most ``MAX_PAYLOAD_BYTES``.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Iterator

HEADER = struct.Struct("<II")
HEADER_BYTES = HEADER.size
# A gRPC message is at most 4 MiB; a payload becomes one.
MAX_PAYLOAD_BYTES = 4 * 1024 * 1024 - 1024


class DamagedFrame(Exception):
    """Whole bytes are there, and they are not a frame. ``offset`` is the frame's position in the buffer."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(f"no valid frame at byte {offset}: {why}")
        self.offset = offset


@dataclass(frozen=True)
class Frame:
    """One record: where its header starts, where the next one does, and what it holds."""

    offset: int
    end: int
    payload: bytes


def encode_frame(payload: bytes) -> bytes:
    """The frame of one payload (1 byte to ``MAX_PAYLOAD_BYTES``; ValueError outside)."""
    if not 0 < len(payload) <= MAX_PAYLOAD_BYTES:
        raise ValueError(f"a payload has 1 to {MAX_PAYLOAD_BYTES} bytes, not {len(payload)}")
    return HEADER.pack(len(payload), zlib.crc32(payload)) + payload


def read_frames(buffer: bytes | memoryview, offset: int = 0) -> Iterator[Frame]:
    """The complete frames of a buffer from ``offset`` on. Ends quietly before a frame that is cut off by the
    buffer's end (a torn tail, or one still being written); raises DamagedFrame for bytes that are no frame."""
    view = memoryview(buffer)
    size = len(view)
    while offset + HEADER_BYTES <= size:
        length, checksum = HEADER.unpack_from(view, offset)
        if not 0 < length <= MAX_PAYLOAD_BYTES:
            raise DamagedFrame(offset, f"length {length}")
        end = offset + HEADER_BYTES + length
        if end > size:
            return
        payload = bytes(view[offset + HEADER_BYTES : end])
        if zlib.crc32(payload) != checksum:
            raise DamagedFrame(offset, "checksum")
        yield Frame(offset, end, payload)
        offset = end
