"""Fails a test that leaves a process, a listening socket, a thread, a temporary folder or a connection to Ray.

What a fixture of a wider scope makes is checked at the end of its scope, in the last test there. The conftest of each folder of
tests loads this plugin."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Callable, Collection, Generator

import pytest

# In the environment of every process that a test starts, however far from its parent it ends. A pytest in a test adds to it.
MARK = "ECHELON_TEST_RUN"
# For something that ends by itself.
PATIENCE_SECONDS = 10
# Processes and folders of Python's own libraries, which live as long as this process.
_LIBRARIES = (b"multiprocessing.resource_tracker", b"multiprocessing.forkserver")
_LIBRARY_FOLDERS = ("pymp-", "torchinductor_")
_LISTENS = "0A"
_UNIX_LISTENS = 0x10000

Key = tuple[str, object]


def guard(config: pytest.Config, keeps: Callable[[], Collection[int | None]] = tuple) -> None:
    """Adds the guard to a run, once. `keeps`: processes that a module of this process keeps from test to test."""
    if not config.pluginmanager.has_plugin("leaks"):
        config.pluginmanager.register(Guard(keeps), "leaks")


class Guard:
    """The plugin. `_known`: what was there before, and what a wider scope made, by that scope."""

    def __init__(self, keeps: Callable[[], Collection[int | None]]) -> None:
        self._keeps = keeps
        self._outer = {name: os.environ.get(name) for name in (MARK, "TMPDIR")}
        # pytest's own folders stay after a run.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        self._folder = Path(tempfile.mkdtemp(prefix="t-"))
        os.environ[MARK] = f"{os.environ.get(MARK, '')}/{self._folder.name}"
        os.environ["TMPDIR"] = tempfile.tempdir = str(self._folder)
        self._known: dict[Key, str] = {}

    def pytest_unconfigure(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        tempfile.tempdir = None
        for name, value in self._outer.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})

    def pytest_runtestloop(self) -> None:
        self._known = dict.fromkeys(self._resources(), "run")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._resources()
        try:
            return (yield)
        finally:
            for key in self._resources().keys() - before.keys():
                self._known[key] = fixturedef.scope

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
        result = yield
        ended = _ended_scopes(item, nextitem)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (left := self._left(ended)) and time.monotonic() < deadline:
            gc.collect()
            time.sleep(0.05)
        # Reported once.
        self._known |= dict.fromkeys(left, "run")
        if left:
            raise Leak(item.nodeid, sorted(left.values()))
        return result

    def _left(self, ended: set[str]) -> dict[Key, str]:
        found = self._resources()
        return {key: text for key, text in found.items() if self._known.get(key, "function") in ended}

    def _resources(self) -> dict[Key, str]:
        keepers = {key[1] for key, scope in self._known.items() if key[0] == "process" and scope != "run"}
        found: dict[Key, str] = {**_processes(keepers, self._keeps()), **_listeners()}
        for thread in threading.enumerate():
            if not thread.daemon and thread is not threading.main_thread():
                found["thread", thread.ident] = f"the thread {thread.name}"
        for path in self._folder.iterdir():
            if not path.name.startswith(_LIBRARY_FOLDERS):
                found["folder", path.name] = f"the temporary {'folder' if path.is_dir() else 'file'} {path.name}"
        if "ray" in sys.modules and sys.modules["ray"].is_initialized():
            found["ray", ""] = "a connection to Ray"
        return found


class Leak(Exception):
    """A test, or a fixture of the scope that ended with it, left something."""

    def __init__(self, test: str, left: list[str]) -> None:
        super().__init__(f"{test} left {'; '.join(left)}")


def _ended_scopes(item: pytest.Item, nextitem: pytest.Item | None) -> set[str]:
    if nextitem is None:
        return {"function", "class", "module", "package", "session"}
    ended = {"function"}
    if item.getparent(pytest.Class) is not nextitem.getparent(pytest.Class):
        ended.add("class")
    if item.getparent(pytest.Module) is not nextitem.getparent(pytest.Module):
        ended.add("module")
    if item.getparent(pytest.Package) is not nextitem.getparent(pytest.Package):
        ended.add("package")
    return ended


def _processes(keepers: set[object], kept: Collection[int | None]) -> dict[Key, str]:
    """Descendants of this process, and processes with its mark, but those that are kept. The children of a keeper are its own matter."""
    mark = f"{MARK}={os.environ[MARK]}".encode()
    parents, marked = {}, set()
    for entry in os.scandir("/proc"):
        if not entry.name.isdecimal():
            continue
        pid = int(entry.name)
        try:
            fields = _read(pid, "stat").rpartition(b")")[2].split()
            if fields[0] == b"Z":
                continue
            parents[pid] = int(fields[1]), fields[19]
            if any(value == mark or value.startswith(mark + b"/") for value in _read(pid, "environ").split(b"\0")):
                marked.add(pid)
        except (OSError, IndexError):
            continue  # it has ended, or is another user's
    found: dict[Key, str] = {}
    for pid, (_, start) in parents.items():
        above = list(_ancestors(pid, parents))
        is_kept = any((one, parents[one][1]) in keepers for one in above if one in parents)
        if pid in (os.getpid(), *kept) or is_kept or not (pid in marked or os.getpid() in above):
            continue
        try:
            command = _read(pid, "cmdline")
        except OSError:
            continue
        if not any(library in command for library in _LIBRARIES):
            shown = command.replace(b"\0", b" ").decode(errors="replace").strip()
            found["process", (pid, start)] = f"process {pid} ({shown[:120]})"
    return found


def _ancestors(pid: int, parents: dict[int, tuple[int, bytes]]) -> Generator[int, None, None]:
    while pid in parents and pid > 1:
        pid = parents[pid][0]
        yield pid


def _read(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read()


def _listeners() -> dict[Key, str]:
    """Sockets of this process that listen."""
    own = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        if target.startswith("socket:["):
            own.add(target[len("socket:[") : -1])
    found: dict[Key, str] = {}
    if not own:
        return found
    for name in ("tcp", "tcp6"):
        for fields in _table(name):
            if fields[3] == _LISTENS and fields[9] in own:
                found["listener", fields[9]] = f"a listening socket on port {int(fields[1].rpartition(':')[2], 16)}"
    for fields in _table("unix"):
        if int(fields[3], 16) & _UNIX_LISTENS and fields[6] in own:
            found["listener", fields[6]] = f"a listening socket at {' '.join(fields[7:])}"
    return found


def _table(name: str) -> list[list[str]]:
    path = Path("/proc/self/net", name)
    return [line.split() for line in path.read_text().splitlines()[1:]] if path.exists() else []
