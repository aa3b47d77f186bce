"""What is exported, and whether it can be: the checkpoint with its shards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping

from .. import savedsteps
from ..arguments import Key, parse
from ..checkout import find_home, shared_root_of

SCRIPT = os.path.join("scripts", "model_merger.py")
KEYS: dict[str, Key] = {
    "home": Key(""),
    "experiment_dir": Key(""),
    "checkpoint_dir": Key(""),
    "step": Key(0, minimum=0),
    "output": Key(""),
    "cpus": Key(1.0, minimum=0.1),
}
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


def settings_from(arguments: list[str], environment: Mapping[str, str]) -> Settings:
    """Raises ArgumentError, whose message names the key and the remedy."""
    values: dict[str, Any] = parse(arguments, KEYS)
    directory = os.path.abspath(values["checkpoint_dir"])
    values.update(
        home=find_home(values["home"], environment, shared_root_of(directory)),
        experiment_dir=os.path.abspath(values["experiment_dir"]),
        checkpoint_dir=directory,
        output=values["output"] and os.path.abspath(values["output"]),
    )
    return Settings(**values)


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
