"""The local engine's keys, their defaults, and the settings made of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Mapping

from ..arguments import Key, Value
from .estimators import ESTIMATORS, EstimatorSettings
from .rollout import RolloutSettings

# estimator.history_length follows environment.history_length, as one key drives both in the recipe.
_AS_ENVIRONMENT = -1

KEYS: dict[str, Key] = {
    "estimator.name": Key("hgpo", choices=tuple(ESTIMATORS)),
    "estimator.history_length": Key(_AS_ENVIRONMENT, minimum=0, maximum=64),
    "estimator.mode": Key("mean_std_norm", choices=("mean_std_norm", "mean_norm")),
    "estimator.length_weight_alpha": Key(1.0, minimum=-16, maximum=16),
    "estimator.base_group": Key(False),
    "estimator.step_advantage_weight": Key(1.0, minimum=0, maximum=100),
    "estimator.normalize_by_std": Key(True),
    "estimator.gamma": Key(0.95, minimum=0, maximum=1),
    "estimator.invalid_action_penalty": Key(0.1, minimum=0, maximum=100),
    "environment.seed": Key(1, minimum=0),
    "environment.max_steps": Key(30, minimum=1, maximum=200),
    "environment.history_length": Key(2, minimum=0, maximum=8),
    "rollout.groups": Key(8, minimum=1, maximum=256),
    "rollout.group_size": Key(8, minimum=1, maximum=256),
    "rollout.actors": Key(2, minimum=1, maximum=64),
    "training.steps": Key(150, minimum=1),
    "training.learning_rate": Key(0.03, minimum=0, maximum=10),
    "training.epochs": Key(2, minimum=1, maximum=100),
    "training.clip_ratio": Key(0.2, minimum=0, maximum=10),
    "training.kl_coefficient": Key(0.001, minimum=0, maximum=10),
    "training.seed": Key(1, minimum=0),
    "training.evaluate_every": Key(0, minimum=0),
    "training.save_every": Key(10, minimum=0),
    "evaluation.games": Key(100, minimum=1, maximum=10000),
    "observations": Key("digests", choices=("digests", "texts")),
    "experiment_dir": Key(""),
    "step_delay_ms": Key(0, minimum=0),
}

# What may differ between a checkpoint and the run that resumes from it: all else would make another curve.
_FREE_ON_RESUME = frozenset(
    """training.steps training.evaluate_every training.save_every evaluation.games observations experiment_dir
    step_delay_ms rollout.actors""".split()
)


@dataclass(frozen=True)
class Settings:
    """A run's settings. `curve` holds the keys that decide the numbers, for the comparison on resume."""

    estimator: EstimatorSettings
    rollout: RolloutSettings
    groups: int
    actors: int
    steps: int
    learning_rate: float
    epochs: int
    clip_ratio: float
    kl_coefficient: float
    evaluate_every: int
    save_every: int
    evaluation_games: int
    texts: bool
    experiment_dir: str
    step_delay_ms: int
    curve: Mapping[str, Value]


def settings_of(values: Mapping[str, Value]) -> Settings:
    """From the values of all KEYS."""
    values = dict(values)
    if values["estimator.history_length"] == _AS_ENVIRONMENT:
        values["estimator.history_length"] = values["environment.history_length"]
    return Settings(
        estimator=EstimatorSettings(**{key: values[f"estimator.{key}"] for key in asdict(EstimatorSettings())}),
        rollout=RolloutSettings(
            environment_seed=values["environment.seed"],
            training_seed=values["training.seed"],
            max_steps=values["environment.max_steps"],
            history_length=values["environment.history_length"],
            group_size=values["rollout.group_size"],
        ),
        groups=values["rollout.groups"],
        actors=values["rollout.actors"],
        steps=values["training.steps"],
        learning_rate=values["training.learning_rate"],
        epochs=values["training.epochs"],
        clip_ratio=values["training.clip_ratio"],
        kl_coefficient=values["training.kl_coefficient"],
        evaluate_every=values["training.evaluate_every"],
        save_every=values["training.save_every"],
        evaluation_games=values["evaluation.games"],
        texts=values["observations"] == "texts",
        experiment_dir=values["experiment_dir"],
        step_delay_ms=values["step_delay_ms"],
        curve={key: value for key, value in values.items() if key not in _FREE_ON_RESUME},
    )
