"""A capture that starts anew in each test, and the command line that verifies what it wrote."""

from __future__ import annotations

import os

# Before numpy and torch: their threads wait for each other with all their time, which other tests need.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import json
import subprocess
import sys
from pathlib import Path

import pytest

import echelon_capture

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "deploy" / "ray-worker" / "tests"))
import leaks  # noqa: E402

VARIABLES = (
    "ECHELON_SPOOL", "ECHELON_CAPTURE_DIR", "ECHELON_CAPTURE_RANKS", "ECHELON_EXPERIMENT", "ECHELON_ATTEMPT", "ECHELON_URL",
    "ECHELON_TOKEN", "ECHELON_RUN_NAME", "RANK",
)  # fmt: skip


def pytest_configure(config):
    leaks.guard(config)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of captured files."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ECHELON_CAPTURE_DIR", str(tmp_path / "captured"))
    echelon_capture._forget()
    yield tmp_path / "captured"
    echelon_capture.close()
    echelon_capture._forget()


@pytest.fixture
def into(folder, monkeypatch):
    """`into(name)`: what follows is captured to `folder/NAME`, so that one call of the command line verifies several trainings."""

    def begin(name):
        echelon_capture.close()
        echelon_capture._forget()
        monkeypatch.setenv("ECHELON_CAPTURE_DIR", str(folder / name))

    return begin


def verified(*paths) -> tuple[int, list[dict]]:
    """Exit status and reports of `echelon verify`."""
    done = subprocess.run(
        [str(ROOT / "bin" / "echelon"), "verify", "--json", *map(str, paths)],
        capture_output=True, text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stderr
    return done.returncode, json.loads(done.stdout)["batches"]


def lines(path: Path) -> list[dict]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def verify():
    """See `verified`."""
    return verified


@pytest.fixture
def read_lines():
    """See `lines`."""
    return lines
