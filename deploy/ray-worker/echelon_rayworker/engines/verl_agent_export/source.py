"""What is exported, and whether it can be: the checkpoint with its shards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping

from .. import savedsteps
from ..checkout import find_home
from ..spec import Launch

SCRIPT = os.path.join("scripts", "model_merger.py")
# The shards are in float32. An export has half of their bytes, and a merge takes up to twice as many in memory.
EXPORTED_SHARE = 0.5
MEMORY_FACTOR = 2


class NotExportable(ValueError):
    """The checkpoint cannot be exported as it stands; the message says the remedy."""


@dataclass(frozen=True)
class Settings:
    """An export's settings; directories are absolute. `step`: 0 is the newest complete one. `output`: empty is beside the
    checkpoint."""

    home: str
    experiment_dir: str
    shared_root: str
    checkpoint_dir: str
    step: int
    output: str
    cpus: float

    @property
    def script(self) -> str:
        """The checkout's program that merges shards."""
        return os.path.join(self.home, SCRIPT)


@dataclass(frozen=True)
class Source:
    """A complete checkpoint. `shards`: the directory of the policy. `target`: where its export belongs."""

    step: int
    shards: str
    world_size: int
    bytes: int
    target: str

    @property
    def identity(self) -> dict[str, Any]:
        """What an export records, to be recognized as one of this very checkpoint."""
        first = savedsteps.shard(self.shards, "model", self.world_size, 0)
        return {
            "checkpoint": self.shards, "step": self.step, "worldSize": self.world_size, "bytes": self.bytes,
            "savedAt": int(os.path.getmtime(first)),
        }


def settings_of(launch: Launch, environment: Mapping[str, str]) -> Settings:
    """Raises SpecError, whose message says the remedy."""
    spec, plan, directories = launch.spec, launch.plan, launch.directories
    return Settings(
        home=find_home(None, environment, directories.shared_root),
        experiment_dir=directories.experiment,
        shared_root=directories.shared_root,
        checkpoint_dir=launch.fill(plan["checkpointDirectory"]),
        step=spec["checkpoint"].get("step", 0),
        output=launch.fill(plan["output"]),
        cpus=spec["resources"]["cpus"],
    )


def find_source(settings: Settings) -> Source:
    """The named step, or the newest complete one. Raises NotExportable."""
    directory, step = settings.checkpoint_dir, settings.step
    if step:
        lack = _lacks(savedsteps.folder(directory, step))
    else:
        newest, lack = savedsteps.newest_complete(directory, _lacks)
        step = newest or 0
    if not step or (settings.step and lack):
        raise NotExportable(f"{lack}: export another step, or another training of this cluster")
    path = savedsteps.folder(directory, step)
    shards = os.path.join(path, "actor")
    [world_size] = savedsteps.world_sizes(shards)
    size = sum(
        os.path.getsize(savedsteps.shard(shards, "model", world_size, rank)) for rank in range(world_size)
    )
    return Source(step, shards, world_size, size, settings.output or f"{path}-huggingface")


def _lacks(path: str) -> str:
    """Why a checkpoint cannot be exported; empty if it can."""
    shards = os.path.join(path, "actor")
    if not os.path.isdir(shards):
        return f"{shards} is missing"
    sizes = savedsteps.world_sizes(shards)
    if len(sizes) > 1:
        return f"{shards} has shards of {' and '.join(map(str, sizes))} GPUs, and the merge would mix them"
    if lack := savedsteps.missing_shard(shards, ["model"], sizes[0] if sizes else 1):
        return lack
    if os.path.isdir(os.path.join(shards, "lora_adapter")):
        return f"{shards} holds LoRA adapters, which {SCRIPT} cannot merge"
    if not any(os.path.isfile(os.path.join(shards, *place, "config.json")) for place in ([], ["huggingface"])):
        return f"{shards} holds no config.json"
    return ""
