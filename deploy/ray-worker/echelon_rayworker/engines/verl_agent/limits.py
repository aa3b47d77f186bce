"""What a run takes of a node besides GPUs and CPUs: processes, memory, /dev/shm."""

from __future__ import annotations

from typing import Sequence

from echelon_rayworker.nodes import Look

from ..answers import Answer
from .settings import Settings

# An environment actor has a process of Ray's and, in ALFWorld, one of the game's, with some threads each, which the kernel
# counts as processes as well.
TASKS_PER_ENVIRONMENT = 40
# Of an environment actor: Python, the game, and its share of the data.
BYTES_PER_ENVIRONMENT = 400 * 10**6
# NCCL and vLLM exchange data through it.
MIN_SHM_BYTES = 8 * 2**30


def check_limits(settings: Settings, looks: Sequence[Look]) -> list[Answer]:
    """Nodes with less than the run may take there; one answer if all have enough."""
    answers = [answer for one in looks if not one.trouble for answer in _of_node(settings.environments, one)]
    if answers or not looks:
        return answers
    return [Answer("limits", True, "processes, memory and /dev/shm of every node with GPUs suffice")]


def _of_node(environments: int, node: Look) -> list[Answer]:
    answers = []
    tasks, memory = environments * TASKS_PER_ENVIRONMENT, environments * BYTES_PER_ENVIRONMENT
    if node.limits.get("processes", tasks) < tasks:
        text = f"node {node.node} allows {node.limits['processes']} processes and threads; {environments} environments may take {tasks}"
        remedy = "raise `ulimit -u` of Ray's user, or the limit of processes of its container (pids.max)"
        answers.append(Answer("processes", False, text, remedy, "warning"))
    if node.limits.get("memory", memory) < memory:
        text = (
            f"node {node.node} has {node.limits['memory'] / 1e9:.0f} GB of memory; {environments} environments may take "
            f"{memory / 1e9:.0f} GB if they all run there"
        )
        remedy = "use a node with more memory, or fewer rollout.groups or evaluation.games"
        answers.append(Answer("host memory", False, text, remedy, "warning"))
    if node.limits.get("shm", MIN_SHM_BYTES) < MIN_SHM_BYTES:
        text = f"node {node.node} has {node.limits['shm'] / 2**30:.1f} GiB in /dev/shm; GPUs exchange data there"
        remedy = "give the container 8 GiB or more (docker run --shm-size, or an emptyDir in memory)"
        answers.append(Answer("/dev/shm", False, text, remedy, "warning"))
    return answers
