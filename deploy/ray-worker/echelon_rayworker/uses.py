"""Tells which Ray jobs use the GPUs and CPUs of each node, and which of them are attempts of Echelon.

Ray's tables have placement groups and actors with their jobs. Plain tasks are in no table: what they use is the rest of what a node
has in use, and no job can be named for it.

Ray releases what a job used some time after the job's end, and only a driver that runs tells whose job it is. So the jobs of
attempts, and what they used, are remembered for that time.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from typing import Iterable, Mapping, NamedTuple

from echelon_rayworker.gen import rayworker_pb2 as pb

# For so long after a placement group or an actor is gone, a node may count what it used.
RELEASE_SECONDS = 15.0
_MAX_NAME = 120
_RESOURCES = ("GPU", "CPU")
_NIL = b"\xff"


class Job(NamedTuple):
    """A live Ray job: the experiment whose attempt it is (empty: another user's), its name and its start."""

    experiment: str
    name: str
    since_unix_ms: int


class NodeUses:
    """What Ray jobs used at one moment. ``held``: by node and job, the last use of each attempt."""

    def __init__(
        self, uses: Mapping[str, list[pb.NodeUse]], held: Mapping[tuple[str, str], pb.NodeUse], foreign: bool
    ) -> None:
        self._uses, self._held, self._foreign = uses, held, foreign

    def on(self, node: str, gpus_used: float, cpus_used: float) -> list[pb.NodeUse]:
        """The uses of a node that has so much in use, with the rest that no table explains. The rest is what attempts used until
        a moment ago. Beyond that it may be plain tasks of attempts, which their allocations cover: it is another user's only if
        another user has a live job."""
        uses = list(self._uses.get(node, []))
        gpus = max(0.0, gpus_used - sum(use.gpus for use in uses))
        cpus = max(0.0, cpus_used - sum(use.cpus for use in uses))
        present = {use.job for use in uses}
        for (where, job), use in self._held.items():
            if where != node or job in present or (gpus < 1e-6 and cpus < 1e-6):
                continue
            left = pb.NodeUse()
            left.CopyFrom(use)
            left.gpus, left.cpus = min(gpus, use.gpus), min(cpus, use.cpus)
            gpus, cpus = gpus - left.gpus, cpus - left.cpus
            uses.append(left)
        if self._foreign and (gpus > 1e-6 or cpus > 1e-6):
            uses.append(pb.NodeUse(name="tasks of a Ray job", gpus=gpus, cpus=cpus))
        return uses


class JobUses:
    """Tells whose jobs use a cluster. One for each ray-worker, since it remembers the jobs of attempts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        # When each use of an attempt was last in Ray's tables.
        self._held: dict[tuple[str, str], tuple[pb.NodeUse, float]] = {}

    def look(self, own_addresses: Iterable[str]) -> NodeUses:
        """Reads Ray's tables. The drivers of attempts run at ``own_addresses``."""
        with self._lock:
            live = self._live_jobs(own_addresses)
            ours = {key: job for key, job in self._jobs.items() if job.experiment}
            sums, names = _sums_by_job({*live, *ours})
            in_use = {job for _, job in sums}
            self._jobs = {**{key: job for key, job in ours.items() if key in in_use}, **live}
            uses = self._named(sums, names)
            held = {key: use for key, (use, _) in self._held.items()}
            return NodeUses(uses, held, any(not job.experiment for job in live.values()))

    def _live_jobs(self, own_addresses: Iterable[str]) -> dict[str, Job]:
        from ray._private import state
        from ray.core.generated import gcs_pb2

        accessor = state.state._connect_and_get_accessor()
        jobs = {}
        for text in accessor.get_job_table(skip_submission_job_info_field=True, skip_is_running_tasks_field=True):
            job = gcs_pb2.JobTableData.FromString(text)
            # Ray's dashboard, the ray-worker and preflights are jobs too; they take no GPUs and CPUs.
            if job.is_dead or job.config.ray_namespace.startswith(("_ray_internal", "echelon")):
                continue
            key = job.job_id.hex()
            here = job.driver_address.ip_address in own_addresses
            known = self._jobs.get(key, Job("", "", 0)).experiment
            experiment = known or (_experiment_of(job.driver_pid) if here else "")
            jobs[key] = Job(experiment, job.entrypoint[:_MAX_NAME], job.start_time)
        return jobs

    def _named(
        self, sums: Mapping[tuple[str, str], Mapping[str, float]], names: Mapping[tuple[str, str], str]
    ) -> dict[str, list[pb.NodeUse]]:
        now = time.monotonic()
        found: dict[str, list[pb.NodeUse]] = defaultdict(list)
        for (node, job), amounts in sums.items():
            if amounts["GPU"] <= 0 and amounts["CPU"] <= 0:
                continue
            known = self._jobs.get(job, Job("", "", 0))
            use = pb.NodeUse(
                experiment=known.experiment, job=job, name=(names[node, job] or known.name)[:_MAX_NAME],
                since_unix_ms=known.since_unix_ms, gpus=amounts["GPU"], cpus=amounts["CPU"],
            )
            found[node].append(use)
            if known.experiment:
                self._held[node, job] = (use, now)
        self._held = {key: held for key, held in self._held.items() if now - held[1] < RELEASE_SECONDS}
        return found


def _sums_by_job(known: set[str]) -> tuple[dict[tuple[str, str], dict[str, float]], dict[tuple[str, str], str]]:
    """What placement groups and actors use, by node and job, and the name of one of them. An actor in a placement group uses what
    that one has. What an unknown job used that has ended is not listed, unless it was made to outlive the job."""
    from ray._private import state
    from ray.core.generated import gcs_pb2

    accessor = state.state._connect_and_get_accessor()
    sums: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    names: dict[tuple[str, str], str] = {}

    def add(node: bytes, job: bytes, amounts: Mapping[str, float], name: str, detached: bool) -> None:
        key = (node.hex(), job.hex())
        if not detached and key[1] not in known:
            return
        for resource in _RESOURCES:
            sums[key][resource] += amounts.get(resource, 0.0)
        names.setdefault(key, name)

    for text in accessor.get_placement_group_table():
        group = gcs_pb2.PlacementGroupTableData.FromString(text)
        if group.state == gcs_pb2.PlacementGroupTableData.CREATED:
            for bundle in group.bundles:
                add(bundle.node_id, group.creator_job_id, bundle.unit_resources, group.name, group.is_detached)
    for text in accessor.get_actor_table(None, "ALIVE"):
        actor = gcs_pb2.ActorTableData.FromString(text)
        if not actor.placement_group_id.strip(_NIL):
            name = actor.name or actor.class_name
            add(actor.address.node_id, actor.job_id, actor.required_resources, name, actor.is_detached)
    return sums, names


def _experiment_of(pid: int) -> str:
    """The experiment whose attempt started a process of this machine; empty: none did."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return ""
    mark = b"ECHELON_EXPERIMENT="
    return next((entry[len(mark):].decode("utf-8", "replace") for entry in entries if entry.startswith(mark)), "")
