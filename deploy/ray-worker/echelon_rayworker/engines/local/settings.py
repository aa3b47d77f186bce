"""The local engine's settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Mapping

from ..spec import snake_case, typed
from .estimators import EstimatorSettings
from .rollout import RolloutSettings

# What may differ between a checkpoint and the run that resumes from it: all else would make another curve.
_FREE_ON_RESUME = frozenset("steps evaluateEvery saveEvery captureEvery stepDelaySeconds".split())


@dataclass(frozen=True)
class Training:
    """The section `training` of a spec."""

    steps: int
    learning_rate: float
    epochs: int
    clip_ratio: float
    kl_coefficient: float
    save_every: int
    evaluate_every: int
    step_delay_seconds: float
    capture_every: int = 0
    fault: str = "none"


@dataclass(frozen=True)
class Settings:
    """A run's settings. `curve` holds the settings that decide the numbers, for the comparison on resume."""

    estimator: EstimatorSettings
    rollout: RolloutSettings
    training: Training
    groups: int
    evaluation_games: int
    replicates: int
    texts: bool
    experiment_dir: str
    curve: Mapping[str, Any]


def settings_of(spec: Mapping[str, Any], experiment_dir: str = "") -> Settings:
    """From a resolved spec."""
    environment, rollout, training = spec["environment"], spec["rollout"], spec["training"]
    estimator = typed(EstimatorSettings, {"historyLength": environment["historyLength"], **spec["estimator"]})
    decisive = {
        "estimator": asdict(estimator), "environment": environment, "rollout": rollout,
        "training": {
            key: value for key, value in training.items() if key not in _FREE_ON_RESUME and (key, value) != ("fault", "none")
        },
    }  # fmt: skip
    return Settings(
        estimator=estimator,
        rollout=typed(
            RolloutSettings,
            {**environment, **rollout, "environmentSeed": environment["seed"], "trainingSeed": training["seed"]},
        ),
        training=typed(Training, training),
        groups=rollout["groups"],
        evaluation_games=spec["evaluation"]["games"],
        replicates=spec["evaluation"].get("replicates", 1),
        texts=spec["observations"] == "texts",
        experiment_dir=experiment_dir,
        curve={f"{name}.{snake_case(key)}": value for name, one in decisive.items() for key, value in one.items()},
    )
