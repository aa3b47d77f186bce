import os
import signal
import subprocess
import sys

from conftest import until

from echelon_rayworker import processes


def test_a_process_is_known_by_pid_and_start_time() -> None:
    child = subprocess.Popen(["sleep", "100"])
    known = processes.identify(child.pid)
    assert known and processes.is_alive(known)
    assert not processes.is_alive(processes.ProcessId(known.pid, known.start_ticks - 1))
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not processes.is_alive(known)  # a zombie has ended
    child.wait()


def test_names_with_parentheses_do_not_mislead(tmp_path) -> None:
    odd = tmp_path / "a) R 1 (b"
    os.symlink("/bin/sleep", odd)
    child = subprocess.Popen([str(odd), "100"], start_new_session=True)
    until(lambda: child.pid in processes.members_of_session(child.pid))
    assert child.pid in processes.descendants(os.getpid())
    child.kill()
    child.wait()


def test_end_all_ends_a_whole_tree_also_what_ignores_sigterm() -> None:
    script = "trap '' TERM; sh -c 'setsid sleep 100 & sleep 100' & sleep 100"
    child = subprocess.Popen(["sh", "-c", script], env={**os.environ, "MARK_OF_TEST": str(os.getpid())})
    mark = f"MARK_OF_TEST={os.getpid()}".encode()
    until(lambda: len(processes.marked_by_environment(mark)) >= 4)
    assert processes.end_all(lambda: processes.marked_by_environment(mark), term_seconds=0.05)
    assert processes.marked_by_environment(mark) == []
    child.wait()


def test_reap_leaves_the_excepted_child_to_its_waiter() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    processes.reap(child.pid)
    assert child.wait() == 0


def test_a_child_dies_with_its_parent() -> None:
    code = (
        "import os, subprocess, sys\n"
        "from echelon_rayworker import processes\n"
        "parent = os.getpid()\n"
        "child = subprocess.Popen(['sleep', '100'], preexec_fn=lambda: processes.die_with_parent(parent))\n"
        "print(child.pid, flush=True)\n"
        "os.kill(parent, 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    until(lambda: processes.identify(int(done.stdout)) is None)


def test_oom_kills_is_a_count() -> None:
    assert processes.oom_kills() >= 0


def test_a_child_with_reset_signals_inherits_none_that_is_blocked_or_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        status = subprocess.check_output(["cat", "/proc/self/status"], preexec_fn=processes.reset_signals, text=True)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        signal.signal(signal.SIGHUP, before)
    assert {int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigBlk", "SigIgn"))} == {0}
