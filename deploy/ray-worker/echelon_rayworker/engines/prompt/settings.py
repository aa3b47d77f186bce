"""The prompt engine's keys, their defaults, and the settings made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence

from ..arguments import ArgumentError, Key, Value, parse
from ..verl_agent.settings import Settings as EvaluationSettings
from ..verl_agent.settings import settings_from as evaluation_settings
from .addresses import check_base_url

KEYS: dict[str, Key] = {
    "environment.name": Key("local", choices=("local", "alfworld", "webshop")),
    "environment.seed": Key(1, minimum=0),
    "environment.max_steps": Key(30, minimum=1, maximum=1000),
    "environment.history_length": Key(2, minimum=0, maximum=64),
    "evaluation.games": Key(100, minimum=1, maximum=4096),
    "evaluation.rounds": Key(1, minimum=1, maximum=100),
    "evaluation.split": Key("held-out", choices=("held-out", "training", "seen", "unseen")),
    "method.name": Key("act", choices=("act", "react", "reflexion")),
    "method.trials": Key(1, minimum=1, maximum=20),
    "model.base_url": Key(""),
    "model.name": Key(""),
    # The variable that holds the key; empty: no key is sent.
    "model.api_key": Key(""),
    "model.temperature": Key(0.4, minimum=0, maximum=10),
    "model.max_tokens": Key(512, minimum=1),
    # Money per million tokens.
    "model.input_price": Key(0.0, minimum=0),
    "model.output_price": Key(0.0, minimum=0),
    "limits.concurrency": Key(8, minimum=1, maximum=1024),
    # 0: no limit.
    "limits.requests_per_minute": Key(0, minimum=0),
    "limits.tokens_per_minute": Key(0, minimum=0),
    "limits.budget": Key(0.0, minimum=0),
    "experiment_dir": Key(""),
}


@dataclass(frozen=True)
class Price:
    """Money per million tokens."""

    input: float
    output: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


@dataclass(frozen=True)
class Model:
    """The model, and how it is asked. `api_key`: the name of a variable; empty: none."""

    base_url: str
    name: str
    api_key: str
    temperature: float
    max_tokens: int
    price: Price


@dataclass(frozen=True)
class Limits:
    """Limits of all calls together; 0: none."""

    concurrency: int
    requests_per_minute: int
    tokens_per_minute: int
    budget: float


@dataclass(frozen=True)
class Settings:
    """An evaluation's settings."""

    environment: str
    seed: int
    max_steps: int
    history_length: int
    games: int
    rounds: int
    split: str
    method: str
    trials: int
    model: Model
    limits: Limits
    experiment_dir: str
    # The evaluation of a checkout whose environments are played; None: the local environment.
    checkout: EvaluationSettings | None


def settings_from(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """From `key=value` of KEYS and, for the environments of a checkout, `--` and the arguments of its evaluation by the
    verl-agent engine. Raises ArgumentError."""
    divider = arguments.index("--") if "--" in arguments else len(arguments)
    values = parse(arguments[:divider], KEYS)
    of_checkout = list(arguments[divider + 1 :])
    if (values["environment.name"] == "local") == bool(of_checkout):
        raise ArgumentError("the arguments of an evaluation follow -- for the environments of a checkout, and only for these")
    return settings_of(values, evaluation_settings(of_checkout, environment) if of_checkout else None)


def settings_of(values: Mapping[str, Value], checkout: EvaluationSettings | None = None) -> Settings:
    """From the values of all KEYS. Raises ArgumentError."""
    check_base_url(values["model.base_url"])
    return Settings(
        environment=values["environment.name"],
        seed=values["environment.seed"],
        max_steps=values["environment.max_steps"],
        history_length=values["environment.history_length"],
        games=values["evaluation.games"],
        rounds=values["evaluation.rounds"],
        split=values["evaluation.split"],
        method=values["method.name"],
        trials=values["method.trials"],
        model=Model(
            base_url=values["model.base_url"].rstrip("/"),
            name=values["model.name"],
            api_key=values["model.api_key"],
            temperature=values["model.temperature"],
            max_tokens=values["model.max_tokens"],
            price=Price(values["model.input_price"], values["model.output_price"]),
        ),
        limits=Limits(
            concurrency=values["limits.concurrency"],
            requests_per_minute=values["limits.requests_per_minute"],
            tokens_per_minute=values["limits.tokens_per_minute"],
            budget=values["limits.budget"],
        ),
        experiment_dir=values["experiment_dir"],
        checkout=checkout,
    )
