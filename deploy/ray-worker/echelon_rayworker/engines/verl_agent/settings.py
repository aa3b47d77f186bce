"""The run that the spec and the overrides describe."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Mapping, Optional

from ..checkout import find_home
from ..spec import Launch, SpecError
from .overrides import Overrides


@dataclass(frozen=True)
class Settings:
    """A run's settings; directories are absolute. `steps`: after which a training is complete, 0 for an evaluation.
    `disk_bytes`: of its checkpoints and an export, 0 where unknown. `replicates`: times that a validation plays each game of its
    panel, 0 if its games are drawn; `panel_games`: the panel's, None for all of the split."""

    home: str
    program: str
    evaluates: bool
    attempt_dir: str
    experiment_dir: str
    shared_root: str
    checkpoint_dir: str
    train_rows: int
    val_rows: int
    steps: int
    disk_bytes: int
    observations: str
    base_model: bool
    split: str
    replicates: int
    panel_games: Optional[tuple[str, ...]]
    overrides: Overrides
    # Instead of each stage's own patience; 0: the table's.
    patience_seconds: float
    # For a checkpoint directory that another training still has.
    wait_seconds: float

    @property
    def gpus(self) -> int:
        """GPUs of the run."""
        return int(self.overrides.number("trainer.n_gpus_per_node", 8) * self.overrides.number("trainer.nnodes", 1))

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


def settings_of(launch: Launch, environment: Mapping[str, str]) -> Settings:
    """Raises SpecError, whose message says the remedy."""
    spec, plan, directories = launch.spec, launch.plan, launch.directories
    try:
        overrides = Overrides(launch.passed_on)
    except ValueError as error:
        raise SpecError(str(error)) from None
    checkpoint_dir = os.path.join(directories.experiment, overrides.text("trainer.default_local_dir") or "checkpoints")
    # Without the quotes that its placeholder needed: a program that reads the argument itself finds a path.
    overrides.set("trainer.default_local_dir", checkpoint_dir)
    evaluates = plan["phase"] == "eval"
    return Settings(
        home=find_home(spec["home"], environment, directories.shared_root),
        program=plan["program"],
        evaluates=evaluates,
        attempt_dir=directories.attempt,
        experiment_dir=directories.experiment,
        shared_root=directories.shared_root,
        checkpoint_dir=checkpoint_dir,
        train_rows=plan["dataRows"]["train"],
        val_rows=plan["dataRows"]["validation"],
        steps=plan["steps"],
        disk_bytes=plan["diskBytes"],
        observations=spec["observations"],
        base_model=spec["evaluation"].get("baseModel", False),
        split=spec["evaluation"].get("split", ""),
        replicates=spec["evaluation"].get("replicates", 0),
        panel_games=tuple(spec["evaluation"]["panel"]) if "panel" in spec["evaluation"] else None,
        overrides=overrides,
        patience_seconds=plan.get("patienceSeconds", 0.0),
        wait_seconds=plan.get("waitSeconds", 30.0),
    )
