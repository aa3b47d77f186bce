"""The process of Node that belongs to a Python process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import right_batch

import echelon_verify
from echelon_verify import VerifierError
from echelon_verify.verifier import shared

OWN = "import sys, os; sys.path[:0] = {paths!r}; from conftest import right_batch; import echelon_verify as ev; from echelon_verify.verifier import shared; ev.verify(**right_batch()); "


def child_of(script: str) -> subprocess.Popen:
    code = OWN.format(paths=[os.path.dirname(__file__), *sys.path]) + script
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def ends(pid: int) -> bool:
    """Whether the process ends within 20 s. A process that has ended and waits for its parent counts as ended."""
    for _ in range(400):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def verified(queue) -> None:
    report = echelon_verify.verify(**right_batch())
    queue.put((report.ok, shared.pid))


def test_calls_share_one_process(batch):
    echelon_verify.verify(**batch)
    first = shared.pid
    echelon_verify.verify(**batch)
    assert shared.pid == first is not None


def test_a_forked_process_verifies_with_a_process_of_its_own(batch):
    echelon_verify.verify(**batch)
    own = shared.pid
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=verified, args=(queue,))
    child.start()
    ok, pid = queue.get(timeout=60)
    child.join(60)
    assert ok and pid != own
    assert ends(pid)
    # The child closed its ends of the pipes, and nothing else.
    assert echelon_verify.verify(**batch).ok and shared.pid == own


def test_node_ends_with_python():
    child = child_of("print(shared.pid, flush=True)")
    pid = int(child.stdout.readline())
    assert child.wait(60) == 0
    assert ends(pid)


def test_node_ends_when_python_is_killed():
    child = child_of("print(shared.pid, flush=True); import time; time.sleep(600)")
    pid = int(child.stdout.readline())
    child.kill()
    child.wait(60)
    assert ends(pid)


def test_node_ends_when_python_is_killed_while_a_forked_process_lives():
    child = child_of(
        "fork = os.fork()\n"
        "if fork == 0:\n import time; time.sleep(600)\n"
        "print(shared.pid, fork, flush=True)\n"
        "import time; time.sleep(600)"
    )
    pid, fork = map(int, child.stdout.readline().split())
    child.kill()
    child.wait(60)
    try:
        assert ends(pid)
    finally:
        os.kill(fork, signal.SIGKILL)


def test_a_process_that_was_killed_is_replaced(batch):
    echelon_verify.verify(**batch)
    killed = shared.pid
    os.kill(killed, signal.SIGKILL)
    assert ends(killed)
    assert echelon_verify.verify(**batch).ok
    assert shared.pid != killed


def test_threads_get_the_reports_of_their_own_batches():
    sizes = [4, 8, 12, 16]
    rows: dict[int, set[int]] = {size: set() for size in sizes}

    def work(size: int) -> None:
        for _ in range(20):
            rows[size].add(echelon_verify.verify(**right_batch(groups=size)).rows)

    threads = [threading.Thread(target=work, args=(size,)) for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert rows == {size: {4 * size} for size in sizes}


def test_an_interrupted_call_leaves_no_answer_for_the_next(batch, monkeypatch):
    echelon_verify.verify(**batch)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("echelon_verify.verifier._read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            echelon_verify.verify(**right_batch(groups=9))
    assert echelon_verify.verify(**batch).rows == 16


def test_a_process_that_ends_between_two_calls_fails_none_of_them(batch, monkeypatch):
    echelon_verify.verify(**batch)
    killed = shared.pid
    exchange = shared._exchange

    def ended_first(process, *rest):
        if process.pid == killed:
            process.kill()
        return exchange(process, *rest)

    monkeypatch.setattr(shared, "_exchange", ended_first)
    assert echelon_verify.verify(**batch).ok
    assert shared.pid != killed


def test_a_process_that_does_not_read_is_given_up_at_the_timeout(batch):
    echelon_verify.verify(**batch)
    os.kill(shared.pid, signal.SIGSTOP)
    rows = 50_000
    # More than the pipe holds, so that the call waits while it writes.
    large = {"advantages": [0.5] * rows, "rewards": [0.5] * rows, "groups": range(rows), "estimator": "grpo"}
    with pytest.raises(VerifierError) as failure:
        echelon_verify.verify(**large, timeout=0.5)
    assert failure.value.code == "timeout"
    assert echelon_verify.verify(**batch).ok
