# needs: torch
"""Runs verl_agent_ray.py."""

import secrets

import pytest
from ray_namespace import run_tests

pytest.importorskip("ray")
pytest.importorskip("torch")
pytest.importorskip("pyarrow")


@pytest.mark.ray
def test_in_a_network_namespace() -> None:
    run_tests("verl_agent_ray.py", RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
