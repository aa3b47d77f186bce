"""What the scheduler allocated to an attempt, node by node, as the driver and its processes read it from their environment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterable, Mapping

VARIABLE = "ECHELON_NODES"


@dataclass(frozen=True)
class AllocatedNode:
    """GPUs and CPUs of one node. `id`: as Ray names it."""

    id: str
    gpus: float
    cpus: float

    @property
    def cpus_beside(self) -> float:
        """The CPUs beside those of the GPU workers, which have one for each GPU."""
        return max(0.0, round(self.cpus - self.gpus, 6))


def to_text(nodes: Iterable[Any]) -> str:
    """The variable's value. `nodes`: anything with the fields of AllocatedNode."""
    return json.dumps([{"id": node.id, "gpus": node.gpus, "cpus": node.cpus} for node in nodes])


def nodes_of(environment: Mapping[str, str]) -> list[AllocatedNode]:
    """The allocated nodes; empty if the attempt may run anywhere."""
    return [AllocatedNode(**node) for node in json.loads(environment.get(VARIABLE) or "[]")]
