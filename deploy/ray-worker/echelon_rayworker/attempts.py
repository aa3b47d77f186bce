"""The state directory: what was launched, what is fenced, and the way back to it after a restart.

    <state_dir>/generation                                  made once; another one means another state directory
    <state_dir>/experiments/<experiment>/fence.json         highest attempt launched, highest tombstone
    <state_dir>/experiments/<experiment>/attempts/<n>/      launch.bin, events-*, spool/, supervisor.*, stop.json

What holds: the fence is on disk before a launch, and a launch before its supervisor starts. An attempt at or below
the tombstone, or below the highest one launched, never starts. At most one attempt of an experiment runs: a launch,
and a stop, of an attempt ends the lower ones first.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections import defaultdict
from typing import Mapping, Optional

from echelon_rayworker import launch, recovery
from echelon_rayworker.bounds import shortened
from echelon_rayworker.eventlog import DataLoss, Progress, read_last_event, read_progress
from echelon_rayworker.fence import Fence, read_fence, write_fence
from echelon_rayworker.files import is_regular, lock_file, make_directories, write_file
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.secretstore import SecretStore
from echelon_rayworker.supervisor import MAX_GRACE_MS, Hidden

POLL_SECONDS = 0.01
START_SECONDS = 30.0
# A stop that is not carried out this long after the grace period is carried out without the supervisor.
STOP_MARGIN_SECONDS = 2.5
STOP_LIMIT_SECONDS = 5.0
MAX_ATTEMPT = 2**32 - 1
# Of the message of an attempt's end in a list.
MAX_MESSAGE_CHARACTERS = 1000
_ATTEMPT = re.compile(r"[1-9][0-9]{0,9}")


class Exhausted(Exception):
    """The disk is full or no process can be made."""


class NotEnded(Exception):
    """A stop was passed on, and its end is not recorded yet."""


class AttemptStore:
    """All attempts of one state directory. Methods block and may be called from any thread; one store per state
    directory exists at a time (the caller sees to it)."""

    def __init__(
        self, state_dir: str, shared_root: str, *, node_id: str = "", environment: Mapping[str, str],
        secrets: Optional[SecretStore] = None, masked: tuple[str, ...] = (),
    ) -> None:
        """``environment``: what supervisors and drivers start from (``launch.base_environment``). ``masked``: values
        that never show in what a driver prints, though it is not given them."""
        self.state_dir = os.path.abspath(state_dir)
        self._experiments = os.path.join(self.state_dir, "experiments")
        self._shared_root = os.path.abspath(shared_root)
        self._node_id = node_id
        self._environment = dict(environment)
        self._secrets = secrets or SecretStore(os.path.join(os.path.abspath(state_dir), "secrets"), {})
        self._masked = list(masked)
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._ended: dict[str, pb.Ended] = {}
        self._open: set[str] = set()
        make_directories(self._experiments)
        for experiment in self._known_experiments():
            self._open.update(self._directory(experiment, attempt) for attempt in self._attempts(experiment))
        self.generation = _generation(os.path.join(os.path.abspath(state_dir), "generation"))

    @property
    def shared_root(self) -> str:
        """The file system that all nodes of the cluster see."""
        return self._shared_root

    def find(self, experiment: str, attempt: int) -> Optional[str]:
        """The directory of an attempt that was launched here; None for any other."""
        directory = self._directory(experiment, attempt)
        if is_regular(os.path.join(directory, launch.LAUNCH_FILE)):
            return directory
        # A training may have removed the file: one that runs is not unknown for that.
        return directory if directory in self._open or recovery.is_supervised(directory) else None

    def launch(self, request: pb.LaunchRequest) -> pb.LaunchResponse:
        """Starts an attempt at most once. InvalidLaunch, OtherVersion, UnusableSecret, Exhausted."""
        launch.check_request(request)
        experiment, attempt = request.experiment, request.attempt
        with self._locks[experiment]:
            fence = self._read_fence(experiment)
            if attempt <= fence.tombstone:
                return _fenced(fence.tombstone, f"attempt {fence.tombstone} was stopped before its launch")
            if attempt < fence.highest:
                return _fenced(fence.highest, f"attempt {fence.highest} was launched")
            directory = self.find(experiment, attempt)
            if directory is not None:
                running = self._end_of(directory) is None
                outcome = pb.LaunchResponse.ALREADY_RUNNING if running else pb.LaunchResponse.ALREADY_ENDED
                return pb.LaunchResponse(outcome=outcome)
            # Before anything is changed: a launch that is refused, or lacks a secret, has not happened.
            launch.check_version(request.plan)
            hidden = Hidden(self._secrets.resolve(request.plan.secrets), self._masked)
            try:
                self._write_fence(experiment, Fence(attempt, fence.tombstone))
                self._end_lower(experiment, attempt, f"attempt {attempt} was launched")
                self._start(request, hidden)
            except OSError as error:
                raise Exhausted(str(error)) from error
            return pb.LaunchResponse(outcome=pb.LaunchResponse.STARTED)

    def stop(self, request: pb.StopRequest) -> pb.StopResponse:
        """Ends an attempt and the lower ones, or writes its tombstone. InvalidLaunch, Exhausted, NotEnded."""
        experiment, attempt = request.experiment, request.attempt
        launch.check_id(experiment, attempt)
        with self._locks[experiment]:
            directory = self.find(experiment, attempt)
            if directory is None:
                fence = self._read_fence(experiment)
                try:
                    self._write_fence(experiment, Fence(fence.highest, max(fence.tombstone, attempt)))
                except OSError as error:
                    raise Exhausted(str(error)) from error
        self._end_lower(experiment, attempt, f"attempt {attempt} was stopped")
        if directory is None:
            return pb.StopResponse(dropped=True)
        return pb.StopResponse(ended=self._stop_known(directory, request.grace_period_ms, request.reason))

    def forget(self, request: pb.ForgetRequest) -> pb.ForgetResponse:
        """Deletes the directories of ended attempts up to one. InvalidLaunch, Exhausted, NotEnded."""
        experiment, attempt = request.experiment, request.attempt
        launch.check_id(experiment, attempt)
        with self._locks[experiment]:
            if not os.path.isdir(os.path.join(self._experiments, experiment)):
                return pb.ForgetResponse()
            known = [number for number in self._attempts(experiment) if number <= attempt]
            if any(self._end_of(self._directory(experiment, number)) is None for number in known):
                raise NotEnded("an attempt to be forgotten still runs")
            fence = self._read_fence(experiment)
            try:
                # First: without its directory, an attempt would look as if it had never been launched.
                self._write_fence(experiment, Fence(fence.highest, max(fence.tombstone, min(attempt, fence.highest))))
            except OSError as error:
                raise Exhausted(str(error)) from error
            for directory in self._directories_up_to(experiment, attempt):
                shutil.rmtree(directory, ignore_errors=True)
                self._ended.pop(directory, None)
                self._open.discard(directory)
            return pb.ForgetResponse(forgotten=len(known))

    def _directories_up_to(self, experiment: str, attempt: int) -> list[str]:
        """Also those whose deletion was cut short."""
        numbers = self._numbers(experiment)
        return [self._directory(experiment, number) for number in numbers if number <= attempt]

    def list(self, experiment: str = "") -> list[pb.AttemptStatus]:
        """All attempts and tombstones, of one experiment or of all, newest first."""
        experiments = [experiment] if experiment else self._known_experiments()
        found: list[pb.AttemptStatus] = []
        for name in experiments:
            attempts = self._attempts(name)
            found += [self._status(name, attempt) for attempt in attempts]
            try:
                fence = self._read_fence(name)
            except DataLoss:
                continue  # one experiment's damage must not hide the others
            # Not those of forgotten attempts: they were launched, and there is one for every experiment that ever ran.
            if fence.tombstone > fence.highest:
                found.append(pb.AttemptStatus(experiment=name, attempt=fence.tombstone, tombstone=True))
        return sorted(found, key=lambda status: (status.launched_at_unix_ms, status.attempt), reverse=True)

    def sweep(self) -> None:
        """Ends the attempts whose supervisors died; to be called at the start and every second or so."""
        for directory in list(self._open):
            try:
                self._end_of(directory)
            except Exception as error:  # noqa: BLE001 - one attempt's trouble must not end the watch over the others
                print(f"{directory}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)

    def _directory(self, experiment: str, attempt: int) -> str:
        return os.path.join(self._experiments, experiment, "attempts", str(attempt))

    def _attempts(self, experiment: str) -> list[int]:
        return [number for number in self._numbers(experiment) if self.find(experiment, number)]

    def _known_experiments(self) -> list[str]:
        return sorted(name for name in os.listdir(self._experiments) if launch.is_experiment(name))

    def _numbers(self, experiment: str) -> list[int]:
        """Numbers of the attempts that have a directory. What a training puts beside them is ignored."""
        try:
            names = os.listdir(os.path.join(self._experiments, experiment, "attempts"))
        except OSError:
            return []
        return sorted(int(name) for name in names if _ATTEMPT.fullmatch(name) and int(name) <= MAX_ATTEMPT)

    def _end_of(self, directory: str) -> Optional[pb.Ended]:
        """How an attempt ended; None while it runs. Recovers one whose supervisor died."""
        ended = self._ended.get(directory)
        if ended is not None:
            return ended
        # Looked at first: a supervisor that ends in between has recorded the end before it lets go.
        supervised = recovery.is_supervised(directory)
        progress = _progress_or_none(directory)
        if not supervised and (progress is None or not progress.ended):
            try:
                recovery.recover(directory)
            except OSError:
                return None  # the disk is full: the next sweep tries again
            progress = read_progress(directory)
        return self._remember_end(directory, progress) if progress and progress.ended else None

    def _remember_end(self, directory: str, progress: Progress) -> pb.Ended:
        try:
            event = read_last_event(directory, progress)
            ended = event.ended if event else pb.Ended()
        except DataLoss as error:
            ended = pb.Ended(message=f"it has ended; how is lost: {error}")
        self._ended[directory] = ended
        self._open.discard(directory)
        return ended

    def _status(self, experiment: str, attempt: int) -> pb.AttemptStatus:
        directory = self._directory(experiment, attempt)
        status = pb.AttemptStatus(experiment=experiment, attempt=attempt, running=True)
        try:
            ended = self._end_of(directory)
            if ended is not None:
                status.running = False
                status.ended.CopyFrom(ended)
                del status.ended.last_lines[:]  # a list of many failed attempts must fit into one message
                status.ended.message = shortened(ended.message, MAX_MESSAGE_CHARACTERS)
            status.launched_at_unix_ms = os.lstat(os.path.join(directory, launch.LAUNCH_FILE)).st_mtime_ns // 1_000_000
            progress = _progress_or_none(directory)
            status.last_sequence = progress.last_sequence if progress else 0
        except Exception as error:  # noqa: BLE001 - one attempt's damage must not hide the others
            print(f"{directory}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return status

    def _start(self, request: pb.LaunchRequest, hidden: Hidden) -> None:
        directory = self._directory(request.experiment, request.attempt)
        make_directories(directory)
        launch.write_files(request.plan, directory)
        lock = lock_file(os.path.join(directory, recovery.LOCK_FILE), wait_seconds=5.0)
        if lock is None:
            raise OSError("the attempt's lock is held")
        launch_file = os.path.join(directory, launch.LAUNCH_FILE)
        trouble: Optional[OSError] = None
        try:
            write_file(launch_file, request.SerializeToString())
            self._open.add(directory)
            self._start_supervisor(directory, lock, hidden)
        except OSError as error:
            trouble = error
        finally:
            os.close(lock)
        if trouble is not None and not _has_started(directory):
            self._open.discard(directory)
            if os.path.exists(launch_file):
                os.unlink(launch_file)  # the launch may be repeated
            raise trouble
        self._wait_for(directory, lambda progress: progress.last_sequence > 0, START_SECONDS)

    def _start_supervisor(self, directory: str, lock: int, hidden: Hidden) -> None:
        hidden_fd = hidden.write()
        try:
            with open(os.path.join(directory, "supervisor.log"), "ab") as log:
                first = subprocess.Popen(
                    [sys.executable, "-m", "echelon_rayworker.supervisor", directory, self._shared_root,
                     self._node_id, str(lock), str(hidden_fd)],
                    env=self._environment, cwd="/", pass_fds=[lock, hidden_fd], stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log, start_new_session=True,
                )
        finally:
            os.close(hidden_fd)
        # It forks the supervisor and ends.
        try:
            code = first.wait(timeout=START_SECONDS)
        except subprocess.TimeoutExpired as error:
            first.kill()
            first.wait()
            raise OSError("the supervisor did not start in time") from error
        if code != 0:
            raise OSError(f"the supervisor could not be started (exit code {code})")

    def _end_lower(self, experiment: str, attempt: int, reason: str) -> None:
        for lower in reversed(self._attempts(experiment)):
            directory = self._directory(experiment, lower)
            if lower < attempt and self._end_of(directory) is None:
                self._stop_known(directory, 0, reason)

    def _stop_known(self, directory: str, grace_ms: int, reason: str) -> pb.Ended:
        ended = self._end_of(directory)
        if ended is not None:
            return ended
        grace_ms = min(grace_ms or launch.planned_grace_ms(directory), MAX_GRACE_MS)
        try:
            stop = json.dumps({"graceMs": grace_ms, "reason": reason}).encode()
            write_file(os.path.join(directory, launch.STOP_FILE), stop)
        except OSError:
            # Also on a full disk: the driver to be stopped may be the one that fills it.
            recovery.terminate_supervisor(directory)
        if not self._wait_for(directory, lambda progress: progress.ended, grace_ms / 1000 + STOP_MARGIN_SECONDS):
            recovery.kill_stuck_supervisor(directory)
            self._wait_for(directory, lambda progress: progress.ended, STOP_LIMIT_SECONDS - STOP_MARGIN_SECONDS)
        ended = self._end_of(directory)
        if ended is None:
            raise NotEnded("the end is not recorded yet")
        return ended

    def _wait_for(self, directory: str, condition, seconds: float) -> bool:
        """Waits until the log's progress meets the condition, or its supervisor is gone."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            supervised = recovery.is_supervised(directory)
            progress = _progress_or_none(directory)
            if progress is not None and condition(progress):
                return True
            if not supervised:
                return self._end_of(directory) is not None
            time.sleep(POLL_SECONDS)
        return False

    def _read_fence(self, experiment: str) -> Fence:
        return read_fence(os.path.join(self._experiments, experiment))

    def _write_fence(self, experiment: str, fence: Fence) -> None:
        write_fence(os.path.join(self._experiments, experiment), fence)


def _has_started(directory: str) -> bool:
    """Whether a supervisor exists, is on its way or has been there, once the ray-worker has let go of the attempt's lock. The first
    process may have been killed after it forked the supervisor, so its exit code does not say that."""
    if recovery.is_supervised(directory):
        return True
    progress = _progress_or_none(directory)
    return progress is None or progress.last_sequence > 0


def _progress_or_none(directory: str) -> Optional[Progress]:
    """The progress; None where its record is damaged (the next commit, or the recovery, makes it anew)."""
    try:
        return read_progress(directory)
    except DataLoss:
        return None


def _fenced(attempt: int, reason: str) -> pb.LaunchResponse:
    return pb.LaunchResponse(outcome=pb.LaunchResponse.FENCED, fencing_attempt=attempt, reason=reason)


def _generation(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        write_file(path, uuid.uuid4().hex.encode())
        with open(path, encoding="ascii") as file:
            return file.read().strip()
