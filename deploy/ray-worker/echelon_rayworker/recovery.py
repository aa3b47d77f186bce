"""Ends an attempt whose supervisor died: what it left running, and its log."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import dataclass
from typing import Optional

from echelon_rayworker import launch, processes
from echelon_rayworker.eventlog import EventLogWriter
from echelon_rayworker.files import is_locked, lock_file, read_regular
from echelon_rayworker.gen import rayworker_pb2 as pb

LOCK_FILE = "supervisor.lock"
_MAX_IDENTITY_BYTES = 4096


@dataclass(frozen=True)
class Identity:
    """Who supervises an attempt, as the supervisor wrote it down."""

    supervisor: processes.ProcessId
    driver: Optional[processes.ProcessId]
    host: str
    boot_id: str

    @property
    def is_here(self) -> bool:
        """Whether it is of this machine and this boot, so that its pids mean anything."""
        return self.host == processes.host_name() and self.boot_id == processes.boot_id()


def read_identity(attempt_dir: str) -> Optional[Identity]:
    """The attempt's supervisor; None if none got as far as recording itself."""
    try:
        record = json.loads(read_regular(os.path.join(attempt_dir, launch.SUPERVISOR_FILE), _MAX_IDENTITY_BYTES))
        driver = processes.ProcessId(int(record["driverPid"]), int(record["driverStartTicks"]))
        return Identity(
            processes.ProcessId(int(record["pid"]), int(record["startTicks"])), driver if driver.pid else None,
            str(record["host"]), str(record["bootId"]),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def is_supervised(attempt_dir: str) -> bool:
    """Whether a supervisor of the attempt exists or is on its way. Its lock says so; on a file system that knows
    no locks, its pid and start time do."""
    try:
        return is_locked(os.path.join(attempt_dir, LOCK_FILE))
    except OSError:
        identity = read_identity(attempt_dir)
        return identity is not None and identity.is_here and processes.is_alive(identity.supervisor)


def kill_stuck_supervisor(attempt_dir: str) -> None:
    """Kills a supervisor that ignores a stop (its driver dies with it): one whose driver runs on, or
    never came to be, or that is itself suspended. One that only waits for room to record the end is left alone."""
    identity = read_identity(attempt_dir)
    if identity is None or not identity.is_here or not processes.is_alive(identity.supervisor):
        return
    driver_ended = identity.driver is not None and not processes.is_alive(identity.driver)
    if driver_ended and not processes.is_suspended(identity.supervisor.pid):
        return
    kill_supervisor(attempt_dir)


def terminate_supervisor(attempt_dir: str) -> None:
    """Tells the attempt's supervisor by SIGTERM to end its driver: for when a request by file cannot reach it."""
    identity = read_identity(attempt_dir)
    if identity is not None and identity.is_here and processes.is_alive(identity.supervisor):
        processes.send_signal([identity.supervisor.pid], signal.SIGTERM)


def kill_supervisor(attempt_dir: str) -> None:
    """Kills the attempt's supervisor if it runs on this machine; its driver dies with it."""
    identity = read_identity(attempt_dir)
    if identity is not None and identity.is_here:
        processes.end_all(lambda: [identity.supervisor.pid] if processes.is_alive(identity.supervisor) else [], 0)


def recover(attempt_dir: str) -> bool:
    """Ends what a dead supervisor left and records the end. False if a supervisor holds the attempt after all.
    OSError: the disk refuses; to be tried again."""
    lock = lock_file(os.path.join(attempt_dir, LOCK_FILE), wait_seconds=0.1)
    if lock is None:
        return False
    try:
        identity = read_identity(attempt_dir)
        if identity is None or identity.is_here:
            processes.end_all(lambda: _left(attempt_dir, identity), 0)
        launch.forget_hidden(attempt_dir)
        log = EventLogWriter(attempt_dir)
        try:
            if not log.ended:
                _record_end(log, attempt_dir, identity)
        finally:
            log.close()
        # Not before the end is on disk: the spool says that reports may be missing.
        shutil.rmtree(os.path.join(attempt_dir, launch.SPOOL_DIRECTORY), ignore_errors=True)
        return True
    finally:
        os.close(lock)


def _left(attempt_dir: str, identity: Optional[Identity]) -> list[int]:
    """The processes of the attempt that still run: its driver's session, and those with the attempt's mark."""
    spool = os.path.join(attempt_dir, launch.SPOOL_DIRECTORY)
    found = set(processes.marked_by_environment(f"ECHELON_SPOOL={spool}".encode()))
    if identity and identity.driver:
        leader = processes.identify(identity.driver.pid)
        # The pid may by now lead a session of another program.
        if leader is None or leader == identity.driver:
            found.update(processes.members_of_session(identity.driver.pid))
    return [pid for pid in found if pid != os.getpid()]


def _record_end(log: EventLogWriter, attempt_dir: str, identity: Optional[Identity]) -> None:
    last = log.last_event
    if last is not None and last.HasField("batch") and last.batch.index + 1 < last.batch.count:
        log.append(pb.AttemptEvent(gap=pb.Gap(
            kind=pb.Gap.BATCH, step=last.batch.step, count=1, rows=last.batch.rows,
            reason="the supervisor died while it recorded the batch",
        )))
    if last is not None and os.path.isdir(os.path.join(attempt_dir, launch.SPOOL_DIRECTORY)):
        log.append(pb.AttemptEvent(gap=pb.Gap(
            reason="the supervisor died: what was printed or reported in its last moments was not recorded",
        )))
    ended = pb.Ended(cause=pb.Ended.SUPERVISOR_LOST, message="the supervisor died; the driver was ended with it")
    if last is None:
        ended.cause, ended.message = pb.Ended.NOT_STARTED, "the ray-worker was interrupted before the driver's start"
    elif os.path.exists(os.path.join(attempt_dir, launch.STOP_FILE)):
        ended.cause, ended.message = pb.Ended.STOPPED, "stopped: the supervisor did not answer and was ended too"
    elif identity is not None and not identity.is_here:
        ended.cause, ended.message = pb.Ended.NODE_LOST, f"the node {identity.host} was lost or started anew"
    log.append(pb.AttemptEvent(ended=ended))
    log.commit()
