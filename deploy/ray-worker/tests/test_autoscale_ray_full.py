"""Runs autoscale_ray.py with Ray's first autoscaler."""

import pytest
from autoscalers import FIRST
from ray_namespace import run_tests

pytest.importorskip("ray")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    run_tests("autoscale_ray.py", **FIRST)
