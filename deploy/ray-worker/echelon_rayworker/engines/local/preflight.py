"""`python -m echelon_rayworker.engines.local.preflight [shared_root=DIR] [ray=false] key=value …`: what would fail, before
anything runs. Prints answers (see engines/answers.py)."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any, Callable

from ..answers import OWN_KEYS, Answer, answer_all, divide, print_answers
from ..arguments import ArgumentError, parse
from .pools import ACTOR_CPUS
from .settings import KEYS, settings_of

MIN_FREE_BYTES = 256 << 20


def check_arguments(arguments: list[str]) -> list[Answer]:
    """Would the engine take them?"""
    try:
        settings_of(parse(arguments, KEYS))
    except ArgumentError as error:
        return [Answer("arguments", False, str(error), "see the message")]
    return [Answer("arguments", True, "the engine takes them")]


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


def check_ray(actors: int) -> list[Answer]:
    """Does Ray answer, and has it the CPUs that rollout actors take?"""
    import ray

    ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), log_to_driver=False, logging_level="error")
    cpus = ray.cluster_resources().get("CPU", 0.0)
    wanted = round(actors * ACTOR_CPUS, 3)
    enough = cpus >= wanted
    text = f"{actors} rollout actors want {wanted:g} CPUs, the cluster has {cpus:g}"
    return [Answer("CPUs", enough, text, "" if enough else "lower rollout.actors, or add CPUs", "error")]


def preflight(arguments: list[str], shared_root: str, with_ray: bool) -> list[Answer]:
    """All answers."""
    checks: list[tuple[str, Callable[[], list[Answer]]]] = [
        ("arguments", lambda: check_arguments(arguments)),
        ("packages", check_packages),
        ("disk", lambda: check_disk(shared_root)),
    ]
    if with_ray:
        checks.append(("Ray", lambda: check_ray(_actors(arguments))))
    return answer_all(checks)


def _actors(arguments: list[str]) -> int:
    try:
        values: dict[str, Any] = parse(arguments, KEYS)
    except ArgumentError:
        return 1
    return int(values["rollout.actors"])


def main(arguments: list[str]) -> int:
    own, rest = divide(arguments)
    values = parse(own, OWN_KEYS)
    return print_answers(preflight(rest, os.path.abspath(values["shared_root"] or os.getcwd()), bool(values["ray"])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
