"""What receives the batches of a trainer that is followed: this package itself, or a program that looks at them at once."""

from __future__ import annotations

import os
from typing import Any, Mapping, Protocol


class Follower(Protocol):
    """The functions of this package; none of them raises."""

    def batch(self, training_step: int, /, **columns: Any) -> None:
        """The batch of one training step: the arguments of `build_batch` in format/batch.py."""
        ...

    def metrics(self, step: int, values: Mapping[str, Any]) -> None:
        """The metrics of one step."""
        ...

    def checkpoint(self, step: int, path: str | os.PathLike[str]) -> None:
        """A checkpoint is complete on disk."""
        ...

    def gap(self, training_step: int, rows: int, reason: str) -> None:
        """The batch of a step, of `rows` rows (0: unknown), is not captured, and why."""
        ...
