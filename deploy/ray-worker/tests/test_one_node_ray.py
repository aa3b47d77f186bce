"""Runs the tests that share a Ray of one node."""

import importlib.util
import secrets

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")

LACKING = [name for name in ("torch", "pyarrow") if importlib.util.find_spec(name) is None]
TESTS = 20


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    files = [*([] if LACKING else ["verl_agent_ray.py"]), "hidden_ray.py", "local_ray.py", "prompt_ray.py", "actor_ray.py"]
    passed = run_tests(*files, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    if LACKING:
        left = f"{TESTS - passed} of {TESTS} tests are skipped"
        pytest.skip(f"{' and '.join(LACKING)} not installed, {left}: pip install -r deploy/ray-worker/requirements-verl-agent.txt")
    assert passed == TESTS
