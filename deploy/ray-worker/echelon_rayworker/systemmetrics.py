"""Metrics of the machine beside those of the training: of an attempt's nodes, and of its driver's processes."""

from __future__ import annotations

import time
from typing import Callable, Collection, Iterable, Mapping, Optional

from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.nodehealth import FRESH_SECONDS, read_health
from echelon_rayworker.processes import usage_of

EVERY_SECONDS = 30.0
EVERY_VARIABLE = "ECHELON_SYSTEM_METRICS_SECONDS"


def node_metrics(healths: Iterable[pb.NodeHealth]) -> dict[str, float]:
    """The metrics of nodes: means of use, maxima of what can run out or fail. Unknown ones are absent."""
    known = list(healths)
    gpus = [gpu for health in known for gpu in health.gpus]

    def over(messages: list, field: str, reduce: Callable[[list[float]], float]) -> Optional[float]:
        values = [getattr(one, field) for one in messages if one.HasField(field)]
        return reduce(values) if values else None

    mean = lambda values: sum(values) / len(values)  # noqa: E731
    found = {
        "system/cpu_percent": over(known, "cpu_percent", mean),
        "system/memory_percent": over(known, "memory_percent", max),
        "system/gpu_percent": over(gpus, "utilization_percent", mean),
        "system/gpu_memory_percent": over(gpus, "memory_percent", max),
        "system/gpu_temperature_celsius": over(gpus, "temperature_celsius", max),
        "system/gpu_xid": over(gpus, "xid", max),
        "system/gpu_ecc_errors": over(gpus, "ecc_errors", sum),
        "system/gpu_faults": sum(len(gpu.faults) for gpu in gpus) if gpus else None,
    }
    return {name: value for name, value in found.items() if value is not None}


class SystemMetrics:
    """The points of one attempt, one every ``ECHELON_SYSTEM_METRICS_SECONDS`` of its environment; 0: none."""

    def __init__(self, state_dir: str, nodes: Collection[str], attempt: int, environment: Mapping[str, str]) -> None:
        self._state_dir, self._nodes = state_dir, nodes
        try:
            given = float(environment.get(EVERY_VARIABLE) or EVERY_SECONDS)
        except ValueError:
            given = EVERY_SECONDS
        self._every = max(1.0, given) if given > 0 else 0.0
        # A later attempt replaces the steps of the one before from its first point on: that is the training's to say.
        self._step: Optional[int] = 0 if attempt == 1 else None
        self._next = time.monotonic() + self._every
        self._before: Optional[tuple[float, float]] = None

    def note(self, step: int) -> None:
        """The training reported metrics of this step."""
        self._step = max(step, self._step or 0)

    def take(self, processes: Callable[[], Iterable[int]]) -> Optional[pb.AttemptEvent]:
        """The point that is due, if one is. ``processes``: those of the driver."""
        now = time.monotonic()
        if self._every <= 0 or self._step is None or now < self._next:
            return None
        self._next = now + self._every
        healths, read_at = read_health(self._state_dir)
        values = node_metrics(healths[node] for node in self._nodes if node in healths) if time.time() - read_at < FRESH_SECONDS else {}
        seconds, size = usage_of(processes())
        values["system/process_memory_bytes"] = size
        if self._before is not None:
            past, before = self._before
            values["system/process_cpu_percent"] = round(max(0.0, 100 * (seconds - before) / (now - past)), 1)
        self._before = (now, seconds)
        return pb.AttemptEvent(metrics=pb.Metrics(step=self._step, values=values))
