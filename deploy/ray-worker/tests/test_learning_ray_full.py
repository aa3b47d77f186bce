"""Runs learning_ray.py. That one update makes good answers more likely is tested without Ray (test_policy.py)."""

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    run_tests("learning_ray.py", RAY_AUTH_MODE="disabled")
