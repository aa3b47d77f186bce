"""Part of the stand-in checkout."""

from .protocol import DataProto

__all__ = ["DataProto"]
