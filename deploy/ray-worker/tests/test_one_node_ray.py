"""Runs the tests that share a Ray of one node."""

import secrets

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    files = ("hidden_ray.py", "local_ray.py", "prompt_ray.py", "actor_ray.py")
    run_tests(*files, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
