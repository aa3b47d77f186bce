"""Captures a trainer's advantage batches, metrics and checkpoints.

    import echelon_capture as capture

    capture.batch(12, estimator=dict(name="grpo"), group=uid, trajectory=uid_of_response,
                  token_level_reward_sum=scores, advantage=advantages)
    capture.metrics(12, {"loss": 0.7})
    capture.checkpoint(12, "checkpoints/step-12")
    capture.evaluation(12, games, panel="alfworld-seen", digest=digest, decoding={"temperature": 0.4})

Under Echelon (the variable ECHELON_SPOOL is set) these calls report to the attempt. With ECHELON_URL and ECHELON_TOKEN they
open a run there and stream to it. Otherwise they write files to the folder ECHELON_CAPTURE_DIR. Default: ./echelon-capture.
No call waits for a disk or a network, and no problem of the capture raises.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any, Callable, Mapping, Sequence

from .recorder import FLUSH_SECONDS, Recorder
from .version import __version__

__all__ = ["__version__", "batch", "checkpoint", "close", "evaluation", "gap", "metrics", "step"]

_lock = threading.Lock()
_current: Recorder | None = None


def batch(training_step: int, /, **columns: Any) -> None:
    """Captures the batch of one training step. `columns` are the arguments of `build_batch` in format/batch.py:
    estimator, group, trajectory, advantage and the columns from which the estimator computes, one entry per row.

    Arrays and tensors are copied before this function returns; observations that are mutable objects are not.
    `provenance` gets the training step, the producer and, under Echelon, the experiment and the attempt.
    """
    _recorder().batch(training_step, columns)


def step(number: int, rows: int, build: Callable[[], Mapping[str, Any]], /) -> None:
    """Captures optimizer step `number`, of `rows` rows. `build` returns it in the form of `echelon-batch/3`
    (docs/reference/batch-format.md), with numpy arrays or lists, and runs in the thread that writes."""
    _recorder().step(number, rows, build)


def metrics(step: int, values: Mapping[str, Any]) -> None:
    """Captures the metrics of one step. Values that are not numbers are ignored."""
    _recorder().metrics(step, values)


def checkpoint(step: int, path: str | os.PathLike[str]) -> None:
    """Says that a checkpoint is complete on disk at `path`, a file or folder."""
    _recorder().checkpoint(step, path)


def evaluation(
    step: int, games: Sequence[Mapping[str, Any]], *, panel: str, digest: str = "", decoding: Mapping[str, Any] | None = None
) -> None:
    """Captures the games of an evaluation of the checkpoint of `step`: of each its `game`, `replicate` (from 1), `success` (0 to 1),
    `score`, `steps` and `invalid_steps`. `digest`: SHA-256 (hex) over the resolved games of a fixed panel; empty if the games were
    drawn. `decoding`: settings of the answers, such as temperature and seed of the engine."""
    _recorder().evaluation(step, games, panel, digest, decoding or {})


def gap(training_step: int, rows: int, reason: str, *, of: str = "batch") -> None:
    """Says that the batch of a step, of `rows` rows (0: unknown), is not captured, and why. `of`: `batch`, or `step` if the
    optimizer step of this number is not."""
    _recorder().gap(training_step, rows, reason, of)


def close(timeout_seconds: float = FLUSH_SECONDS) -> bool:
    """Waits until everything captured is written, for at most `timeout_seconds`; returns whether it is. Runs by itself
    when Python exits. Later calls of the other functions capture again. A run ends here: it failed if an exception is being
    handled or has ended the process; later calls open another run."""
    return _current is None or _current.close(timeout_seconds)


def _recorder() -> Recorder:
    global _current
    with _lock:
        if _current is None:
            _current = Recorder(os.environ)
        return _current


def _forget() -> None:
    """A forked process has no writer thread, and its parent writes what waited at the fork."""
    global _current, _lock
    _current, _lock = None, threading.Lock()


atexit.register(close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
