"""What would fail before anything runs, as answers (see engines/answers.py)."""

from __future__ import annotations

import os
import shutil

from ..answers import Answer, Check, run_preflight
from ..spec import Launch
from .pools import ACTOR_CPUS, ACTORS

MIN_FREE_BYTES = 256 << 20


def check_packages() -> list[Answer]:
    """numpy and Ray, as they are installed here."""
    import numpy
    import ray

    return [Answer("packages", True, f"numpy {numpy.__version__}, Ray {ray.__version__}")]


def check_disk(directory: str) -> list[Answer]:
    """Room for checkpoints and reports."""
    free = shutil.disk_usage(directory).free
    full = free < MIN_FREE_BYTES
    return [Answer("disk", not full, f"{free / 2**30:.1f} GiB are free at {directory}", "make room" if full else "")]


def check_ray() -> list[Answer]:
    """Does Ray answer, and has it the CPUs that rollout actors take?"""
    import ray

    ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), log_to_driver=False, logging_level="error")
    cpus = ray.cluster_resources().get("CPU", 0.0)
    wanted = round(ACTORS * ACTOR_CPUS, 3)
    enough = cpus >= wanted
    text = f"{ACTORS} rollout actors want {wanted:g} CPUs, the cluster has {cpus:g}"
    return [Answer("CPUs", enough, text, "" if enough else "add CPUs")]


def checks_of(launch: Launch) -> list[Check]:
    """All checks."""
    checks = [("packages", check_packages), ("disk", lambda: check_disk(launch.directories.shared_root))]
    return [*checks, ("Ray", check_ray)] if launch.with_ray else checks


if __name__ == "__main__":
    run_preflight(checks_of)
