"""The supervisor's side of a checkpoint store: it starts the processes of checkpointstore beside the driver.

The answer of an upload comes by a pipe that no process of the training has: only what our own process has uploaded is reported
as stored.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any, Callable, Mapping, Optional, Sequence

from echelon_rayworker import launch
from echelon_rayworker.checkpointplaces import store_environment

# Files of a launch plan: the settings of the store, and the digests of the manifests that may be read.
STORE_FILE = "checkpoint-store.json"
STORED_FILE = "stored-checkpoints.json"
# Waits between tries of an upload; the last one repeats.
RETRY_SECONDS = (1, 5, 15, 60, 120)
# An upload that continues after its training has ended.
FINISH_SECONDS = 3600
MAX_ANSWER_BYTES = 4096


def settings_in(plan: Any, directories: launch.Directories) -> Optional[dict[str, Any]]:
    """The store of a launch plan, with the digests of the manifests that may be read; None if it has none."""
    try:
        settings = json.loads(plan.files.get(STORE_FILE, b"null"))
        if settings is None:
            return None
        directory = settings.get("directory")
        filled = launch.fill(directory, directories) if directory else None
        return {**settings, "directory": filled, "manifests": json.loads(plan.files.get(STORED_FILE, b"{}"))}
    except (ValueError, AttributeError):
        return None


class Companion:
    """A process for the download, and one for each upload. Their lines go to the descriptor ``output``."""

    def __init__(self, settings: Mapping[str, Any], names: Sequence[str], environment: Mapping[str, str], output: int) -> None:
        """``names``: experiment and its directory. ``environment``: the driver's."""
        self._environment = store_environment(os.environ, environment, settings.get("ownVariables") or ())
        self._arguments, self._output = [json.dumps(settings), *names], output
        self._stored: list[tuple[int, str]] = []
        self._process: Optional[subprocess.Popen] = None
        self._wanted: Optional[tuple[int, str]] = None
        self._uploading: Optional[tuple[int, str]] = None
        self._tries, self._again_at = 0, 0.0

    @property
    def pid(self) -> int:
        """Of the present process; 0: there is none."""
        return self._process.pid if self._process else 0

    def download(self, stopped: Callable[[], bool]) -> bool:
        """Downloads the newest checkpoint; False if the store does not answer, or ``stopped`` came first."""
        process = self._start("download", subprocess.DEVNULL)
        while process.poll() is None:
            if stopped():
                process.kill()
            time.sleep(0.05)
        return process.returncode == 0

    def note(self, step: int, path: str) -> None:
        """Has a checkpoint uploaded by the next calls of ``tick``, instead of an older one that waits."""
        self._wanted = (step, path)

    def take_stored(self) -> list[tuple[int, str]]:
        """Steps and digests of the manifests of uploads that have ended since the last call."""
        stored, self._stored = self._stored, []
        return stored

    def tick(self) -> bool:
        """Starts what is to be uploaded; one that failed or was killed is tried again later. True while there is work."""
        if self._process is not None:
            if self._process.poll() is None:
                return True
            failed = self._process.returncode != 0
            if not failed:
                self._note_stored(self._process)
            self._tries = self._tries + 1 if failed else 0
            self._again_at = time.monotonic() + RETRY_SECONDS[min(self._tries, len(RETRY_SECONDS)) - 1] if failed else 0.0
            self._wanted = self._wanted or (self._uploading if failed else None)
            self._close()
        if self._wanted is not None and time.monotonic() >= self._again_at:
            (step, path), self._uploading = self._wanted, self._wanted
            self._wanted = None
            self._process = self._start("upload", subprocess.PIPE, str(step), path)
        return self._process is not None or self._wanted is not None

    def finish(self, given_up: Callable[[], bool]) -> None:
        """Waits until the last checkpoint is in the store."""
        until = time.monotonic() + FINISH_SECONDS
        while self.tick() and self._tries <= len(RETRY_SECONDS):
            if given_up() or time.monotonic() > until:
                break
            time.sleep(0.05)
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._close()

    def _note_stored(self, process: subprocess.Popen) -> None:
        """An upload prints one line; nothing if its checkpoint was refused."""
        try:
            found = json.loads(process.stdout.read(MAX_ANSWER_BYTES))  # type: ignore[union-attr]
            self._stored.append((int(found["step"]), str(found["manifest"])))
        except (ValueError, KeyError, TypeError):
            pass

    def _close(self) -> None:
        self._process.stdout.close()  # type: ignore[union-attr]
        self._process = None

    def _start(self, action: str, answer: int, *more: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "echelon_rayworker.checkpointstore", action, *self._arguments, *more],
            env=self._environment, stdin=subprocess.DEVNULL, stdout=answer, stderr=self._output, start_new_session=True,
        )
