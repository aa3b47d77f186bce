"""The attempt's lock: its holder owns the log, and no attempt starts twice."""

import os
import subprocess
import sys
from pathlib import Path

from conftest import PACKAGE_ROOT, Client, Server, until
from test_eventlog import read_all

from echelon_rayworker import recovery
from echelon_rayworker.eventlog import EventLogWriter
from echelon_rayworker.files import is_locked, lock_file, write_file
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.supervisor import Hidden


def test_a_supervised_attempt_is_not_recovered(client: Client, server: Server) -> None:
    client.launch("wait=/nonexistent")
    before = until(server.processes_of)
    assert not recovery.recover(str(server.attempt_dir()))
    assert set(before) <= set(server.processes_of())
    client.stop(grace=1)
    assert [event.ended.cause for event in client.events() if event.HasField("ended")] == [pb.Ended.STOPPED]


def test_a_second_supervisor_of_an_attempt_starts_nothing(tmp_path: Path) -> None:
    directory = tmp_path / "experiments" / "exp" / "attempts" / "1"
    directory.mkdir(parents=True)
    plan = pb.LaunchPlan(engine="local", module="json.tool", arguments=["--help"])
    write_file(str(directory / "launch.bin"), pb.LaunchRequest(experiment="exp", attempt=1, plan=plan).SerializeToString())
    log = EventLogWriter(str(directory))
    log.append(pb.AttemptEvent(started=pb.Started(pid=1)))
    log.commit()
    log.close()
    lock_path = str(directory / recovery.LOCK_FILE)
    lock = lock_file(lock_path)
    assert lock is not None
    hidden = Hidden().write()
    command = [
        sys.executable, "-m", "echelon_rayworker.supervisor", str(directory), str(tmp_path), "n", str(lock), str(hidden)
    ]
    subprocess.run(command, pass_fds=[lock, hidden], cwd=PACKAGE_ROOT, check=True, timeout=30)
    os.close(lock)
    os.close(hidden)
    # It holds the lock for as long as it lives.
    until(lambda: not is_locked(lock_path))
    assert len(read_all(directory)) == 1


def test_a_batch_cut_by_the_supervisor_s_death_is_a_gap(tmp_path: Path) -> None:
    log = EventLogWriter(str(tmp_path))
    log.append(pb.AttemptEvent(started=pb.Started(pid=1)))
    log.append(pb.AttemptEvent(batch=pb.BatchChunk(step=4, batch=1, index=0, count=3, rows=12, data=b"x")))
    log.commit()
    log.close()
    assert recovery.recover(str(tmp_path))
    gap, ended = read_all(tmp_path)[2:]
    assert (gap.gap.kind, gap.gap.step, gap.gap.rows) == (pb.Gap.BATCH, 4, 12)
    assert ended.ended.cause == pb.Ended.SUPERVISOR_LOST
    assert recovery.recover(str(tmp_path)) and len(read_all(tmp_path)) == 4  # once


def test_the_spool_of_an_attempt_whose_supervisor_died_is_removed_when_its_end_is_recorded(tmp_path: Path) -> None:
    log = EventLogWriter(str(tmp_path))
    log.append(pb.AttemptEvent(started=pb.Started(pid=1)))
    log.commit()
    log.close()
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "left").write_bytes(b"x")
    assert recovery.recover(str(tmp_path))
    gap, ended = read_all(tmp_path)[1:]
    assert "was not recorded" in gap.gap.reason and ended.ended.cause == pb.Ended.SUPERVISOR_LOST
    assert not (tmp_path / "spool").exists()


def test_an_attempt_of_another_boot_is_a_lost_node_and_its_pids_are_left_alone(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "100"], start_new_session=True)
    record = (
        f'{{"pid": {child.pid}, "startTicks": 1, "host": "h", "bootId": "b", "driverPid": {child.pid}, "driverStartTicks": 1}}'
    )
    write_file(str(tmp_path / "supervisor.json"), record.encode())
    log = EventLogWriter(str(tmp_path))
    log.append(pb.AttemptEvent(started=pb.Started(pid=child.pid)))
    log.commit()
    log.close()
    assert recovery.recover(str(tmp_path))
    assert child.poll() is None
    assert read_all(tmp_path)[-1].ended.cause == pb.Ended.NODE_LOST
    child.kill()
    child.wait()


def test_a_lock_belongs_to_every_process_that_inherits_it(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    fd = lock_file(path)
    assert fd is not None and is_locked(path) and lock_file(path) is None
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[fd])
    os.close(fd)
    assert is_locked(path)
    child.stdin.close()
    child.wait()
    assert not is_locked(path) and not is_locked(str(tmp_path / "missing"))
