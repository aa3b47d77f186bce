"""The engine's own arguments, `key=value` before `--`, and the run that they and the overrides describe."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Mapping

from ..arguments import ArgumentError, Key, parse
from ..checkout import find_home, shared_root_of
from .overrides import Overrides

KEYS: dict[str, Key] = {
    "home": Key(""),
    "program": Key("recipe.hgpo.main_hgpo"),
    "phase": Key("", choices=("", "train", "eval")),
    "attempt_dir": Key(""),
    "experiment_dir": Key(""),
    "checkpoint_dir": Key(""),
    "train_rows": Key(0, minimum=0, maximum=1_000_000),
    "val_rows": Key(0, minimum=0, maximum=1_000_000),
    "steps": Key(0, minimum=0),
    "disk_bytes": Key(0, minimum=0),
    "advantages": Key("recipe", choices=("recipe", "exact")),
    "observations": Key("digests", choices=("digests", "texts")),
    "base_model": Key(False),
    # Instead of each stage's own patience; 0: the table's.
    "patience_seconds": Key(0.0, minimum=0),
    # For a checkpoint directory that another training still has.
    "wait_seconds": Key(30.0, minimum=0, maximum=86_400),
}


@dataclass(frozen=True)
class Settings:
    """A run's settings; directories are absolute. `steps`: after which a training is complete, 0 where unknown.
    `disk_bytes`: of its checkpoints and an export, 0 where unknown."""

    home: str
    program: str
    evaluates: bool
    attempt_dir: str
    experiment_dir: str
    checkpoint_dir: str
    train_rows: int
    val_rows: int
    steps: int
    disk_bytes: int
    advantages: str
    observations: str
    base_model: bool
    patience_seconds: float
    wait_seconds: float
    overrides: Overrides

    @property
    def gpus(self) -> int:
        """GPUs of the run."""
        return int(self.overrides.number("trainer.n_gpus_per_node", 8) * self.overrides.number("trainer.nnodes", 1))

    @property
    def shared_root(self) -> str:
        """The directory that all nodes see, as the checkpoint directory tells it."""
        return shared_root_of(self.checkpoint_dir)

    @property
    def environments(self) -> int:
        """Environment actors: one a trajectory of a step, one a game of a validation."""
        if "search" in (self.overrides.text("env.env_name") or "").lower():
            return 0  # threads of the trainer
        groups = self.overrides.number("data.train_batch_size", 1024)
        training = 0 if self.evaluates else groups * self.overrides.number("env.rollout.n", 1)
        return int(training + self.overrides.number("data.val_batch_size", 0))

    @property
    def cpus_wanted(self) -> float:
        """CPUs without which a start hangs in silence: environment actors, the trainer, one a GPU."""
        each = self.overrides.number("env.resources_per_worker.num_cpus", 0.1)
        return round(self.environments * each + 1 + self.gpus, 3)


def settings_from(arguments: list[str], environment: Mapping[str, str]) -> Settings:
    """Raises ArgumentError, whose message names the key and the remedy."""
    divider = arguments.index("--") if "--" in arguments else len(arguments)
    values = parse(arguments[:divider], KEYS)
    try:
        overrides = Overrides(arguments[divider + 1 :])
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    attempt_dir = os.path.abspath(values["attempt_dir"] or os.getcwd())
    experiment_dir = os.path.abspath(values["experiment_dir"] or attempt_dir)
    given = overrides.text("trainer.default_local_dir")
    checkpoint_dir = os.path.join(experiment_dir, values["checkpoint_dir"] or given or "checkpoints")
    if given and values["checkpoint_dir"] and os.path.join(experiment_dir, given) != checkpoint_dir:
        raise ArgumentError(f"checkpoint_dir and trainer.default_local_dir differ: {checkpoint_dir}, {given}")
    # A relative directory would be below whatever directory the trainer's process has on its node.
    overrides.set("trainer.default_local_dir", checkpoint_dir)
    evaluates = values["phase"] == "eval" or (not values["phase"] and overrides.flag("trainer.val_only", False))
    values.update(
        home=find_home(values["home"], environment, shared_root_of(checkpoint_dir)),
        attempt_dir=attempt_dir,
        experiment_dir=experiment_dir,
        checkpoint_dir=checkpoint_dir,
        steps=0 if evaluates else values["steps"] or _steps(overrides, values["train_rows"]),
    )
    del values["phase"]
    return Settings(**values, evaluates=evaluates, overrides=overrides)


def _steps(overrides: Overrides, train_rows: int) -> int:
    """The trainer's own arithmetic; 0 where the overrides do not say it."""
    stated = int(overrides.number("trainer.total_training_steps", 0))
    batch = int(overrides.number("data.train_batch_size", 0))
    rows = train_rows or batch
    epochs = int(overrides.number("trainer.total_epochs", 0))
    return stated or (epochs * (rows // batch) if batch else 0)
