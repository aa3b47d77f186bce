"""Runs runtime_pip_ray.py. Ray's nodes need virtualenv for pip; the extra `default` of Ray has it."""

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")
pytest.importorskip("virtualenv")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    run_tests("runtime_pip_ray.py", RAY_AUTH_MODE="disabled")
