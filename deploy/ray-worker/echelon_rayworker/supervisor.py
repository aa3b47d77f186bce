"""The supervisor: one process that owns one driver and is the only writer of its attempt's event log.

    python -m echelon_rayworker.supervisor ATTEMPT_DIR SHARED_ROOT NODE_ID LOCK_FD HIDDEN_FD

The ray-worker starts it with the attempt's lock (a flock on an inherited descriptor), what is to be kept out of sight
(``Hidden``, in a file without a name: no value of it is ever on a disk) and an environment made by
``launch.base_environment``. It forks away from the ray-worker, so that it is in no other process group and no other's
child, starts the driver, records what the driver prints and reports, carries out ``stop.json`` and records how the
driver ended. The lock is free exactly when no supervisor of the attempt exists or is on its way.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Optional

from echelon_rayworker import launch, processes, storecompanion
from echelon_rayworker.attemptlog import AttemptLog
from echelon_rayworker.bounds import MAX_REASON_CHARACTERS, shortened
from echelon_rayworker.drain import PipeDrain
from echelon_rayworker.ending import Circumstances, describe_end, last_lines
from echelon_rayworker.eventlog import EventLogWriter
from echelon_rayworker.files import is_regular, read_regular, write_file
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.nodestates import lost_nodes
from echelon_rayworker.programvariables import program_environment
from echelon_rayworker.redaction import Redactor, secret_values
from echelon_rayworker.reports import Report, redact_report
from echelon_rayworker.spooltail import SpoolTail
from echelon_rayworker.systemmetrics import SystemMetrics

TICK_SECONDS = 0.02
IDLE_TICK_SECONDS = 0.05
# What remains of a driver that ended by itself gets this long between SIGTERM and SIGKILL.
REMNANT_SECONDS = 1.0
# Reading of reports between two looks at the driver, the log and a stop.
POLL_SECONDS = 0.25
# Reading of what is left when the driver has ended; a stop must not wait long.
DRAIN_SECONDS = 60.0
STOPPED_DRAIN_SECONDS = 2.0
# The pipes are at their ends when no process of the driver is left; more is not waited for.
PIPES_SECONDS = 2.0
MAX_GRACE_MS = 3_600_000
MAX_STOP_BYTES = 64 * 1024
MAX_NOTE_BYTES = 64 * 1024
IGNORED_SIGNALS = (signal.SIGHUP, signal.SIGINT)


@dataclass(frozen=True)
class Hidden:
    """What must not be seen: the driver's secrets by their variables, and values that are only masked."""

    variables: dict[str, str] = field(default_factory=dict)
    masked: list[str] = field(default_factory=list)

    @staticmethod
    def read(fd: int) -> "Hidden":
        """From the descriptor that the ray-worker handed over, which is closed."""
        os.lseek(fd, 0, os.SEEK_SET)
        with open(fd, "rb") as file:
            record = json.load(file)
        return Hidden(record["variables"], record["masked"])

    def write(self) -> int:
        """A descriptor for ``read``, to be inherited."""
        fd = os.memfd_create("echelon-hidden")
        with open(fd, "wb", closefd=False) as file:
            file.write(json.dumps({"variables": self.variables, "masked": self.masked}).encode())
        return fd


class Supervisor:
    """One attempt, from the driver's start to the recorded end."""

    def __init__(
        self, directories: launch.Directories, request: pb.LaunchRequest, node_id: str, hidden: Hidden = Hidden()
    ) -> None:
        self._hidden = hidden
        self._directories = directories
        self._request = request
        self._node_id = node_id
        self._log = EventLogWriter(directories.attempt)
        self._attempt_log = AttemptLog(self._log, directories.attempt, request.plan.log_budget_bytes)
        self._spool_directory = os.path.join(directories.attempt, launch.SPOOL_DIRECTORY)
        self._spool = SpoolTail(self._spool_directory)
        nodes = [node.id for node in request.plan.nodes] or [node_id]
        self._system = SystemMetrics(self._state_dir, nodes, request.attempt, request.plan.environment)
        self._oom_kills_before = processes.oom_kills()
        self._told_to_end = False
        self._stop_reason: Optional[str] = None
        self._stop_file_seen = (0, 0)
        self._kill_at: Optional[float] = None
        self._store: Optional[storecompanion.Companion] = None
        self._drains: list[PipeDrain] = []

    def run(self) -> None:
        """Starts the driver and returns after its end has been recorded."""
        if self._log.last_sequence > 0:
            return  # it ran before: an attempt is started once
        signal.signal(signal.SIGTERM, self._on_sigterm)
        self._write_identity(None)
        self._read_stop()
        if self._stop_reason is not None:
            self._end(pb.Ended(cause=pb.Ended.STOPPED, message=f"stopped before its start: {self._stop_reason}"))
            return
        processes.become_subreaper()
        environment = launch.driver_environment(
            os.environ, self._request, self._directories, self._hidden.variables
        )
        command = launch.driver_command(self._request.plan, self._directories)
        redactor = Redactor([*secret_values(program_environment(environment), self._hidden.variables), *self._hidden.masked])
        self._reports = redactor.lines()
        if not self._fetch_checkpoint(environment, redactor):
            return
        try:
            os.makedirs(self._spool_directory, mode=0o700, exist_ok=True)
            driver = self._start_driver(command, environment)
        except (OSError, subprocess.SubprocessError) as error:
            message = redactor.text(str(error))
            self._end(pb.Ended(cause=pb.Ended.NOT_STARTED, message=message, exit_code=126))
            return
        self._write_identity(driver.pid)
        self._attempt_log.event(pb.AttemptEvent(started=pb.Started(
            pid=driver.pid, node_id=self._node_id, command=redactor.command(command)
        )))
        self._attempt_log.commit()
        pipes = {driver.stdout.fileno(): pb.LogLines.STDOUT, driver.stderr.fileno(): pb.LogLines.STDERR}
        drain = PipeDrain({os.dup(fd): source for fd, source in pipes.items()}, redactor)
        self._drains.append(drain)
        driver.stdout.close()
        driver.stderr.close()
        status = self._watch(driver.pid, drain)
        ended_at = time.time()
        self._end_remnants(driver.pid)
        is_whole = drain.join(PIPES_SECONDS)
        self._take()
        if not is_whole:
            reason = "the output was not read to its end, since another process holds it open"
            self._attempt_log.event(pb.AttemptEvent(gap=pb.Gap(kind=pb.Gap.LOGS, reason=reason)))
        self._drain_spool()
        self._finish_store()
        self._end(describe_end(status, Circumstances(
            stop_reason=self._stop_reason,
            told_to_end=self._told_to_end,
            kernel_oom_kills=processes.oom_kills() - self._oom_kills_before,
            last_lines=last_lines(drain.last_lines(pb.LogLines.STDERR), drain.last_lines(pb.LogLines.STDOUT)),
            lost_nodes=lambda: self._lost_nodes(ended_at),
        )))

    def _lost_nodes(self, since: float) -> dict[str, str]:
        # This process shows that its own node is alive.
        others = {node.id for node in self._request.plan.nodes} - {self._node_id}
        return lost_nodes(self._state_dir, others, since)

    @property
    def _state_dir(self) -> str:
        return os.path.dirname(os.path.dirname(self._directories.experiment))

    def _start_driver(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen:
        parent = os.getpid()

        def prepare() -> None:
            processes.die_with_parent(parent)
            processes.reset_signals()

        return subprocess.Popen(
            command,
            env=environment,
            cwd=self._directories.attempt,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=prepare,
        )

    def _watch(self, driver: int, drain: PipeDrain) -> int:
        """Records until the driver has ended; returns its wait status."""
        while True:
            status = self._wait_status(driver)
            if status is not None:
                return status
            drain.changed.wait(IDLE_TICK_SECONDS)
            drain.changed.clear()
            # A little is gathered, so that a flush serves many lines.
            time.sleep(TICK_SECONDS)
            self._take()
            if not self._attempt_log.blocked:
                self._poll_spool()
                if (point := self._system.take(lambda: self._left(driver))) is not None:
                    self._attempt_log.report(point)
            if self._attempt_log.commit():
                self._spool.remove_consumed()
            self._carry_out_stop(driver)

    def _wait_status(self, driver: int) -> Optional[int]:
        if self._store is not None:
            self._store.tick()
            self._record_stored()
        processes.reap(driver, self._store.pid if self._store else 0)
        pid, status = os.waitpid(driver, os.WNOHANG)
        return status if pid == driver else None

    def _take(self) -> None:
        for drain in self._drains:
            for run in drain.take():
                self._attempt_log.lines(run)
            for source, text in drain.take_progress():
                self._attempt_log.progress(source, text)
            self._attempt_log.lines_dropped(*drain.take_dropped(), "printed faster than it could be recorded")

    def _fetch_checkpoint(self, environment: dict[str, str], redactor: Redactor) -> bool:
        """Downloads the newest checkpoint of a spec with a store; False if the attempt has ended because it cannot."""
        settings = storecompanion.settings_in(self._request.plan, self._directories)
        if settings is None:
            return True
        lines, self._store_output = os.pipe()
        self._drains.append(PipeDrain({lines: pb.LogLines.STDERR}, redactor))
        names = (self._request.experiment, self._directories.experiment)
        self._store = storecompanion.Companion(settings, names, environment, self._store_output)
        stopped = lambda: self._told_to_end or self._read_stop() is not None or self._stop_reason is not None  # noqa: E731
        if self._store.download(stopped):
            self._note_local()
            return True
        os.close(self._store_output)
        self._drains[0].join(PIPES_SECONDS)
        self._take()
        if self._stop_reason is None:
            message = "the checkpoints in checkpointStore cannot be read; the log says why"
            self._end(pb.Ended(cause=pb.Ended.NOT_STARTED, message=message, exit_code=126))
        else:
            self._end(pb.Ended(cause=pb.Ended.STOPPED, message=f"stopped before its start: {self._stop_reason}"))
        return False

    def _note_local(self) -> None:
        """An earlier attempt here may have ended before its last checkpoint was in the store."""
        try:
            path = os.path.join(self._directories.experiment, launch.CHECKPOINT_FILE)
            noted = json.loads(read_regular(path, MAX_NOTE_BYTES))
            if 0 <= (step := int(noted["step"])) < 2**53:
                self._store.note(step, str(noted["path"]))  # type: ignore[union-attr]
        except (OSError, ValueError, TypeError, KeyError):
            pass

    def _record_stored(self) -> None:
        """What a later attempt may download. A driver cannot report it: see ReportBounds."""
        for step, manifest in self._store.take_stored():  # type: ignore[union-attr]
            self._attempt_log.event(pb.AttemptEvent(stored=pb.StoredCheckpoint(step=step, manifest=manifest)))

    def _finish_store(self) -> None:
        """Waits until the last checkpoint is in the store: an attempt elsewhere may resume from it. A stop ends the wait."""
        if self._store is None:
            return
        self._attempt_log.commit()

        def given_up() -> bool:
            self._take()
            self._attempt_log.commit()
            grace_ms = self._read_stop()
            if grace_ms is not None or (self._told_to_end and self._kill_at is None):
                self._kill_at = time.monotonic() + (grace_ms or launch.DEFAULT_GRACE_MS) / 1000
            return self._kill_at is not None and time.monotonic() > self._kill_at

        self._store.finish(given_up)
        self._record_stored()
        os.close(self._store_output)
        self._drains[0].join(PIPES_SECONDS)
        self._take()

    def _poll_spool(self, seconds: float = POLL_SECONDS) -> bool:
        """Records what has been reported, for so long at most; returns whether there may be more."""
        until = time.monotonic() + seconds
        found, checkpoint = False, None
        for report in self._spool.poll():
            found = True
            self._record(report)
            if isinstance(report, pb.AttemptEvent) and report.HasField("checkpoint"):
                checkpoint = report.checkpoint
            if time.monotonic() >= until:
                break
        if checkpoint is not None:
            self._note_checkpoint(checkpoint)
        return found or not self._spool.idle

    def _record(self, report: Report) -> None:
        """The only way from the spool to the event log: a secret is masked on it."""
        redact_report(report, self._reports)
        if isinstance(report, pb.AttemptEvent) and report.HasField("metrics"):
            self._system.note(report.metrics.step)
        self._attempt_log.report(report)

    def _note_checkpoint(self, checkpoint: pb.Checkpoint) -> None:
        """For the next attempt: events of this one may be deleted before."""
        path = os.path.join(self._directories.experiment, launch.CHECKPOINT_FILE)
        try:
            write_file(path, json.dumps({"step": checkpoint.step, "path": checkpoint.path}).encode())
        except OSError:
            pass  # a full disk; the next checkpoint is noted again
        if self._store is not None:
            self._store.note(checkpoint.step, checkpoint.path)

    def _drain_spool(self) -> None:
        """Records what was reported until the driver ended. What cannot be read in time is a gap: the end of an
        attempt waits neither for a spool without end nor for a process elsewhere that still writes into it."""
        until = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < until and self._poll_spool():
            self._attempt_log.commit()
            if self._stop_reason is not None or self._read_stop() is not None:
                until = min(until, time.monotonic() + STOPPED_DRAIN_SECONDS)
        for report in self._spool.finish():
            self._record(report)

    def _on_sigterm(self, _number: int, _frame: object) -> None:
        self._told_to_end = True

    def _read_stop(self) -> Optional[int]:
        """The grace period of a stop that was asked for since the last look, in milliseconds."""
        path = os.path.join(self._directories.attempt, launch.STOP_FILE)
        try:
            known = os.lstat(path)
            seen = (known.st_ino, known.st_mtime_ns)
            if seen == self._stop_file_seen:
                return None
            stop = json.loads(read_regular(path, MAX_STOP_BYTES))
            grace_ms, reason = min(max(0, int(stop["graceMs"])), MAX_GRACE_MS), str(stop["reason"])
        except Exception:  # noqa: BLE001 - what a training puts there must not end its supervisor
            return None
        self._stop_file_seen = seen
        if self._stop_reason is None:
            self._stop_reason = shortened(reason, MAX_REASON_CHARACTERS)
        return grace_ms

    def _carry_out_stop(self, driver: int) -> None:
        grace_ms = self._read_stop()
        if grace_ms is None and self._told_to_end and self._kill_at is None:
            grace_ms = self._request.plan.grace_period_ms or launch.DEFAULT_GRACE_MS
        now = time.monotonic()
        if grace_ms is not None:
            if self._kill_at is None:
                self._signal_group(driver, signal.SIGTERM)
            # A second stop may shorten the time that is left, never lengthen it.
            self._kill_at = min(now + grace_ms / 1000, self._kill_at or float("inf"))
        if self._kill_at is not None and now >= self._kill_at:
            self._signal_group(driver, signal.SIGKILL)
            processes.send_signal(self._left(driver), signal.SIGKILL)

    def _signal_group(self, driver: int, number: int) -> None:
        try:
            os.killpg(driver, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _left(self, driver: int) -> list[int]:
        left = {*processes.descendants(os.getpid()), *processes.members_of_session(driver)}
        return [*left - {self._store.pid if self._store else 0}]

    def _end_remnants(self, driver: int) -> None:
        """Ends every process that outlived the driver, in its group or out of it."""
        term_seconds = REMNANT_SECONDS
        if self._kill_at is not None:
            term_seconds = max(0.0, min(term_seconds, self._kill_at - time.monotonic()))
        processes.end_all(lambda: self._left(driver), term_seconds)

    def _end(self, ended: pb.Ended) -> None:
        """Records the end; on a disk that refuses it, waits for room as long as it takes."""
        self._attempt_log.commit(everything=True)
        self._restore_launch()
        self._attempt_log.event(pb.AttemptEvent(ended=ended))
        while not self._attempt_log.commit(everything=True):
            time.sleep(0.2)
        launch.forget_hidden(self._directories.attempt)
        self._spool.close()
        self._log.close()
        shutil.rmtree(self._spool_directory, ignore_errors=True)

    def _restore_launch(self) -> None:
        """An attempt is known by its launch file, which a training can remove."""
        path = os.path.join(self._directories.attempt, launch.LAUNCH_FILE)
        try:
            if not is_regular(path):
                write_file(path, self._request.SerializeToString())
        except OSError:
            pass

    def _write_identity(self, driver: Optional[int]) -> None:
        """Who supervises, for the ray-worker to find again after a restart."""
        own = processes.identify(os.getpid())
        known = processes.identify(driver) if driver is not None else None
        record = {
            "pid": os.getpid(),
            "startTicks": own.start_ticks if own else 0,
            "host": processes.host_name(),
            "bootId": processes.boot_id(),
            "driverPid": driver or 0,
            "driverStartTicks": known.start_ticks if known else 0,
        }
        try:
            write_file(os.path.join(self._directories.attempt, launch.SUPERVISOR_FILE), json.dumps(record).encode())
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise


def main(arguments: list[str]) -> int:
    """The process's whole life; returns 0 in the first process, whose only task is to be left."""
    attempt, shared_root, node_id, lock_fd, hidden_fd = arguments
    os.set_inheritable(int(lock_fd), False)
    if os.fork() != 0:
        return 0  # the ray-worker waits for this one; the supervisor is then an orphan
    hidden = Hidden.read(int(hidden_fd))
    processes.outlive_parent()
    processes.reset_signals()
    for number in IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    experiment = os.path.dirname(os.path.dirname(attempt))
    with open(os.path.join(attempt, launch.LAUNCH_FILE), "rb") as file:
        request = pb.LaunchRequest.FromString(file.read())
    Supervisor(launch.Directories(attempt, experiment, shared_root), request, node_id, hidden).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
