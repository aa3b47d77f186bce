"""Runs autoscale_ray.py, which has a Ray with the autoscaler of its own tests: nodes are processes of this machine."""

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    run_tests("autoscale_ray.py", RAY_AUTH_MODE="disabled", RAY_FAKE_CLUSTER="1", AUTOSCALER_UPDATE_INTERVAL_S="1")
