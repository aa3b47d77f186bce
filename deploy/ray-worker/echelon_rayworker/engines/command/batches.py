"""Takes batch files from a directory: each once, when it is complete, in the order in which they were written."""

from __future__ import annotations

import os
import time
from itertools import islice
from typing import Any, NamedTuple

from echelon_capture.format import build_batch, read_batch_file
from echelon_rayworker.bounds import MAX_BATCH_BYTES

from .settings import Settings, is_inside

ENDINGS = (".json", ".json.gz")
# A file that is unchanged for so long is complete, and one after which another was begun.
QUIET_SECONDS = 2.0
MAX_NAMES = 20_000
# In one look, so that output and metrics have their turn.
FILES_PER_LOOK = 4
# Of what attempts have taken, so that a further attempt does not take it again.
JOURNAL = "taken-batches"


class _File(NamedTuple):
    changed_ns: int
    name: str
    size: int


class BatchDirectory:
    """The files of one directory, which may come into being later."""

    def __init__(self, settings: Settings, spool: Any) -> None:
        """What is in the directory before the first attempt is not taken."""
        self._root, self._directory = settings.directory, os.path.join(settings.directory, settings.batches)
        self._spool = spool
        self._journal = os.path.join(settings.experiment_dir, JOURNAL)
        self._seen: dict[_File, float] = {}
        self._told_of_many = False
        try:
            with open(self._journal, encoding="utf-8") as file:
                self._taken = set(file.read().split("\0"))
        except OSError:
            self._taken = set()
            self._note(self._files())

    def look(self, everything: bool = False) -> None:
        """Reports the batches of complete files; ``everything``: the program has ended, so that all are complete."""
        files = [file for file in self._files() if _key(file) not in self._taken]
        now = time.monotonic()
        self._seen = {file: self._seen.get(file, now) for file in files}
        for at, file in enumerate(files if everything else files[:FILES_PER_LOOK]):
            is_quiet = now - self._seen[file] >= QUIET_SECONDS
            if not (everything or is_quiet or at + 1 < len(files)):
                return
            self._take(file)
            self._note([file])

    def _files(self) -> list[_File]:
        if not is_inside(self._directory, self._root):
            return []
        found: list[_File] = []
        try:
            with os.scandir(self._directory) as entries:
                for entry in islice(entries, MAX_NAMES):
                    if entry.name.endswith(ENDINGS) and not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
                        known = entry.stat(follow_symlinks=False)
                        found.append(_File(known.st_mtime_ns, entry.name, known.st_size))
                if next(entries, None) is not None and not self._told_of_many:
                    self._told_of_many = True
                    self._spool.gap(0, 0, f"{self._directory} has more than {MAX_NAMES:,} files, and not all of them were read")
        except OSError:
            pass  # it is not there yet
        return sorted(found)

    def _take(self, file: _File) -> None:
        if file.size > MAX_BATCH_BYTES:
            self._spool.gap(0, 0, f"{file.name} is larger than {MAX_BATCH_BYTES // 2**20} MiB")
            return
        try:
            for columns in read_batch_file(os.path.join(self._directory, file.name)):
                step = (columns.get("provenance") or {}).get("training_step") or 0
                self._spool.batch(step, build_batch(**columns, incomplete=True), rows=len(columns["group"]))
        except Exception as error:  # noqa: BLE001 - whatever is in the file, the program continues
            self._spool.gap(0, 0, f"{file.name} cannot be read: {type(error).__name__}: {error}"[:500])

    def _note(self, files: list[_File]) -> None:
        keys = [_key(file) for file in files]
        self._taken.update(keys)
        try:
            with open(self._journal, "a", encoding="utf-8") as file:
                file.writelines(f"{key}\0" for key in keys)
        except OSError:
            pass  # a full disk: a further attempt may take them again


def _key(file: _File) -> str:
    return f"{file.changed_ns} {file.size} {file.name}"
