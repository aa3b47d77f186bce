"""The guard against leaks: each kind is planted in a pytest of its own and fails its test by name."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PLANTED = '''
import multiprocessing, os, socket, subprocess, sys, tempfile, threading, time, types
import pytest

kept = []

def test_clean(tmp_path):
    (tmp_path / "file").touch()
    with tempfile.TemporaryDirectory(), socket.create_server(("127.0.0.1", 0)):
        thread = threading.Thread(target=time.sleep, args=(0.01,))
        thread.start()
        thread.join()
        subprocess.run(["true"], check=True)

def test_process():
    kept.append(subprocess.Popen(["sleep", "987"]))

def test_orphan():
    subprocess.run(["sh", "-c", "setsid sleep 987 > /dev/null 2>&1 &"], check=True)

def test_child_without_the_mark():
    kept.append(subprocess.Popen(["sleep", "987"], env={}))

def test_listener():
    kept.append(socket.create_server(("127.0.0.1", 0)))

def test_unix_listener(tmp_path):
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(str(tmp_path / "s"))
    kept[-1].listen()

def test_thread():
    kept.append(threading.Event())
    threading.Thread(target=kept[-1].wait, name="forgotten").start()

def test_folder():
    tempfile.mkdtemp(prefix="left-")

def test_folder_of_a_process():
    subprocess.run([sys.executable, "-c", "import tempfile; tempfile.mkdtemp(prefix='below-')"], check=True)

def test_ray(monkeypatch):
    sys.modules["ray"] = types.SimpleNamespace(is_initialized=lambda: True)

@pytest.fixture(scope="module")
def wide():
    kept.append(subprocess.Popen(["sh", "-c", "sleep 986 & wait"]))

def test_the_first_user_of_a_module_fixture(wide):
    pass

def test_the_last_test_of_the_module(wide):
    for one in kept:
        if isinstance(one, threading.Event):
            one.set()
'''
LEFT = {
    "process": r"process \d+ \(sleep 987\)", "orphan": r"process \d+ \(sleep 987\)", "child_without_the_mark": r"process \d+ \(sleep 987\)",
    "listener": r"a listening socket on port \d+", "unix_listener": r"a listening socket at /.*/s", "thread": "the thread forgotten",
    "folder": "the temporary folder left-", "folder_of_a_process": "the temporary folder below-", "ray": "a connection to Ray",
    "the_last_test_of_the_module": r"process \d+ \(sh -c sleep 986",
}  # fmt: skip
CONFTEST = """
import leaks
leaks.PATIENCE_SECONDS = 0.2

def pytest_configure(config):
    leaks.guard(config)
"""


def test_a_test_that_leaves_something_fails_by_name(tmp_path: Path) -> None:
    (tmp_path / "test_planted.py").write_text(PLANTED)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    command = [sys.executable, "-m", "pytest", "-q", "--disable-plugin-autoload", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    command += ["--basetemp", str(tmp_path / "b")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [*command, str(tmp_path)], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    said, _ = process.communicate(timeout=120)
    found = dict(re.findall(r"^E +leaks\.Leak: test_planted\.py::test_(\w+) left (.*)$", said, re.MULTILINE))
    os.killpg(process.pid, signal.SIGKILL)
    for pid in map(int, re.findall(r"process (\d+) \(sleep", "\n".join(found.values()))):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert found.keys() == LEFT.keys(), said
    assert all(re.match(LEFT[name], text) for name, text in found.items()), found
    assert process.returncode == 1 and "12 passed, 10 errors" in said.splitlines()[-1]
