"""The prompt engine's settings, and the evaluation whose environments it plays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Mapping

from ..spec import Launch, typed
from ..verl_agent.settings import Settings as EvaluationSettings
from ..verl_agent.settings import settings_of as evaluation_settings
from .addresses import check_base_url


@dataclass(frozen=True)
class Price:
    """Money per million tokens."""

    input: float
    output: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


@dataclass(frozen=True)
class Model:
    """The model, and how it is asked. `api_key`: the name of a variable; empty: no key is sent."""

    base_url: str
    name: str
    temperature: float
    max_tokens: int
    price: Price
    api_key: str = ""


@dataclass(frozen=True)
class Limits:
    """Limits of all calls together; 0: none."""

    concurrency: int
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    budget: float = 0.0


@dataclass(frozen=True)
class Played:
    """The games of the evaluation, and how often they are tried."""

    seed: int
    max_steps: int
    history_length: int
    games: int
    rounds: int
    trials: int
    split: str = ""


@dataclass(frozen=True)
class Settings:
    """An evaluation's settings."""

    method: str
    played: Played
    model: Model
    limits: Limits
    experiment_dir: str
    # The evaluation of a checkout whose environments are played; None: the local environment.
    checkout: EvaluationSettings | None


def settings_of(launch: Launch, environment: Mapping[str, str]) -> Settings:
    """Raises SpecError."""
    spec, evaluation = launch.spec, launch.plan.get("evaluation")
    model = typed(Model, spec["model"])
    check_base_url(model.base_url)
    return Settings(
        method=spec["method"]["name"],
        played=typed(Played, {**spec["environment"], **spec["evaluation"], **spec["method"]}),
        model=replace(model, base_url=model.base_url.rstrip("/")),
        limits=typed(Limits, spec["limits"]),
        experiment_dir=launch.directories.experiment,
        checkout=evaluation and evaluation_settings(replace(launch, **evaluation), environment),
    )
