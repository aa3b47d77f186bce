"""A folder in which all ranks leave what they recorded of a step, and from which rank 0 takes each step as one batch.

It is for sinks that have one writer: an attempt of Echelon, or a run. Files are numpy archives without objects, so that reading one runs
nothing.
"""

from __future__ import annotations

import json
import os
import re
import time
from typing import Any, Iterator, Mapping

from .ranks import joined, rank_of

_NAME = re.compile(r"(?P<run>[0-9a-f]{1,64})-(?P<number>\d+)-rank-(?P<rank>\d+)\.npz")
POLL_SECONDS = 0.05


class Exchange:
    """The folder, as one rank sees it. Only rank 0 takes."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        # Ranks that have left anything: only for these is it worth to wait.
        self._seen: set[int] = set()
        self._size = 1
        self._run = ""
        # Whether this rank is the one that takes.
        self.is_taken = False

    def put(self, batch: Mapping[str, Any]) -> None:
        """Leaves the step of one rank. The file appears when it is complete."""
        import numpy

        step, rank = batch["step"], rank_of(batch)
        self._run, self._size, self.is_taken = step["run"], rank.size, rank.number == 0
        os.makedirs(self._folder, exist_ok=True)
        columns = {f"tokens.{key}": column for key, column in batch["tokens"].items()}
        columns |= {f"row.{key}": numpy.asarray(batch[key]) for key in batch if key not in ("name", "step", "tokens", "reported")}
        columns |= {f"reported.{key}": column for key, column in batch.get("reported", {}).items()}
        head = numpy.frombuffer(json.dumps({"name": batch["name"], "step": step}).encode(), numpy.uint8)
        path = os.path.join(self._folder, f"{step['run']}-{step['optimizerStep']:06d}-rank-{rank.number}.npz")
        part = f"{path}.{os.getpid()}.part"
        with open(part, "wb") as file:
            numpy.savez(file, head=head, **columns)
        os.replace(part, path)

    def take(self, incomplete: bool = False) -> Iterator[dict[str, Any]]:
        """The steps of this run that all ranks have left, in order. `incomplete`: those that some have left as well."""
        for number, files in sorted(self._found().items()):
            self._seen.update(files)
            if len(files) < self._size and not incomplete:
                continue
            parts = [_read(path) for _, path in sorted(files.items())]
            for path in files.values():
                os.unlink(path)
            yield joined(parts) if len(parts) > 1 else parts[0]

    def wait(self, deadline: float) -> None:
        """Waits until every rank that has ever left a step has left each of them, or until the deadline."""
        while True:
            found = self._found()
            self._seen.update(*found.values()) if found else None
            if all(self._seen <= files.keys() for files in found.values()) or time.monotonic() >= deadline:
                return
            time.sleep(POLL_SECONDS)

    def _found(self) -> dict[int, dict[int, str]]:
        found: dict[int, dict[int, str]] = {}
        try:
            names = os.listdir(self._folder)
        except OSError:
            names = []
        for name in names:
            match = _NAME.fullmatch(name)
            if match and match["run"] == self._run and int(match["rank"]) < self._size:
                found.setdefault(int(match["number"]), {})[int(match["rank"])] = os.path.join(self._folder, name)
        return found


def _read(path: str) -> dict[str, Any]:
    import numpy

    with numpy.load(path, allow_pickle=False) as archive:
        columns = {name: archive[name] for name in archive.files}
    batch = json.loads(columns.pop("head").tobytes())
    batch["tokens"] = {}
    for name, column in columns.items():
        kind, _, key = name.partition(".")
        if kind == "row":
            batch[key] = column
        else:
            batch.setdefault(kind, {})[key] = column
    return batch
