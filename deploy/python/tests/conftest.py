"""Batches with right advantages, computed here in float64."""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy

import math
import random
import sys
from pathlib import Path

import pytest

from echelon_verify.verifier import shared

sys.path.append(str(Path(__file__).parents[2] / "ray-worker" / "tests"))
import leaks  # noqa: E402

EPSILON = 1e-4


def pytest_configure(config):
    leaks.guard(config, keeps=lambda: [shared.pid])


@pytest.fixture(autouse=True, scope="session")
def verifier():
    """The verifier's process starts with the first request, and lives until the last test."""
    yield
    shared.close()


def right_batch(groups: int = 4, size: int = 4, seed: int = 1, degrees: int = 1) -> dict:
    """Arguments of `verify`: GRPO as TRL computes it, with the deviation over `size - degrees`."""
    draw = random.Random(seed)
    rewards = [draw.random() for _ in range(groups * size)]
    advantages = []
    for first in range(0, groups * size, size):
        scores = rewards[first : first + size]
        mean = sum(scores) / size
        deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / (size - degrees))
        advantages += [(score - mean) / (deviation + EPSILON) for score in scores]
    uids = [f"prompt {row // size}" for row in range(groups * size)]
    return {"advantages": advantages, "rewards": rewards, "groups": uids, "estimator": "trl/grpo"}


def with_fault(batch: dict, row: int = 5) -> dict:
    """The batch with another advantage in one row."""
    advantages = list(batch["advantages"])
    advantages[row] += 0.5
    return {**batch, "advantages": advantages}


@pytest.fixture
def batch():
    """See `right_batch`."""
    return right_batch()


@pytest.fixture
def faulty(batch):
    """A batch whose row 5 is wrong."""
    return with_fault(batch)
