"""Runs the tests that share a Ray of several nodes: the loopback interface has an address for each of them."""

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    # Both kill a node at their end. drain_ray.py needs two others.
    run_tests("placement_ray.py", "drain_ray.py", RAY_AUTH_MODE="disabled")
