"""Runs autoscale_ray.py with Ray's second autoscaler, which passes labels on."""

import pytest
from autoscalers import SECOND
from ray_namespace import run_tests

pytest.importorskip("ray")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    run_tests("autoscale_ray.py", **SECOND)
