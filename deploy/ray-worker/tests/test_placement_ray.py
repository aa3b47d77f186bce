"""Runs placement_ray.py in a network namespace of its own where that is permitted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE_ROOT

CASES = Path(__file__).with_name("placement_ray.py")
pytest.importorskip("ray")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    """With only the loopback interface, whose many addresses the nodes have."""
    command = [sys.executable, "-m", "pytest", "-x", "--durations=20", "-p", "no:cacheprovider", str(CASES)]
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(command, cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
