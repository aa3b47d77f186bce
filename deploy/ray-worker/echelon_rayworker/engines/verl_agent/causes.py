"""Likely causes, in words with the remedy: of a stage that lasts too long, and of an end."""

from __future__ import annotations

import re

from echelon_rayworker import ending

from . import console

# How long a stage may last before its likely cause is said, in seconds.
PATIENCE_SECONDS = {
    console.CONNECTING: 180,
    console.ENVIRONMENTS: 900,
    console.LOADING: 600,
    console.VALIDATING: 3600,
    console.SAVING: 900,
}
STEP_PATIENCE_SECONDS = 3600
# A step may take this many times as long as the slowest before it.
STEP_FACTOR = 5

_ENDS = (
    (
        ending.GPU_SHORTAGE,
        "the cluster has fewer free GPUs than the run asks for: lower trainer.n_gpus_per_node, or wait for others",
    ),
    (
        r"Failed to get register_center",
        "the GPU workers did not all start within trainer.ray_wait_register_center_timeout: raise it, or lower "
        "env.resources_per_worker.num_cpus so that they get their CPUs sooner",
    ),
    (
        ending.GPU_MEMORY,
        "a GPU ran out of memory: lower the micro batch sizes or rollout.gpu_memory_utilization, or offload parameters",
    ),
    (
        ending.RAY_MEMORY,
        "Ray killed a process since its node ran out of memory: fewer environments, or optimizer_offload off",
    ),
    (
        ending.DISK_FULL,
        "a disk is full: make room below the checkpoint directory, or lower training.keepCheckpoints; the "
        "next run resumes from the last complete checkpoint",
    ),
    (
        r"Key '?([\w.]+)'? is not in struct|Could not override '([\w.]+)'",
        "the checkout's configuration does not have this key: check the spelling, or the checkout's version",
    ),
    (
        r"KeyError: '(old_log_probs)'",
        "algorithm.use_kl_in_reward does not work in this trainer: use actor.use_kl_loss instead",
    ),
    (
        r"Environment not supported",
        "env.env_name names no environment of the checkout: alfworld, webshop, sokoban, search and appworld are known",
    ),
    (
        r"No module named '([\w.]+)'",
        "a Python package is missing on the node where the trainer ran: install it there",
    ),
    (
        # A path that is not there is read as a name on the Hub.
        r"is not a local folder and is not a valid model identifier|Can't load tokenizer for|LocalEntryNotFoundError"
        r"|Repo id must be in the form|Incorrect path_or_model_id",
        "the model cannot be reached from the trainer's node: give a path on the shared file system, or fill HF_HOME",
    ),
    (
        r"ActorDiedError|RayActorError",
        "an actor of the run died (often for memory): look for its last lines, and at the node's memory",
    ),
)
ENDS = tuple((re.compile(pattern), cause) for pattern, cause in _ENDS)


def cause_of_end(lines: list[str]) -> str:
    """The likely cause of a failed run, from its last console lines; empty if none is known."""
    text = "\n".join(console.plain(line)[1] for line in lines)
    for pattern, cause in ENDS:
        if match := pattern.search(text):
            named = next((group for group in match.groups() if group), "")
            return f"{named}: {cause}" if named else cause
    return ""


def patience_seconds(stage: str, slowest_step_seconds: float) -> float:
    """How long the stage may last before its likely cause is said."""
    if stage in PATIENCE_SECONDS:
        return PATIENCE_SECONDS[stage]
    return max(STEP_PATIENCE_SECONDS, STEP_FACTOR * slowest_step_seconds)


def cause_of_delay(stage: str, marker: str, cpus_wanted: float, facts: dict) -> str:
    """Why a stage may last so long. `facts`: the cluster's state as `cluster.state` gives it; may be empty."""
    free, total = facts.get("cpusAvailable"), facts.get("cpusTotal")
    supply = f"; the cluster has {total:g}, {free:g} of them free" if free is not None else ""
    if stage == console.CONNECTING:
        if facts and not free:
            return f"no CPU is free for the trainer's process{supply}: wait for other runs, or add nodes"
        return "Ray does not answer, or its address or token is wrong"
    if stage == console.ENVIRONMENTS:
        return (
            f"environments load their data one by one; they and the GPU workers want {cpus_wanted:g} CPUs{supply}. "
            "Lower env.resources_per_worker.num_cpus where CPUs are short"
        )
    if stage == console.LOADING:
        waiting = facts.get("pendingPlacementGroups")
        if (facts and waiting) or (total is not None and total < cpus_wanted):
            return (
                f"the GPU workers wait for CPUs, which the environments hold: {cpus_wanted:g} are wanted{supply}. "
                "Lower env.resources_per_worker.num_cpus, or add CPUs"
            )
        return (
            f"the GPU workers start, or the model is being loaded or downloaded; after {marker or 'the start'} nothing "
            "was heard. If workers wait for the register centre, raise trainer.ray_wait_register_center_timeout"
        )
    if stage == console.SAVING:
        return "the checkpoint's file system is slow or full"
    if stage == console.VALIDATING:
        return "validation plays all its episodes to their end: fewer rows, or fewer steps an episode"
    return "rollouts or updates hang: look for an actor that died, or an environment that does not answer"
