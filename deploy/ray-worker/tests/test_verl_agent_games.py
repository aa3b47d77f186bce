"""Runs the tests that play real games, where their packages and a checkout are at hand."""

import importlib.util
import os

import pytest
from ray_namespace import run_tests

PACKAGES = ("ray", "torch", "torchvision", "alfworld", "textworld", "fast_downward", "gymnasium", "omegaconf")
LACKING = [name for name in PACKAGES if importlib.util.find_spec(name) is None]


@pytest.mark.ray
@pytest.mark.skipif(bool(LACKING), reason=f"{', '.join(LACKING)} not installed: the panel meets real games nowhere else")
@pytest.mark.skipif("VERL_AGENT_CHECKOUT" not in os.environ, reason="VERL_AGENT_CHECKOUT names no verl-agent checkout")
def test_in_a_network_namespace() -> None:
    run_tests("verl_agent_games_ray.py")
