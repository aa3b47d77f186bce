"""What a driver uses to report: stages, metrics, advantage batches and checkpoints.

    spool = Spool.from_environment()
    spool.stage("step 1 of 40", step=1, steps=40)
    spool.metrics(1, {"val/success_rate": 0.25})
    spool.batch(1, serialized_advantage_batch, rows=6400)
    spool.checkpoint(1, "checkpoints/step-1.npz")
    spool.close()

Nothing here ever raises and nothing waits for a reader. Events are appended as framed, serialized ``AttemptEvent``
messages without sequence number to a segment file in the directory that ``ECHELON_SPOOL`` names; the attempt's
supervisor tails it, numbers the events and removes the segments that it has taken over. Each process writes files
of its own (plain appends, no locks), so any number of processes on any node of a shared file system may report.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
import uuid
from collections import deque
from typing import Any, Mapping, Optional, Sequence

from echelon_rayworker.bounds import (
    CHUNK_BYTES, MAX_BATCH_BYTES, MAX_GAMES_PER_REPORT, MAX_PATH_CHARACTERS, MAX_REASON_CHARACTERS, MAX_STAGE_CHARACTERS, numbers, shortened,
)
from echelon_rayworker.framing import encode_frame
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.redaction import Redactor, secret_values
from echelon_rayworker.secretstore import NAMES_VARIABLE

SPOOL_VARIABLE = "ECHELON_SPOOL"
SEGMENT_SUFFIX = ".spool"
SEGMENT_BYTES = 8 * 1024 * 1024
DEFAULT_BUDGET_BYTES = 256 * 1024 * 1024
# What only small events may use of the budget.
SMALL_EVENTS_RESERVE_BYTES = 16 * 1024 * 1024
MAX_PENDING_EVENTS = 20_000

# File systems of one machine; all others are taken for shared ones, on which other nodes see an append only
# after it has been flushed.
_LOCAL_FILE_SYSTEMS = frozenset("ext2 ext3 ext4 xfs btrfs zfs tmpfs overlay f2fs ramfs devtmpfs bcachefs".split())


def is_local_file_system(directory: str) -> bool:
    """Whether a directory lies on a file system of this machine alone (False if that cannot be determined)."""
    try:
        path = os.path.realpath(directory)
        best, kind = "", ""
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                fields, _, rest = line.partition(" - ")
                mount = fields.split(" ")[4]
                inside = path == mount or path.startswith(mount.rstrip("/") + "/")
                if inside and len(mount) >= len(best):
                    best, kind = mount, rest.split(" ")[0]
        return kind in _LOCAL_FILE_SYSTEMS
    except (OSError, IndexError):
        return False


class Spool:
    """The reports of one process. All methods may be called from any thread."""

    def __init__(
        self, directory: str, budget_bytes: int = DEFAULT_BUDGET_BYTES, redactor: Optional[Redactor] = None
    ) -> None:
        """``directory``: an existing directory. ``budget_bytes``: of what the supervisor has not yet taken over;
        a batch that would leave less than a reserve of it for small events is dropped with a Gap. ``redactor``: takes
        secrets out before anything is written."""
        self._redactor = redactor or Redactor()
        self._directory = directory
        self._budget_bytes = budget_bytes
        self._reserve_bytes = min(SMALL_EVENTS_RESERVE_BYTES, budget_bytes // 4)
        self._lock = threading.Lock()
        self._reset()

    @staticmethod
    def from_environment(environment: Optional[Mapping[str, str]] = None) -> "Spool":
        """The spool of the directory that ECHELON_SPOOL names; one that drops everything if it names none."""
        variables = os.environ if environment is None else environment
        directory = variables.get(SPOOL_VARIABLE, "")
        if not directory:
            return NullSpool()
        hidden = variables.get(NAMES_VARIABLE, "").split(",")
        return Spool(directory, redactor=Redactor(secret_values(variables, hidden)))

    def stage(self, name: str, step: int = 0, steps: int = 0) -> None:
        """Reports the training's stage, in words; ``step`` and ``steps`` are 0 if it has none."""
        self._report(lambda: pb.AttemptEvent(
            stage=pb.Stage(
                name=shortened(self._words(name), MAX_STAGE_CHARACTERS), step=max(0, int(step)), steps=max(0, int(steps))
            )
        ))

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """The trainer's metrics of one step, under its own names, at full precision. What is no number is left
        out; of more than ``bounds.MAX_METRICS_PER_REPORT`` numbers the rest is a Gap."""
        left: list[int] = []

        def make() -> pb.AttemptEvent:
            fitting, beyond = numbers({self._words(name): value for name, value in values.items()})
            left.append(beyond)
            return pb.AttemptEvent(metrics=pb.Metrics(step=max(0, int(step)), values=fitting))

        self._report(make)
        if any(left):
            self.missing(left[0], "metric values beyond the bounds of one report")

    def checkpoint(self, step: int, path: str) -> None:
        """A checkpoint is complete on disk at ``path``, relative to the experiment's directory."""
        if len(str(path)) > MAX_PATH_CHARACTERS:
            # A path that was cut would name another file.
            self.missing(1, f"a checkpoint's path of more than {MAX_PATH_CHARACTERS} characters")
            return
        self._report(lambda: pb.AttemptEvent(
            checkpoint=pb.Checkpoint(step=max(0, int(step)), path=self._words(path))
        ))

    def evaluation(
        self, step: int, games: Sequence[Mapping[str, Any]], panel: str, digest: str = "",
        decoding: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """The games of an evaluation: of each its ``game``, ``replicate`` (from 1), ``success`` (0 to 1), ``score``, ``steps`` and
        ``invalid_steps``. ``digest``: SHA-256 (hex) over the resolved games of the panel; empty if the games were drawn."""
        def words(fields: Mapping[str, Any]) -> dict[str, Any]:
            return {**fields, "game": self._words(fields["game"])}

        settings = {self._words(name): self._words(value) for name, value in (decoding or {}).items()}
        for at in range(0, len(games), MAX_GAMES_PER_REPORT):
            part = games[at : at + MAX_GAMES_PER_REPORT]
            self._report(lambda part=part: pb.AttemptEvent(evaluation=pb.Evaluation(
                step=max(0, int(step)), panel=self._words(panel), digest=digest, decoding=settings,
                games=[pb.Game(**words(fields)) for fields in part],
            )))

    def batch(self, step: int, batch: bytes, rows: int) -> None:
        """One serialized AdvantageBatch of ``rows`` rows. It is written whole or, where the reserved space is
        full, not at all: then a Gap with its rows stands in its place."""
        try:
            with self._lock:
                self._after_fork()
                self._write_batch(max(0, int(step)), self._redactor.data(bytes(batch)), max(0, int(rows)))
        except Exception as error:  # noqa: BLE001 - a report never ends a training
            self.gap(0, 0, f"a batch that could not be reported: {type(error).__name__}: {error}")

    def gap(self, step: int, rows: int, reason: str) -> None:
        """Says that the batch of a step, of ``rows`` rows (0: unknown), is not among the reports, and why."""
        self._report(lambda: pb.AttemptEvent(gap=pb.Gap(
            kind=pb.Gap.BATCH, step=max(0, int(step)), count=1, rows=max(0, int(rows)),
            reason=shortened(self._words(reason), MAX_REASON_CHARACTERS),
        )))

    def missing(self, count: int, reason: str) -> None:
        """Says that so many of something could not be reported; ``reason`` says of what, and why."""
        text = shortened(self._words(reason), MAX_REASON_CHARACTERS)
        self._report(lambda: pb.AttemptEvent(gap=pb.Gap(count=max(0, int(count)), reason=text)))

    def lines_lost(self, count: int, size: int, reason: str) -> None:
        """Says that lines (0: not known how many) of so many bytes are not among those that were printed."""
        gap = pb.Gap(kind=pb.Gap.LOGS, count=count, bytes=size, reason=self._words(reason))
        self._report(lambda: pb.AttemptEvent(gap=gap))

    def close(self) -> None:
        """Writes what is still pending and closes the file. Reports after it open a new one."""
        try:
            if self._failed > 1:
                self.missing(self._failed - 1, "further reports that could not be made")
            with self._lock:
                self._after_fork()
                self._failed = 0
                self._flush_pending()
                self._close_segment()
                self._flusher_stop.set()
        except Exception:  # noqa: BLE001
            pass

    def _words(self, text: object) -> str:
        return self._redactor.line(str(text))

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._writer = f"{socket.gethostname()[:40]}-{self._pid}-{uuid.uuid4().hex[:8]}"
        self._fd = -1
        self._index = 0
        self._size = 0
        self._segments: list[tuple[str, int]] = []
        self._batches = 0
        self._pending: deque[bytes] = deque()
        self._flusher_stop = threading.Event()
        self._flusher: Optional[threading.Thread] = None
        self._dirty = False
        self._failed = 0

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            if self._fd >= 0:
                os.close(self._fd)
            self._reset()

    def _report(self, make) -> None:
        try:
            event = make()
            event.time_unix_ms = time.time_ns() // 1_000_000
            with self._lock:
                self._after_fork()
                self._write_small(event.SerializeToString())
        except Exception as error:  # noqa: BLE001 - a report never ends a training
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Counts a report that could not be made. The first is a gap at once, the others are one when the spool is closed."""
        self._failed += 1
        if self._failed == 1:
            self.missing(1, f"a report that could not be made: {type(error).__name__}: {error}")

    def _write_small(self, payload: bytes) -> None:
        """Appends an event that must not be lost; keeps it in memory where the disk does not take it now."""
        self._pending.append(payload)
        self._flush_pending()
        if len(self._pending) > MAX_PENDING_EVENTS:
            dropped = [self._pending.popleft() for _ in range(MAX_PENDING_EVENTS // 2)]
            gap = pb.Gap(count=len(dropped), bytes=sum(map(len, dropped)), reason="spool full: reports dropped")
            self._pending.appendleft(_event(gap=gap))

    def _flush_pending(self) -> None:
        while self._pending and self._space_left() > 0 and self._append(self._pending[0]):
            self._pending.popleft()

    def _write_batch(self, step: int, batch: bytes, rows: int) -> None:
        self._batches += 1
        reason = ""
        if not batch:
            reason = "empty batch"
        elif len(batch) > MAX_BATCH_BYTES:
            reason = f"the batch is larger than {MAX_BATCH_BYTES // 2**20} MiB"
        elif self._space_left() - self._reserve_bytes < len(batch):
            reason = "spool full"
        else:
            self._flush_pending()
            if self._pending or not self._append_chunks(step, batch, rows):
                reason = "spool could not be written"
        if reason:
            gap = pb.Gap(kind=pb.Gap.BATCH, step=step, count=1, bytes=len(batch), reason=reason, rows=rows)
            self._write_small(_event(gap=gap))

    def _append_chunks(self, step: int, batch: bytes, rows: int) -> bool:
        digest = hashlib.sha256(batch).digest()
        count = -(-len(batch) // CHUNK_BYTES)
        for index in range(count):
            data = batch[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES]
            chunk = pb.BatchChunk(
                step=step, batch=self._batches, index=index, count=count, data=data, digest=digest, rows=rows
            )
            if not self._append(_event(batch=chunk)):
                return False
        return True

    def _space_left(self) -> int:
        # The supervisor removes a segment once all of it is in its log.
        self._segments = [(path, size) for path, size in self._segments if os.path.exists(path)]
        return self._budget_bytes - self._size - sum(size for _, size in self._segments)

    def _append(self, payload: bytes) -> bool:
        frame = encode_frame(payload)
        try:
            if self._fd < 0 or self._size >= SEGMENT_BYTES:
                self._next_segment()
            written = 0
            while written < len(frame):
                written += os.write(self._fd, frame[written:])
        except OSError:
            if self._fd >= 0:
                os.ftruncate(self._fd, self._size)  # no torn frame before the next one
            return False
        self._size += len(frame)
        self._dirty = True
        return True

    def _next_segment(self) -> None:
        self._close_segment()
        path = os.path.join(self._directory, f"{self._writer}-{self._index + 1:06d}{SEGMENT_SUFFIX}")
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._index += 1
        self._path = path
        self._size = 0
        if self._flusher is None and not is_local_file_system(self._directory):
            self._flusher = threading.Thread(
                target=self._flush_for_other_nodes, args=(self._flusher_stop,), name="echelon-spool", daemon=True
            )
            self._flusher.start()

    def _close_segment(self) -> None:
        if self._fd >= 0:
            self._segments.append((self._path, self._size))
            os.close(self._fd)
            self._fd, self._size = -1, 0

    def _flush_for_other_nodes(self, stop: threading.Event) -> None:
        while not stop.wait(0.5):
            try:
                with self._lock:
                    fd = os.dup(self._fd) if self._dirty and self._fd >= 0 else -1
                    self._dirty = False
                if fd >= 0:
                    try:
                        os.fdatasync(fd)
                    finally:
                        os.close(fd)
            except OSError:
                continue


class NullSpool(Spool):
    """Drops every report, so that an engine can be run by hand."""

    def __init__(self) -> None:
        super().__init__("")

    def _report(self, make) -> None:
        pass

    def batch(self, step: int, batch: bytes, rows: int) -> None:
        """Drops the batch."""

    def close(self) -> None:
        """Does nothing."""


def _event(**body) -> bytes:
    return pb.AttemptEvent(time_unix_ms=time.time_ns() // 1_000_000, **body).SerializeToString()
