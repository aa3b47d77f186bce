"""Runs verl_agent_ray.py in a network namespace of its own where that is permitted."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE_ROOT

CASES = Path(__file__).with_name("verl_agent_ray.py")
TESTS = 15
HOW = f"{TESTS} tests are skipped: pip install -r deploy/ray-worker/requirements-verl-agent.txt"
pytest.importorskip("ray")
pytest.importorskip("torch", reason=f"torch is not installed, {HOW}")
pytest.importorskip("pyarrow", reason=f"pyarrow is not installed, {HOW}")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    """With only the loopback interface; where namespaces are not permitted, as it is."""
    command = [sys.executable, "-m", "pytest", "-x", "--durations=20", "-p", "no:cacheprovider", str(CASES)]
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    # Ray reads its token's variables once, when it is imported.
    variables = {
        "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0",
        # A worker that was started in advance has no runtime environment, so that none of these runs could use it.
        "RAY_worker_niceness": "0",  # else the actors starve beside other tests
        "RAY_prestart_worker_first_driver": "0", "RAY_enable_worker_prestart": "0",
    }  # fmt: skip
    environment = {**os.environ, **variables}
    done = subprocess.run(command, cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True, timeout=1500)
    print(done.stdout[-4000:])
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert f"{TESTS} passed" in done.stdout, done.stdout[-2000:]
