"""Captures optimizer steps for the hooks of trainers: the layout of every step, the tokens of every n-th one.

The tensors of a micro-batch are kept until its optimizer step ends, and one thread then copies and writes them. Nothing is
computed from them in the trainer's thread, and the gradient hook returns None, so a training has the same bits with and without it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import itertools
import os
from typing import Any, Callable, Iterator, Mapping

import echelon_capture as capture

from .ranks import Rank, run_of

# Columns of docs/reference/batch-format.md, each profile with those before it. A trainer adds the columns that its loss needs.
PROFILES = {
    "minimal": ("mask", "logProb", "oldLogProb", "lossGradient"),
    "standard": ("id", "sampled", "rolloutLogProb"),
    "full": ("referenceLogProb", "rolloutWeight", "entropy"),
}


_TRAININGS = itertools.count(1)


class Steps:
    """The micro-batches of one process since its last optimizer step. No method raises."""

    def __init__(self, every: int, profile: str, rank: Rank = Rank()) -> None:
        """Tokens are captured at steps 1, 1 + `every`, … `rank`: of this process among those that train on different rows.
        ValueError for a number below 1 or an unknown profile."""
        names = list(PROFILES)
        if profile not in names:
            raise ValueError(f"profile is {profile!r}, not one of {', '.join(names)}")
        if every < 1:
            raise ValueError(f"every is {every}; it must be at least 1")
        self._every = every
        # A process may train more than once, and all ranks do so alike.
        self._run = run_of(os.environ, next(_TRAININGS))
        self.rank = rank
        self._columns = {key for name in names[: names.index(profile) + 1] for key in PROFILES[name]}
        self._taken: list[dict[str, Any]] = []
        self._problem = ""

    def take(
        self, number: int, columns: Mapping[str, Any], *, advantage: Any, facts: Mapping[str, Any], needed: tuple[str, ...] = (),
        rows: Any = None,
    ) -> None:
        """A micro-batch of step `number`, in the forward pass. `columns`: padded tensors [rows, tokens] by their keys, with
        `mask`, and `logProb` as the loss consumes it, with its graph. `advantage`: [rows] or [rows, tokens]. `facts`: the
        entry of `microBatches`, numbers or tensors of one. `needed`: columns that the loss needs beyond the profile. `rows`: gives,
        in the thread that writes, what is known of the rows: `rows` (columns of rows), `tokens` (columns of tokens), `digests` of
        the rows as they are here and `sources`, those of the whole rollout as it was generated, if both are known."""
        with self.guarded():
            kept = {"mask": columns["mask"]}
            if self.has_tokens(number):
                wanted = self._columns.union(needed)
                kept = {key: column.detach() for key, column in columns.items() if key in wanted and column is not None}
                if columns["logProb"].requires_grad:
                    columns["logProb"].register_hook(_keeper(kept))
            own = rows if "logProb" in kept else None
            self._taken.append({"columns": kept, "advantage": advantage.detach(), "facts": dict(facts), "rows": own})

    def has_tokens(self, number: int) -> bool:
        """Whether the tokens of step `number` are captured, not its layout alone."""
        return (number - 1) % self._every == 0

    def add(self, key: str, column: Any) -> None:
        """A further column of the micro-batch that was taken last, if its tokens are captured."""
        if column is not None and self._taken and "logProb" in self._taken[-1]["columns"]:
            self._taken[-1]["columns"][key] = column.detach()

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """An error in the block makes the step a gap, and goes no further."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the capture must never fail a training
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Makes the step a gap with this reason."""
        self._problem = reason_of(error)

    def stated(self, fact: str) -> set[Any]:
        """The values of a fact of the micro-batches since the last step."""
        return {_facts(one["facts"]).get(fact) for one in self._taken}

    @property
    def micro_batches(self) -> int:
        """How many were taken since the last step."""
        return len(self._taken)

    def end(self, number: int, settings: Mapping[str, Any]) -> None:
        """After the update of step `number`. `settings`: the object `step` of the format without `microBatches`."""
        taken, problem, self._taken, self._problem = self._taken, self._problem, [], ""
        if problem:
            capture.gap(number, sum(len(one["columns"]["mask"]) for one in taken), problem, of="step")
        elif taken:
            stated = {**settings, "run": self._run, "dataParallelSize": self.rank.size}
            rows, rank = sum(len(one["advantage"]) for one in taken), self.rank.number
            capture.step(number, rows, lambda: _batch(number, taken, stated, rank))


def reason_of(error: Exception) -> str:
    """Why something is not captured, in words."""
    is_other = isinstance(error, (AttributeError, KeyError))
    return f"{'the trainer is not the version that this hook knows: ' if is_other else ''}{type(error).__name__}: {error}"


def ends(steps: Steps, settings: Callable[[], Mapping[str, Any]]) -> Any:
    """A callback of transformers' Trainer that ends a step after its update. `settings`: the object `step` of the format; an
    error makes the step a gap."""
    from transformers import TrainerCallback

    class CaptureSteps(TrainerCallback):
        """Ends a step after its update."""

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            """The optimizer has updated the weights."""
            stated: Mapping[str, Any] = {}
            with steps.guarded():
                stated = settings()
            steps.end(int(state.global_step), stated)

    return CaptureSteps()


@functools.cache
def version_of(package: str) -> str:
    """The version of an installed package. PackageNotFoundError if it is not installed."""
    return importlib.metadata.version(package)


def _keeper(kept: dict[str, Any]) -> Any:
    def keep(gradient: Any) -> None:
        # A copy, because autograd may add to this tensor later.
        kept["lossGradient"] = gradient.detach().clone()

    return keep


def _batch(number: int, taken: list[dict[str, Any]], settings: Mapping[str, Any], rank: int) -> dict[str, Any]:
    """What a rank has of the step, in the format's form."""
    import numpy

    arrays = [{key: _array(column) for key, column in one["columns"].items()} for one in taken]
    known = _rows(taken, arrays)
    half = any("bfloat16" in str(getattr(one["columns"].get("logProb"), "dtype", "")) for one in taken)
    # A column that one micro-batch does not have is not there at all.
    common = [key for key in arrays[0] if all(key in one for one in arrays)]
    lengths, flat = [], {key: [] for key in common}
    for one in arrays:
        if "logProb" not in one:
            lengths.append(numpy.count_nonzero(one["mask"], axis=1))
            continue
        own = _lengths(one)
        inside = numpy.arange(one["mask"].shape[1]) < own[:, None]
        lengths.append(own)
        for key in common:
            flat[key].append(one[key][inside] if one[key].shape == inside.shape else _spread(one[key], inside))
    tokens: dict[str, Any] = {"offset": numpy.concatenate([[0], numpy.cumsum(numpy.concatenate(lengths))])}
    batch = {
        "name": f"update {number}",
        "step": {
            "optimizerStep": number,
            **_lazy(settings),
            **({"precision": "bfloat16"} if half else {}),
            **known.get("step", {}),
            "microBatches": [{"rank": rank, "index": at, **_facts(one["facts"])} for at, one in enumerate(taken)],
        },
        **known.get("rows", {}),
        "microBatch": numpy.repeat(numpy.arange(len(taken)), [len(own) for own in lengths]),
        "tokens": tokens,
    }
    if "logProb" not in common:
        # The layout: every row with its trained tokens.
        return batch
    tokens.update({key: numpy.concatenate(columns) for key, columns in flat.items()})
    advantages = [_array(one["advantage"]) for one in taken]
    if all(one.ndim == 1 or one.shape[1] == 1 for one in advantages):
        batch["reported"] = {"advantage": numpy.concatenate([one.reshape(-1) for one in advantages])}
    else:
        inside = [numpy.arange(one.shape[1]) < own[:, None] for one, own in zip(advantages, lengths)]
        tokens["reportedAdvantage"] = numpy.concatenate([one[within] for one, within in zip(advantages, inside)])
    return batch


def _rows(taken: list[dict[str, Any]], arrays: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What is known of the rows of all micro-batches: columns of rows, and what the step states of them. Their columns of tokens
    are added to `arrays`."""
    import numpy

    found = [one["rows"](own) if one["rows"] is not None else None for one, own in zip(taken, arrays)]
    if not found or any(one is None for one in found):
        return {}
    for own, one in zip(arrays, found):
        own.update(one.get("tokens", {}))
    rows = {key: numpy.concatenate([numpy.asarray(one["rows"][key]) for one in found]) for key in found[0]["rows"]}
    step: dict[str, Any] = {"wholeTrajectories": True}
    if all("digests" in one for one in found):
        sources = list({id(one["sources"]): one["sources"] for one in found}.values())
        step["rowDigests"] = [digest for one in found for digest in one["digests"]]
        step["sourceDigests"] = [digest for source in sources for digest in source]
    return {"rows": rows, "step": step}


def _array(column: Any) -> Any:
    return column.detach().float().cpu().numpy() if column.is_floating_point() else column.detach().cpu().numpy()


def _lengths(columns: Mapping[str, Any]) -> Any:
    """Tokens of each row: up to the last one that is in the mask, or has a gradient though it is not."""
    import numpy

    used = columns["mask"].astype(bool)
    for key in ("sampled", "lossGradient"):
        if key in columns:
            used = used | (columns[key] != 0)
    return numpy.where(used.any(1), used.shape[1] - used[:, ::-1].argmax(1), 0)


def _spread(column: Any, inside: Any) -> Any:
    """One value a row, for each of its tokens."""
    import numpy

    return numpy.broadcast_to(column, inside.shape)[inside]


def _facts(facts: Mapping[str, Any]) -> dict[str, float | int]:
    values = {key: value() if callable(value) else value for key, value in facts.items() if value is not None}
    return {key: value.item() if hasattr(value, "item") else value for key, value in values.items()}


def _lazy(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with those that wait for a number of the device."""
    return {key: value() if callable(value) else value for key, value in settings.items()}
