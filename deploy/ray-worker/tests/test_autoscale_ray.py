"""Runs autoscale_ray.py, which has a Ray with the autoscalers of its own tests: nodes are processes of this machine."""

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")


FAKE = {"RAY_AUTH_MODE": "disabled", "RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"}
# The fake provider has this id for the head; Ray's second autoscaler compares it with the head's own.
HEAD = "f" * 51 + "00000"


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    run_tests("autoscale_ray.py", **FAKE)


@pytest.mark.ray
def test_with_rays_second_autoscaler() -> None:
    second = {"RAY_enable_autoscaler_v2": "1", "RAY_CLOUD_INSTANCE_ID": HEAD, "RAY_OVERRIDE_NODE_ID_FOR_TESTING": HEAD}
    run_tests("autoscale_ray.py", **FAKE, **second)
