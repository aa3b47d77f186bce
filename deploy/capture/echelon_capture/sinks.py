"""Where captured data is written: the spool of an Echelon attempt, or a folder. Runs in the writer thread."""

from __future__ import annotations

import json
import math
import os
import time
from typing import Any, Callable, Mapping

from .format import build_batch, build_step_batch, write_batch_file
from .ranks import rank_of
from .version import PRODUCER


class SpoolSink:
    """The spool of an attempt. Its format belongs to the ray-worker, so the ray-worker's own module writes it: the
    supervisor puts `echelon_rayworker` on the PYTHONPATH of every process that it starts."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """ImportError if `echelon_rayworker`, or the protobuf package that it needs, is missing."""
        from echelon_rayworker.spool import SPOOL_VARIABLE, Spool

        self._spool = Spool.from_environment(environment)
        # SHARED/experiments/NAME/attempts/NUMBER/spool
        self._experiment = os.path.realpath(os.path.join(environment[SPOOL_VARIABLE], "..", "..", ".."))

    def batch(self, step: int, columns: Mapping[str, Any], rows: int) -> None:
        """Appends one batch."""
        self._spool.batch(step, build_batch(**columns), rows)

    def step(self, number: int, batch: Mapping[str, Any], rows: int) -> None:
        """Appends an optimizer step, which is a batch of the attempt."""
        self._spool.batch(number, build_step_batch(batch), rows)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Appends one step's metrics."""
        self._spool.metrics(step, values)

    def checkpoint(self, step: int, path: str) -> None:
        """Appends a checkpoint, relative to the experiment's directory if it is inside."""
        real = os.path.realpath(path)
        inside = real.startswith(self._experiment + os.sep)
        self._spool.checkpoint(step, os.path.relpath(real, self._experiment) if inside else path)

    def evaluation(self, *arguments: Any) -> None:
        """Appends the games of an evaluation."""
        self._spool.evaluation(*arguments)

    def gap(self, step: int, rows: int, reason: str, of: str = "batch") -> None:
        """Appends a gap in place of a batch, or of an optimizer step, which is one as well."""
        self._spool.gap(step, rows, reason)

    def close(self, timeout_seconds: float) -> bool:
        """Closes the segment."""
        self._spool.close()
        return True


class FolderSink:
    """A folder: one `echelon-batch/1` file per batch, and metrics, checkpoints and gaps as JSON lines."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(folder)
        self._is_made = False

    def batch(self, step: int, columns: Mapping[str, Any], rows: int) -> None:
        """Writes `step-000012.json.gz`, or `step-000012b2.json.gz` for the second batch of the step. No batch is
        overwritten, and a file appears only when it is complete."""
        self._file(f"step-{step:06d}", "json.gz", lambda part: write_batch_file(part, [columns], source=PRODUCER))

    def step(self, number: int, batch: Mapping[str, Any], rows: int) -> None:
        """Writes `update-000012.pb` with the tokens of an optimizer step, or `layout-000012.pb` with its layout only; of rank 3
        among several `update-000012-rank-3.pb`."""
        kind, rank = "update" if "logProb" in batch["tokens"] else "layout", rank_of(batch)
        of_rank = f"-rank-{rank.number}" if rank.size > 1 else ""

        def write(part: str) -> None:
            with open(part, "wb") as file:
                file.write(build_step_batch(batch))

        self._file(f"{kind}-{number:06d}{of_rank}", "pb", write)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Appends a line to `metrics.jsonl`; NaN and infinities become null."""
        finite = {name: value if math.isfinite(value) else None for name, value in values.items()}
        self._line("metrics.jsonl", {"step": step, "values": finite})

    def checkpoint(self, step: int, path: str) -> None:
        """Appends a line to `checkpoints.jsonl`."""
        self._line("checkpoints.jsonl", {"step": step, "path": path})

    def evaluation(
        self, step: int, games: list[dict[str, Any]], panel: str, digest: str, decoding: Mapping[str, str]
    ) -> None:
        """Appends a line to `evaluations.jsonl`."""
        known = {"step": step, "panel": panel, "digest": digest, "decoding": dict(decoding), "games": games}
        self._line("evaluations.jsonl", known)

    def gap(self, step: int, rows: int, reason: str, of: str = "batch") -> None:
        """Appends a line to `gaps.jsonl`. `of`: a batch, or an optimizer step."""
        self._line("gaps.jsonl", {"step": step, "of": of, "rows": rows, "reason": reason})

    def close(self, timeout_seconds: float) -> bool:
        """Nothing is open between two reports."""
        return True

    def _make(self) -> None:
        """Makes the folder before the first file."""
        if not self._is_made:
            os.makedirs(self.folder, exist_ok=True)
            self._is_made = True

    def _line(self, name: str, content: Mapping[str, Any]) -> None:
        self._make()
        line = json.dumps({"time": round(time.time(), 3), **content}, allow_nan=False)
        with open(os.path.join(self.folder, name), "a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def _file(self, stem: str, ending: str, write: Callable[[str], None]) -> None:
        """A file that appears when it is complete and overwrites none: `STEM.ENDING`, or `STEMb2.ENDING` if that is there."""
        self._make()
        # `echelon verify FOLDER` does not read a name that ends like this.
        part = os.path.join(self.folder, f".{stem}-{os.getpid()}.part.gz")
        number = 1
        try:
            write(part)
            # A letter sorts after the dot, so that the batches of a step are read in order.
            while os.path.exists(path := os.path.join(self.folder, f"{stem}{f'b{number}' if number > 1 else ''}.{ending}")):
                number += 1
            os.replace(part, path)
        except BaseException:
            if os.path.exists(part):
                os.unlink(part)
            raise
