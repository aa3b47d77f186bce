"""The local engine on a real Ray. Run by test_one_node_ray.py."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from conftest import PACKAGE_ROOT, until
from ray_nodes import OneNode
from spec_support import arguments_in, content_of


def engine(address: str, directory: Path, *changes: str) -> subprocess.Popen:
    arguments = arguments_in(directory / "attempt", content_of("local", *changes), directory, directory)
    return subprocess.Popen(
        [sys.executable, "-m", "echelon_rayworker.engines.local", *arguments],
        cwd=PACKAGE_ROOT, env={**os.environ, "RAY_ADDRESS": address}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_stopped_run_resumes_from_its_checkpoint(one_node: OneNode, tmp_path: Path) -> None:
    small = ["rollout.groups=2", "rollout.group_size=2", "evaluation.games=2", "environment.max_steps=8"]
    given = [*small, "training.save_every=1"]
    first = engine(one_node.address, tmp_path, *given, "training.steps=100000", "training.step_delay_seconds=0.02")
    until(lambda: list((tmp_path / "checkpoints").glob("step-*.npz")), 60)
    first.send_signal(signal.SIGTERM)
    out, _ = first.communicate(timeout=60)
    assert first.returncode == 128 + signal.SIGTERM
    reached = max(int(path.stem[5:]) for path in (tmp_path / "checkpoints").glob("step-*.npz"))
    second, err = engine(one_node.address, tmp_path, *given, f"training.steps={reached + 2}").communicate(timeout=120)
    steps = [int(step) for step in re.findall(r"^step:(\d+) - ", second, re.MULTILINE)]
    assert steps == [reached + 1, reached + 2], err[-2000:]
