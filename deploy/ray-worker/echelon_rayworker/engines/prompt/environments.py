"""The games that are played: many side by side, all in the same step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Protocol, Sequence

from ..local.house import NOTHING_HAPPENS, Game
from .settings import Settings
from .texts import action_of, local_prompt


@dataclass(frozen=True)
class Views:
    """What each game shows now. `anchors`: the observation alone, as training groups by it."""

    prompts: list[str]
    anchors: list[str]


@dataclass(frozen=True)
class Outcome:
    """What one step of every game did. `actions`: as they were taken from the responses."""

    views: Views
    rewards: list[float]
    done: list[bool]
    valid: list[bool]
    actions: list[str]


class Environment(Protocol):
    """Games that start and step together. `metrics`: names and values of a finished round, as evaluation has them."""

    count: int

    def start(self, round: int, trial: int) -> Views:
        """Starts all games of the round anew: equal arguments, equal games."""

    def step(self, responses: Mapping[int, str]) -> Outcome:
        """One response for each game that is played; the others get none."""

    def metrics(self, returns: Sequence[float]) -> dict[str, float]:
        """The evaluation's own metrics besides the success rate, over the last trial of each game."""


class LocalEnvironment:
    """Echelon's text environment (see engines.local.house), with the games of the local engine's evaluation."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.count = settings.played.games

    def start(self, round: int, trial: int) -> Views:
        self._games = [Game(self._seed(number)) for number in range(self.count)]
        self._recent = [(game.first_observation(),) for game in self._games]
        return self._views()

    def step(self, responses: Mapping[int, str]) -> Outcome:
        actions = [action_of(responses.get(game, "")) for game in range(self.count)]
        rewards, valid = [], []
        for index, (game, action) in enumerate(zip(self._games, actions)):
            observation, reward, admissible = (NOTHING_HAPPENS, 0.0, False) if game.done else game.step(action)
            self._recent[index] = (observation, *self._recent[index])[: self._settings.played.history_length + 1]
            rewards.append(reward)
            valid.append(admissible)
        return Outcome(self._views(), rewards, [game.done for game in self._games], valid, actions)

    def metrics(self, returns: Sequence[float]) -> dict[str, float]:
        return {}

    def _seed(self, number: int) -> str:
        settings = self._settings
        if settings.played.split == "training":
            return f"train/{settings.played.seed}/1/{number}"
        return f"held-out/{settings.played.seed}/{number}"

    def _views(self) -> Views:
        prompts = [
            local_prompt(game.task.text(), recent, game.offered()) for game, recent in zip(self._games, self._recent)
        ]
        return Views(prompts, [recent[0] for recent in self._recent])
