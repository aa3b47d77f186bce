"""What would fail before anything runs, as answers (see engines/answers.py)."""

from __future__ import annotations

import os

from echelon_rayworker import nodes

from ..answers import Answer, Check, run_preflight
from ..spec import Launch
from .export import check_target
from .source import MEMORY_FACTOR, NotExportable, Settings, Source, find_source, settings_of

PACKAGES = ("torch", "transformers", "accelerate", "safetensors")


def check_source(settings: Settings) -> list[Answer]:
    """Is the checkpoint complete, and is there room for its export?"""
    try:
        source = find_source(settings)
        check_target(settings, source)
    except NotExportable as error:
        return [Answer("export", False, str(error), "see the message")]
    text = f"step {source.step}, written by {source.world_size} GPUs, can be exported to {source.target}"
    return [Answer("export", True, text)]


def check_cluster(settings: Settings) -> list[Answer]:
    """Whether every node, any of which may be allocated, sees the files, and has the packages and the memory."""
    nodes.connect()
    looks = nodes.look(settings.shared_root, PACKAGES, [settings.script, settings.checkpoint_dir])
    try:
        source = find_source(settings)
    except NotExportable:
        return nodes.shared_answers(looks, settings.shared_root)
    own = [answer for one in looks if not one.trouble for answer in node_answers(one, source)]
    return [*nodes.shared_answers(looks, settings.shared_root), *own]


def node_answers(node: nodes.Look, source: Source) -> list[Answer]:
    """What a node lacks for the export."""
    needed = source.bytes * MEMORY_FACTOR
    lacks = [
        *(f"does not see {path}" for path in node.missing),
        *(f"has no package {name}" for name, version in node.packages.items() if not version),
    ]
    if node.limits.get("memory", needed) < needed:
        lacks.append(f"has {node.limits['memory'] / 1e9:.1f} GB of memory, and the merge may take {needed / 1e9:.1f} GB")
    remedy = "the export fails if this node is allocated: fix it, or name a cluster without it"
    return [Answer("node", False, f"node {node.node} {lack}", remedy, "warning") for lack in lacks]


def checks_of(launch: Launch) -> list[Check]:
    """All checks."""
    settings = settings_of(launch, os.environ)
    checks = [("export", lambda: check_source(settings))]
    return [*checks, ("cluster", lambda: check_cluster(settings))] if launch.with_ray else checks


if __name__ == "__main__":
    run_preflight(checks_of)
