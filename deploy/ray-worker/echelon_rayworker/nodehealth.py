"""What Ray's agent and DCGM's exporter print of each node, as part of the ray-worker's report on its nodes.

Ray's agent has CPU, memory and the use of GPUs, if Ray is installed with its extra `default`. DCGM's exporter has Xids and ECC errors
besides. The ray-worker's own node says CPU and memory itself if Ray does not.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Iterable, Mapping, Sequence

from echelon_rayworker.files import read_regular, write_file
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.processes import Load

FILE = "health.pb"
PORT_VARIABLE = "ECHELON_DCGM_PORT"
# The address of a node's exporter, if it is not the node's own: in Kubernetes, Ray's nodes are pods.
HOST_LABEL = "echelon/dcgm-host"
EVERY_SECONDS = 15.0
# An older file says nothing of the present.
FRESH_SECONDS = 60.0
_PAGE_SECONDS = 3.0
_MAX_BYTES = 16 * 1024 * 1024
_MAX_GPUS = 64
_THREADS = 8
# DCGM prints numbers from here on for "blank", "not found" and the like.
_BLANK = 2**31 - 16

# NVIDIA's catalogue of Xids: those after which a GPU must be reset or replaced. Others can be a program's own fault.
HARDWARE_XIDS: Mapping[int, str] = {
    48: "double-bit ECC error",
    62: "halt of an internal micro-controller",
    64: "failure to record a row for remapping",
    74: "NVLink error",
    79: "the GPU has fallen off the bus",
    95: "uncontained memory error",
    119: "timeout of the GPU's system processor",
    120: "error of the GPU's system processor",
    140: "unrecovered ECC error",
}

_LINE = re.compile(r"^(ray_node_\w+|DCGM_FI_DEV_\w+)\{(.*)\}\s+(\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
Figures = dict[str, float]


def figures_of(page: str) -> tuple[Figures, dict[str, Figures], dict[str, str]]:
    """The figures of a page in Prometheus's text format: of the node, of each GPU by its index, and the GPUs' models. Of several
    values of one GPU, as MIG instances and pods have them, the largest counts."""
    node: Figures = {}
    gpus: dict[str, Figures] = defaultdict(dict)
    models: dict[str, str] = {}
    for line in page.splitlines():
        found = _LINE.match(line)
        if not found:
            continue
        name, labels = found[1], dict(_LABEL.findall(found[2]))
        try:
            value = float(found[3])
        except ValueError:
            continue
        if not 0 <= value or (name.startswith("DCGM") and value >= _BLANK):
            continue
        gpu = labels.get("GpuIndex") or labels.get("gpu")
        if gpu is None:
            node[name] = value
        elif gpu in gpus or len(gpus) < _MAX_GPUS:
            gpus[gpu][name] = max(value, gpus[gpu].get(name, 0.0))
            models[gpu] = (labels.get("modelName") or labels.get("GpuDeviceName") or models.get(gpu, ""))[:80]
    return node, gpus, models


def health_of(pages: Iterable[str]) -> pb.NodeHealth:
    """The health of a node by its pages; what DCGM says of a GPU counts before what Ray says."""
    node: Figures = {}
    gpus: dict[str, Figures] = defaultdict(dict)
    models: dict[str, str] = {}
    for page in pages:
        more, of_gpus, names = figures_of(page)
        node.update(more)
        models.update(names)
        for gpu, figures in of_gpus.items():
            gpus[gpu].update(figures)
    order = sorted(gpus, key=lambda gpu: (len(gpu), gpu))
    health = pb.NodeHealth(gpus=[_gpu(gpu[:16], models.get(gpu, ""), gpus[gpu]) for gpu in order])
    _put(health, "cpu_percent", node.get("ray_node_cpu_utilization"))
    _put(health, "memory_percent", _share(node.get("ray_node_mem_used"), node.get("ray_node_mem_total")))
    return health


def _gpu(index: str, model: str, known: Figures) -> pb.GpuHealth:
    gpu = pb.GpuHealth(gpu=index, model=model)
    used, free = known.get("DCGM_FI_DEV_FB_USED"), known.get("DCGM_FI_DEV_FB_FREE")
    if used is None or free is None:
        used, free = known.get("ray_node_gram_used"), known.get("ray_node_gram_available")
    _put(gpu, "utilization_percent", known.get("DCGM_FI_DEV_GPU_UTIL", known.get("ray_node_gpus_utilization")))
    _put(gpu, "memory_percent", None if used is None or free is None else _share(used, used + free))
    _put(gpu, "temperature_celsius", known.get("DCGM_FI_DEV_GPU_TEMP", known.get("ray_node_gpu_temperature_celsius")))
    xid, ecc = known.get("DCGM_FI_DEV_XID_ERRORS"), known.get("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL")
    if xid is not None:
        gpu.xid = int(xid)
        if gpu.xid in HARDWARE_XIDS:
            gpu.faults.append(f"Xid {gpu.xid} ({HARDWARE_XIDS[gpu.xid]})")
    if ecc is not None:
        gpu.ecc_errors = int(ecc)
        if gpu.ecc_errors:
            gpu.faults.append(f"{gpu.ecc_errors} uncorrectable ECC errors")
    if known.get("DCGM_FI_DEV_ROW_REMAP_FAILURE"):
        gpu.faults.append("a row of its memory cannot be remapped")
    return gpu


def _share(used: float | None, total: float | None) -> float | None:
    return None if used is None or not total else min(100.0, 100 * used / total)


def _put(message: pb.NodeHealth | pb.GpuHealth, name: str, value: float | None) -> None:
    if value is not None:
        setattr(message, name, round(value, 1))


def fetch_page(url: str) -> str:
    """A page of a node, without a proxy; empty if there is none."""
    from urllib.request import ProxyHandler, build_opener

    try:
        with build_opener(ProxyHandler({})).open(url, timeout=_PAGE_SECONDS) as answer:
            return answer.read(_MAX_BYTES).decode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - whatever listens there
        return ""


def pages_of(node: Mapping, labels: Mapping[str, str]) -> tuple[str, ...]:
    """The addresses of a node's pages: of Ray's agent, then of DCGM's exporter if the node has GPUs. ``node``: as Ray lists it."""
    address, port = node["NodeManagerAddress"], node.get("MetricsExportPort") or 0
    hosted = lambda host: f"[{host}]" if ":" in host else host  # noqa: E731
    ray_page = [f"http://{hosted(address)}:{port}/metrics"] if port > 0 else []
    if not (node.get("Resources") or {}).get("GPU"):
        return tuple(ray_page)
    dcgm = f"{hosted(labels.get(HOST_LABEL) or address)}:{os.environ.get(PORT_VARIABLE) or 9400}"
    return (*ray_page, f"http://{dcgm}/metrics")


class Health:
    """What was last read of each node; read again in threads of its own, so that no report waits for a page."""

    def __init__(self, state_dir: str, fetch: Callable[[str], str] = fetch_page, every_seconds: float = EVERY_SECONDS) -> None:
        self._path = os.path.join(state_dir, FILE)
        self._fetch, self._every = fetch, every_seconds
        self._load = Load()
        self._known, self._read_at = read_health(state_dir)
        self._busy = threading.Lock()
        self._next = 0.0

    def report(self, nodes: Sequence[pb.Node], pages: Mapping[str, tuple[str, ...]], own: str) -> None:
        """Adds what is known to each node. Reads the pages again if it is time. ``own``: the ray-worker's node."""
        for node in nodes:
            if node.alive and node.id in self._known:
                node.health.CopyFrom(self._known[node.id])
                node.health.age_ms = max(0, int((time.time() - self._read_at) * 1000))
        if time.monotonic() >= self._next and self._busy.acquire(blocking=False):
            self._next = time.monotonic() + self._every
            alive = {node.id: pages.get(node.id, ()) for node in nodes if node.alive}
            threading.Thread(target=self._read, args=(alive, own), name="echelon-health", daemon=True).start()

    def _read(self, pages: Mapping[str, tuple[str, ...]], own: str) -> None:
        try:
            with ThreadPoolExecutor(_THREADS) as readers:
                texts = {node: list(readers.map(self._fetch, urls)) for node, urls in pages.items()}
            found = {node: health_of(text) for node, text in texts.items()}
            if own in found and not found[own].HasField("cpu_percent"):
                found[own].cpu_percent, found[own].memory_percent = self._load.take()
            for node, health in found.items():
                # An exporter that is away for a while has repaired nothing.
                if not any("DCGM_FI_" in page for page in texts[node]) and node in self._known:
                    _keep_faults(health, self._known[node])
            self._known, self._read_at = found, time.time()
            report = pb.DescribeResponse(nodes=[pb.Node(id=node, health=health) for node, health in found.items()])
            write_file(self._path, report.SerializeToString())
        except OSError:
            pass  # a full disk; the next look writes it
        finally:
            self._busy.release()


def _keep_faults(health: pb.NodeHealth, before: pb.NodeHealth) -> None:
    gpus = {gpu.gpu: gpu for gpu in health.gpus}
    for old in before.gpus:
        if old.faults:
            (gpus.get(old.gpu) or health.gpus.add(gpu=old.gpu, model=old.model)).faults[:] = old.faults


def read_health(state_dir: str) -> tuple[dict[str, pb.NodeHealth], float]:
    """What the ray-worker last read of each node, and when; nothing if there is no such file."""
    path = os.path.join(state_dir, FILE)
    try:
        nodes = pb.DescribeResponse.FromString(read_regular(path, _MAX_BYTES)).nodes
        return {node.id: node.health for node in nodes}, os.stat(path).st_mtime
    except Exception:  # noqa: BLE001 - a training can put anything there
        return {}, 0.0
