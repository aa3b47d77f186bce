"""Follows the rows of the rollouts of TRL's GRPOTrainer from their generation to the loss.

Each row gets the number of its place among the rows of all processes, in a tensor that TRL shuffles and splits with the others. What was
generated is kept as it was, so that the loss's rows can be compared with it.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

from .row_marks import ROW

_ROLLOUTS = "_echelon_rollouts"


class Rollout:
    """The rows that one process generated for the training step `number`."""

    def __init__(
        self, number: int, first: int, ids: list[list[int]], tools: list[list[int]] | None, old: Any, version: int | None = None
    ) -> None:
        """`first`: place of the first row. `old`: the old log-probs as they were computed; None if there are none. `version`: number of
        the first update after the weights that generated the rows; None if it is not known."""
        self.number, self.first, self.version = number, first, version
        self._ids, self._tools, self._old = ids, tools, old
        self._digests: list[str] | None = None

    def names(self, places: Any) -> list[str]:
        """The names of rows by their places, as the batch of the training step has them."""
        return [f"{self.number}/{int(place)}" for place in places]

    def sampled(self, places: Any, width: int) -> Any:
        """Which of the first `width` tokens of each row the policy generated."""
        import numpy

        flags = numpy.zeros((len(places), width), bool)
        for row, place in enumerate(places):
            at = int(place) - self.first
            if 0 <= at < len(self._ids):
                own = self._tools[at] if self._tools is not None else [1] * len(self._ids[at])
                flags[row, : min(width, len(own))] = own[:width]
        return flags

    def trained(self, places: Any, ids: Any, old: Any) -> list[str]:
        """A digest of each row as the loss received it: its place, its ids and its old log-probs."""
        return [_digest(self.number, int(place), ids[row], None if old is None else old[row], self._length(place)) for row, place in enumerate(places)]

    def generated(self) -> list[str]:
        """The same of all rows as they were generated."""
        import numpy

        if self._digests is None:
            old = None if self._old is None else self._old.float().cpu().numpy()
            places = range(self.first, self.first + len(self._ids))
            self._digests = [
                _digest(self.number, place, numpy.asarray(ids), None if old is None else old[at], len(ids))
                for at, (place, ids) in enumerate(zip(places, self._ids))
            ]
            self._old = None
        return self._digests

    def _length(self, place: Any) -> int:
        at = int(place) - self.first
        return len(self._ids[at]) if 0 <= at < len(self._ids) else 0


def _digest(number: int, place: int, ids: Any, old: Any, length: int) -> str:
    parts = hashlib.blake2b(f"{number}/{place}:".encode(), digest_size=8)
    parts.update(ids[:length].astype("<i4").tobytes())
    if old is not None:
        parts.update(old[:length].astype("<f4").tobytes())
    return parts.hexdigest()


def _generated(found: Any) -> tuple[list[list[int]], list[list[int]] | None] | None:
    """Token ids and tool masks of what `_generate` returns; None for a version that returns something else."""
    try:
        ids, tools = _lists(found[1]), None if found[2] is None else _lists(found[2])
    except Exception:  # noqa: BLE001 - the capture must never fail a training
        return None
    is_whole = tools is None or [len(row) for row in tools] == [len(row) for row in ids]
    return (ids, tools) if is_whole else None


def _lists(rows: Any) -> list[list[int]]:
    """Copies of lists of integers; of tensors, their integers. TypeError for something else."""
    copied = [row.tolist() if hasattr(row, "tolist") else [*row] for row in rows]
    if not all(isinstance(row[0], int) for row in copied if row):
        raise TypeError("rows of no integers")
    return copied


class Rollouts:
    """The latest rollout of a trainer; None before the first one, and for a trainer whose rows cannot be followed."""

    def __init__(self) -> None:
        self.latest: Rollout | None = None
        self._generated: tuple[Any, Any] | None = None

    def wrap(self, trainer: Any) -> None:
        """Follows the trainer from now on."""
        generate, score = getattr(trainer, "_generate", None), trainer._generate_and_score_completions

        @functools.wraps(generate or score)
        def _generate(*arguments: Any, **keywords: Any) -> Any:
            found = generate(*arguments, **keywords)
            self._generated = _generated(found) if trainer.model.training else None
            return found

        @functools.wraps(score)
        def _generate_and_score_completions(*arguments: Any, **keywords: Any) -> Any:
            is_training = trainer.model.training
            result = score(*arguments, **keywords)
            if is_training:
                self.latest = None
                try:
                    self._take(trainer, result)
                except Exception:  # noqa: BLE001 - the capture must never fail a training
                    pass
            return result

        if generate is not None:
            trainer._generate = _generate
        trainer._generate_and_score_completions = _generate_and_score_completions

    def _take(self, trainer: Any, result: Any) -> None:
        import torch

        generated, self._generated = self._generated, None
        completions = result["completion_ids"]
        if generated is None or len(generated[0]) != len(completions):
            return
        first = trainer.accelerator.process_index * len(completions)
        result[ROW] = torch.arange(first, first + len(completions), dtype=completions.dtype, device=completions.device)
        number = int(trainer.state.global_step) + 1
        self.latest = Rollout(number, first, *generated, result.get("old_per_token_logps"), _version(trainer, number))


def _version(trainer: Any, number: int) -> int | None:
    """The version of the weights that have just generated: the trainer's, or those that vLLM loaded last."""
    if not trainer.use_vllm:
        return number
    loaded = getattr(trainer, "_last_loaded_step", None)
    return None if loaded is None else int(loaded) + 1


def rollouts_of(trainer: Any) -> Rollouts:
    """The rollouts of a trainer, which are followed once."""
    found = getattr(trainer, _ROLLOUTS, None)
    if found is None:
        found = Rollouts()
        found.wrap(trainer)
        setattr(trainer, _ROLLOUTS, found)
    return found
