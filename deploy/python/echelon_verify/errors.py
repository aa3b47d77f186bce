"""Errors of this package."""

from __future__ import annotations


class VerifierError(RuntimeError):
    """The verifier gave no answer; nothing is known about the rows.

    `code` is one of not-built, node-missing, node-too-old, timeout, crashed, failed and unreadable. `retry` says whether the
    same call can succeed later.
    """

    def __init__(self, code: str, message: str, *, retry: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.retry = retry
