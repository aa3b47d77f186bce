"""Processes of this machine, as /proc tells of them. Linux only."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import time
from dataclasses import dataclass
from typing import Callable, Iterable, Optional

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class ProcessId:
    """A process for all time: a pid is used again, a pid with its start time and boot is not."""

    pid: int
    start_ticks: int


@dataclass(frozen=True)
class _Stat:
    pid: int
    state: str
    parent: int
    group: int
    session: int
    start_ticks: int


def _stat(pid: int) -> Optional[_Stat]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name in parentheses may hold anything, parentheses too.
    fields = text[text.rindex(b")") + 2 :].split()
    return _Stat(pid, fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def identify(pid: int) -> Optional[ProcessId]:
    """The lasting identity of a process; None if it does not exist or has ended."""
    stat = _stat(pid)
    return None if stat is None or stat.state in "ZX" else ProcessId(pid, stat.start_ticks)


def is_alive(process: ProcessId) -> bool:
    """Whether exactly this process still runs (a zombie does not)."""
    return identify(process.pid) == process


def is_suspended(pid: int) -> bool:
    """Whether a process was stopped by SIGSTOP or a debugger."""
    stat = _stat(pid)
    return stat is not None and stat.state in "Tt"


def boot_id() -> str:
    """Changes with each start of the machine."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def host_name() -> str:
    """The machine's (or container's) name."""
    return socket.gethostname()


def _all_stats() -> list[_Stat]:
    stats = (_stat(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [stat for stat in stats if stat is not None and stat.state not in "ZX"]


def descendants(pid: int) -> list[int]:
    """All processes below ``pid`` that have not ended, children before grandchildren."""
    children: dict[int, list[int]] = {}
    for stat in _all_stats():
        children.setdefault(stat.parent, []).append(stat.pid)
    found: list[int] = []
    level = [pid]
    while level:
        level = [child for parent in level for child in children.get(parent, [])]
        found += level
    return found


def members_of_session(session: int) -> list[int]:
    """All processes of a session that have not ended."""
    return [stat.pid for stat in _all_stats() if stat.session == session]


def marked_by_environment(entry: bytes) -> list[int]:
    """All processes that were started with the environment entry ``NAME=value``; only those that we may look at."""
    found: list[int] = []
    for stat in _all_stats():
        try:
            with open(f"/proc/{stat.pid}/environ", "rb") as file:
                if entry in file.read().split(b"\0"):
                    found.append(stat.pid)
        except OSError:
            continue
    return found


def command_of(pid: int) -> str:
    """The command line of a process; empty if it has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return " ".join(file.read().decode("utf-8", "replace").split("\0")).strip()
    except OSError:
        return ""


def send_signal(pids: Iterable[int], number: int) -> None:
    """Sends a signal to each process; those that are gone, or not ours, are skipped."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def end_all(find: Callable[[], list[int]], term_seconds: float, deadline_seconds: float = 5.0) -> bool:
    """SIGTERM to all that ``find`` names, after ``term_seconds`` SIGKILL, until it names none. Returns whether
    none was left within ``deadline_seconds`` after the first SIGKILL. Children of ours are reaped on the way."""
    start = time.monotonic()
    if not (left := find()):
        return True
    if term_seconds > 0:
        send_signal(left, signal.SIGTERM)
        while time.monotonic() - start < term_seconds:
            reap()
            if not (left := find()):
                return True
            time.sleep(0.02)
    kill_start = time.monotonic()
    while left := find():
        send_signal(left, signal.SIGKILL)
        reap()
        if time.monotonic() - kill_start > deadline_seconds:
            return False
        time.sleep(0.01)
    reap()
    return True


def reap(*except_pids: int) -> None:
    """Collects children that have ended, without waiting; leaves ``except_pids`` to their own waiters."""
    while True:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if found is None or found.si_pid in except_pids:
            return
        try:
            os.waitpid(found.si_pid, os.WNOHANG)
        except ChildProcessError:
            continue


def become_subreaper() -> None:
    """Orphans below this process become its children instead of init's, so that none is out of sight."""
    if _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def die_with_parent(parent: int) -> None:
    """The calling process is killed when the thread that made it ends. For a child, between fork and exec;
    ``parent`` is the pid that its parent must have (it may be gone already)."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(127)


def reset_signals() -> None:
    """Unblocks all signals and ignores none. For a child, between fork and exec, and for a process of its own at its start: Ray blocks
    SIGINT in its processes, and every process below them would inherit that."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def outlive_parent() -> None:
    """Takes back a death signal that was set for this process."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)


def usage_of(pids: Iterable[int]) -> tuple[float, float]:
    """CPU seconds that processes have used so far, and the bytes of memory that they have now."""
    ticks, pages = 0, 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                text = file.read()
            with open(f"/proc/{pid}/statm", "rb") as file:
                pages += int(file.read().split()[1])
        except OSError:
            continue
        fields = text[text.rindex(b")") + 2 :].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK"), float(pages * os.sysconf("SC_PAGE_SIZE"))


class Load:
    """CPU and memory of this machine."""

    def __init__(self) -> None:
        self._before = _cpu_ticks()

    def take(self) -> tuple[float, float]:
        """Percent of CPU time used since the last call, and percent of memory in use."""
        busy, total = _cpu_ticks()
        spent = total - self._before[1]
        cpu = 100 * (busy - self._before[0]) / spent if spent > 0 else 0.0
        self._before = (busy, total)
        with open("/proc/meminfo", encoding="ascii") as file:
            sizes = {line.split(":")[0]: int(line.split()[1]) for line in file}
        return round(cpu, 1), round(100 * (1 - sizes["MemAvailable"] / sizes["MemTotal"]), 1)


def _cpu_ticks() -> tuple[int, int]:
    """Busy ticks and all ticks of this machine's processors."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(one) for one in file.readline().split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def oom_kills() -> int:
    """Kills for memory that the kernel has counted: of our control group if it counts them, else of the machine."""
    for path, key in _oom_files():
        try:
            with open(path, encoding="ascii") as file:
                counts = dict(line.split()[:2] for line in file if len(line.split()) >= 2)
            if key in counts:
                return int(counts[key])
        except (OSError, ValueError):
            continue
    return 0


def _oom_files() -> list[tuple[str, str]]:
    files: list[tuple[str, str]] = []
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            for line in file:
                _, controllers, path = line.rstrip("\n").split(":", 2)
                if controllers == "" and path != "/":
                    files.append((f"/sys/fs/cgroup{path}/memory.events", "oom_kill"))
                elif "memory" in controllers.split(","):
                    files.append((f"/sys/fs/cgroup/memory{path}/memory.oom_control", "oom_kill"))
    except (OSError, ValueError):
        pass
    # Inside a container the group's own path is mounted as the root.
    files.append(("/sys/fs/cgroup/memory.events", "oom_kill"))
    files.append(("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill"))
    files.append(("/proc/vmstat", "oom_kill"))
    return files
