"""Runs files of Ray tests in a pytest of their own, in a network namespace with nothing but loopback where that is permitted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import PACKAGE_ROOT

# Ray reads them once, when it is imported.
_VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # else the actors starve beside other tests
    # No process is started in advance: most runs have a runtime environment, which such a process lacks.
    "RAY_prestart_worker_first_driver": "0", "RAY_enable_worker_prestart": "0",
    # A killed node is found after five of these. One that is only slow is not: its answers may take ten seconds.
    "RAY_health_check_period_ms": "300",
    # A runtime environment that cannot be made fails at the first attempt.
    "RUNTIME_ENV_RETRY_TIMES": "1",
}  # fmt: skip


def run_tests(*files: str, **variables: str) -> None:
    """Fails unless every test passes, and none is skipped. `variables`: of their environment."""
    paths = [str(Path(__file__).with_name(name)) for name in files]
    command = [sys.executable, "-m", "pytest", "-x", "--durations=20", "-p", "no:cacheprovider", *paths]
    # The runner of all tests has given this file a namespace, in which it measures what the file costs.
    is_isolated = "ECHELON_ISOLATED" in os.environ
    if not is_isolated and subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    environment = {**os.environ, **_VARIABLES, **variables}
    done = subprocess.run(command, cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True, timeout=1500)
    print(done.stdout[-4000:])
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(r"^(?:=+ )?\d+ passed in ", done.stdout, re.MULTILINE), done.stdout[-2000:]
