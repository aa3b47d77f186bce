"""`python -m echelon_rayworker.nodes shared_root=DIR`: what is to be said of a Ray cluster before anything runs on it.

A task that asks for no CPU is pinned to each node: it reads a token that was written here, writes an answer that is
read back here, and says what is installed there. Prints answers as an engine's preflight program does.
"""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

from echelon_rayworker.engines.answers import Answer, answer_all, print_answers
from echelon_rayworker.engines.spec import divided

PACKAGES = ("ray", "grpcio", "protobuf", "numpy")
MIN_FREE_BYTES = 1 << 30


@dataclass(frozen=True)
class Look:
    """What a node answered. `trouble`: why it did not, in words; then nothing else is known."""

    node: str
    gpus: float
    trouble: str = ""
    reads: bool = False
    writes: bool = False
    python: str = ""
    # By name; empty where a package is not installed.
    packages: dict[str, str] = field(default_factory=dict)
    # Of the paths asked for, those that are not there.
    missing: tuple[str, ...] = ()
    # Name and MiB of each, as nvidia-smi says; empty if there is none.
    devices: tuple[tuple[str, int], ...] = ()
    # What its processes may have: `memory` and `shm` (of /dev/shm) in bytes, `processes` in number; unknown and
    # unlimited ones are absent.
    limits: Mapping[str, int] = field(default_factory=dict)


def connect() -> None:
    """Connects to the Ray at RAY_ADDRESS as a job that asks for nothing."""
    import ray

    ray.init(
        address=os.environ.get("RAY_ADDRESS", "auto"), namespace="echelon-preflight", log_to_driver=False,
        logging_level="error",
    )


def look(
    directory: str, packages: Iterable[str] = PACKAGES, paths: Iterable[str] = (), with_gpus: bool = False,
    timeout_seconds: float = 60,
) -> list[Look]:
    """Asks every living node, or only those with GPUs. Any process that is connected to Ray may call it. OSError if the
    directory cannot be written here."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"]]
    nodes = [node for node in nodes if not with_gpus or node["Resources"].get("GPU", 0) > 0]
    token = uuid.uuid4().hex
    probe = os.path.join(directory, f".echelon-preflight-{token}")
    with open(probe, "w", encoding="ascii") as file:
        file.write(token)
    answer = ray.remote(num_cpus=0, max_retries=0)(_pinned())
    asked = {
        node["NodeID"]: answer.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote(probe, node["NodeID"], list(packages), list(paths))
        for node in nodes
    }
    try:
        done = ray.wait(list(asked.values()), num_returns=len(asked), timeout=timeout_seconds)[0] if asked else []
        return [_look(node, asked[node["NodeID"]], done, (probe, token)) for node in nodes]
    finally:
        for path in (probe, *(f"{probe}.{node}" for node in asked)):
            try:
                os.unlink(path)
            except OSError:
                pass


def _look(node: dict[str, Any], answer: Any, done: list[Any], probe: tuple[str, str]) -> Look:
    import ray

    address, gpus = node["NodeManagerAddress"], float(node["Resources"].get("GPU", 0))
    if answer not in done:
        return Look(address, gpus, trouble="it did not answer a task in time")
    try:
        said = ray.get(answer)
    except Exception as error:  # noqa: BLE001 - one node's trouble is that node's answer
        return Look(address, gpus, trouble=str(error).strip().splitlines()[-1])
    path, token = probe
    return Look(
        address, gpus, reads=said["read"] == token, writes=_read(f"{path}.{node['NodeID']}") == token,
        python=said["python"], packages=said["packages"], missing=tuple(said["missing"]),
        devices=tuple((name, int(size)) for name, size in said["devices"]), limits=said["limits"],
    )


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def _pinned():
    """The task. It travels by value, since nothing of ours need be installed there: it uses no name of this module."""

    def answer(probe, node, packages, paths):
        import os
        import platform
        import subprocess
        from importlib import metadata

        def version(package):
            try:
                return metadata.version(package)
            except metadata.PackageNotFoundError:
                return ""

        def devices():
            asked = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
            try:
                done = subprocess.run(asked, capture_output=True, text=True, timeout=20)
            except (OSError, subprocess.SubprocessError):
                return []
            lines = done.stdout.strip().splitlines() if done.returncode == 0 else []
            pairs = [line.rpartition(",") for line in lines]
            return [(name.strip(), size.strip()) for name, _, size in pairs if size.strip().isdigit()]

        def limits():
            import resource
            import shutil

            def number(path):
                try:
                    with open(path, encoding="ascii") as file:
                        return int(file.read())
                except (OSError, ValueError):  # absent, or "max"
                    return None

            allowed = resource.getrlimit(resource.RLIMIT_NPROC)[0]
            processes = [None if allowed == resource.RLIM_INFINITY else allowed, number("/sys/fs/cgroup/pids.max")]
            memory = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), number("/sys/fs/cgroup/memory.max")]
            try:
                shm = shutil.disk_usage("/dev/shm").total
            except OSError:
                shm = None
            found = {
                "processes": min((one for one in processes if one is not None), default=None),
                "memory": min(one for one in memory if one is not None),
                "shm": shm,
            }
            return {name: value for name, value in found.items() if value is not None}

        read = ""
        try:
            with open(probe, encoding="ascii") as file:
                read = file.read()
            with open(f"{probe}.{node}", "w", encoding="ascii") as file:
                file.write(read)
        except OSError:
            pass
        return {
            "read": read,
            "python": platform.python_version(),
            "packages": {package: version(package) for package in packages},
            "missing": [path for path in paths if not os.path.exists(path)],
            "devices": devices(),
            "limits": limits(),
        }

    return answer


def shared_answers(looks: list[Look], directory: str) -> list[Answer]:
    """Whether each node sees the very directory that is seen here, and may write there."""
    answers = []
    for one in looks:
        if one.trouble:
            remedy = "look at the node: `ray status` and its logs say more"
            answers.append(Answer("shared root", False, f"node {one.node}: {one.trouble}", remedy))
        elif one.reads and one.writes:
            answers.append(Answer("shared root", True, f"node {one.node} sees {directory}, and may write there"))
        else:
            what, remedy = (
                ("may not write to", "give Ray's user there the right to write") if one.reads
                else ("does not see", "mount the shared file system there under the same path")
            )
            answers.append(Answer("shared root", False, f"node {one.node} {what} {directory}", remedy))
    return answers


def device_answers(looks: list[Look]) -> list[Answer]:
    """The GPUs that Ray offers on each node against the GPUs that are there."""
    answers = []
    for one in looks:
        if one.trouble or not (one.gpus or one.devices):
            continue
        there = ", ".join(f"{name} ({size / 1024:.0f} GiB)" for name, size in one.devices) or "none that nvidia-smi knows"
        enough = len(one.devices) >= one.gpus or not one.devices
        remedy = "" if enough else "start Ray there with as many GPUs as there are (--num-gpus)"
        text = f"node {one.node}: Ray offers {one.gpus:g}; there: {there}"
        answers.append(Answer("GPUs of a node", enough, text, remedy, "warning"))
    return answers


def version_answers(looks: list[Look], packages: Iterable[str]) -> list[Answer]:
    """Whether every node has a package, and the same version of it."""
    answers = []
    known = [one for one in looks if not one.trouble]
    for package in packages:
        versions: dict[str, list[str]] = {}
        for one in known:
            versions.setdefault(one.packages.get(package, ""), []).append(one.node)
        if len(versions) > 1:
            said = "; ".join(f"{version or 'missing'} on {', '.join(nodes)}" for version, nodes in sorted(versions.items()))
            remedy = f"install one version of {package} on all nodes"
            answers.append(Answer(package, False, f"{package} differs between nodes: {said}", remedy, "warning"))
    if known and len({one.python for one in known}) > 1:
        said = ", ".join(f"{one.python} on {one.node}" for one in known)
        answers.append(Answer("python", False, f"Python differs between nodes: {said}", "use one Python on all nodes"))
    return answers


def cluster_answers(shared_root: str) -> list[Answer]:
    """All that is to be said of the cluster itself."""
    connect()
    import ray

    looks = look(shared_root)
    gpus = ray.cluster_resources().get("GPU", 0.0)
    free = shutil.disk_usage(shared_root).free
    full = free < MIN_FREE_BYTES
    here = looks[0].packages if looks and not looks[0].trouble else {}
    return [
        Answer("Ray", True, f"Ray {ray.__version__}, {len(looks)} nodes, {gpus:g} GPUs"),
        *shared_answers(looks, shared_root),
        *device_answers(looks),
        *(version_answers(looks, PACKAGES) or [
            Answer("packages", True, "every node has " + ", ".join(f"{name} {version}" for name, version in here.items()))
        ]),
        Answer("disk", not full, f"{free / 2**30:.1f} GiB are free at {shared_root}", "make room" if full else "", "warning"),
    ]


def main(arguments: list[str]) -> int:
    values, _ = divided(arguments)
    root = os.path.abspath(values.get("shared_root") or os.getcwd())
    if values.get("ray") == "false":
        return print_answers([Answer("Ray", False, "this ray-worker runs without Ray", "start it on a Ray", "warning")])
    return print_answers(answer_all([("cluster", lambda: cluster_answers(root))]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
