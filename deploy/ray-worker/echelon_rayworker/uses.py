"""Tells which Ray jobs use the GPUs and CPUs of each node, and which of them are attempts of Echelon.

Ray's tables have placement groups and actors with their jobs. Plain tasks are in no table: what they use is the rest of what a node
has in use, and no job can be named for it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Iterable, Mapping

from echelon_rayworker.gen import rayworker_pb2 as pb

_MAX_NAME = 120
_RESOURCES = ("GPU", "CPU")
_NIL = b"\xff"


class Job:
    """A live Ray job: the experiment whose attempt it is (empty: another user's), its name and its start."""

    def __init__(self, experiment: str, name: str, since_unix_ms: int) -> None:
        self.experiment, self.name, self.since_unix_ms = experiment, name, since_unix_ms


def live_jobs(own_addresses: Iterable[str]) -> dict[str, Job]:
    """The live jobs by their ids, without those of Ray itself. The drivers of attempts run at ``own_addresses``."""
    from ray._private import state
    from ray.core.generated import gcs_pb2

    accessor = state.state._connect_and_get_accessor()
    jobs = {}
    for text in accessor.get_job_table(skip_submission_job_info_field=True, skip_is_running_tasks_field=True):
        job = gcs_pb2.JobTableData.FromString(text)
        # Ray's dashboard, the ray-worker and preflights are jobs too; they take no GPUs and CPUs.
        if job.is_dead or job.config.ray_namespace.startswith(("_ray_internal", "echelon")):
            continue
        here = job.driver_address.ip_address in own_addresses
        experiment = _experiment_of(job.driver_pid) if here else ""
        jobs[job.job_id.hex()] = Job(experiment, job.entrypoint[:_MAX_NAME], job.start_time)
    return jobs


def uses_by_node(jobs: Mapping[str, Job]) -> dict[str, list[pb.NodeUse]]:
    """What placement groups and actors use, by node and job. An actor in a placement group uses what that one has."""
    from ray._private import state
    from ray.core.generated import gcs_pb2

    accessor = state.state._connect_and_get_accessor()
    sums: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    names: dict[tuple[str, str], str] = {}

    def add(node: bytes, job: bytes, amounts: Mapping[str, float], name: str) -> None:
        key = (node.hex(), job.hex())
        for resource in _RESOURCES:
            sums[key][resource] += amounts.get(resource, 0.0)
        names.setdefault(key, name)

    for text in accessor.get_placement_group_table():
        group = gcs_pb2.PlacementGroupTableData.FromString(text)
        if group.state == gcs_pb2.PlacementGroupTableData.CREATED:
            for bundle in group.bundles:
                add(bundle.node_id, group.creator_job_id, bundle.unit_resources, group.name)
    for text in accessor.get_actor_table(None, "ALIVE"):
        actor = gcs_pb2.ActorTableData.FromString(text)
        if not actor.placement_group_id.strip(_NIL):
            add(actor.address.node_id, actor.job_id, actor.required_resources, actor.name or actor.class_name)
    found: dict[str, list[pb.NodeUse]] = defaultdict(list)
    for (node, job), amounts in sums.items():
        if amounts["GPU"] > 0 or amounts["CPU"] > 0:
            known = jobs.get(job) or Job("", "", 0)
            found[node].append(pb.NodeUse(
                experiment=known.experiment, job=job, name=(names[node, job] or known.name)[:_MAX_NAME],
                since_unix_ms=known.since_unix_ms, gpus=amounts["GPU"], cpus=amounts["CPU"],
            ))  # fmt: skip
    return found


def with_rest(uses: list[pb.NodeUse], gpus_used: float, cpus_used: float, jobs: Mapping[str, Job]) -> list[pb.NodeUse]:
    """The uses of a node, with the rest that no table explains. The rest may be plain tasks of attempts, which their allocations
    cover: it is another user's only if another user has a live job."""
    gpus = max(0.0, gpus_used - sum(use.gpus for use in uses))
    cpus = max(0.0, cpus_used - sum(use.cpus for use in uses))
    foreign = any(not job.experiment for job in jobs.values())
    if not foreign or (gpus < 1e-6 and cpus < 1e-6):
        return uses
    return [*uses, pb.NodeUse(name="tasks of a Ray job", gpus=gpus, cpus=cpus)]


def _experiment_of(pid: int) -> str:
    """The experiment whose attempt started a process of this machine; empty: none did."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return ""
    mark = b"ECHELON_EXPERIMENT="
    return next((entry[len(mark):].decode("utf-8", "replace") for entry in entries if entry.startswith(mark)), "")
