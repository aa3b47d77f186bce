"""Runs drain_ray.py, which has a Ray of several nodes: the loopback interface has an address for each of them."""

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    run_tests("drain_ray.py", RAY_AUTH_MODE="disabled")
