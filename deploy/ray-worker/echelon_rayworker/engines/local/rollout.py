"""Playing games: trajectories for training, and evaluation. Pure functions of weights and seeds.

Chance comes from generators keyed by (seed, step, group), never from a shared stream, so that what is collected
does not depend on how games are spread over actors.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .features import Prompt, command_features, context_features
from .house import Game
from .policy import Choices, assemble, densify, log_probabilities, sample

EVALUATION_TEMPERATURE = 0.4


@dataclass
class Trajectory:
    """One episode: per step its observation, reward, validity and command, and what the choice was made from."""

    observations: list[str] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    context: list[list[int]] = field(default_factory=list)
    candidates: list[list[tuple[int, ...]]] = field(default_factory=list)
    picks: list[int] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        return sum(self.rewards) > 0


def play(
    games: list[Game], uniforms: np.ndarray, weights: np.ndarray, history_length: int, temperature: float = 1.0
) -> list[Trajectory]:
    """Plays all games side by side, one uniform number a game and step (`uniforms` is games × max steps)."""
    played = [Trajectory() for _ in games]
    task = [game.task.text() for game in games]
    recent = [(game.first_observation(),) for game in games]
    for step in range(uniforms.shape[1]):
        active = [index for index, game in enumerate(games) if not game.done]
        if not active:
            break
        prompts = [Prompt(task[index], recent[index]) for index in active]
        offers = [games[index].offered() for index in active]
        context = [context_features(prompt) for prompt in prompts]
        candidates = [command_features(offered, prompt) for offered, prompt in zip(offers, prompts)]
        choices = densify(assemble(context, candidates), weights)
        chosen = sample(log_probabilities(weights, choices, temperature), choices.start, uniforms[active, step])
        for place, index in enumerate(active):
            pick = int(chosen[place] - choices.start[place])
            command = offers[place][pick]
            observation, reward, valid = games[index].step(command)
            one = played[index]
            one.observations.append(recent[index][0])
            one.rewards.append(reward)
            one.valid.append(valid)
            one.commands.append(command)
            one.context.append(context[place])
            one.candidates.append(candidates[place])
            one.picks.append(pick)
            recent[index] = (observation, *recent[index])[: history_length + 1]
    return played


@dataclass(frozen=True)
class Collected:
    """Rows of whole groups, environment-major, then time. `trajectory` counts within the group."""

    group: np.ndarray
    trajectory: np.ndarray
    step: np.ndarray
    reward: np.ndarray
    action_valid: np.ndarray
    response_length: np.ndarray
    observations: list[str]
    actions: list[str]
    choices: Choices
    pick: np.ndarray


@dataclass(frozen=True)
class RolloutSettings:
    environment_seed: int
    training_seed: int
    max_steps: int
    history_length: int
    group_size: int


def collect(settings: RolloutSettings, weights: np.ndarray, step: int, groups: list[int]) -> Collected:
    """One training step's trajectories of some groups. The games of a group are the same game."""
    games, uniforms = [], []
    for group in groups:
        seed = f"train/{settings.environment_seed}/{step}/{group}"
        games += [Game(seed) for _ in range(settings.group_size)]
        chance = np.random.default_rng([settings.training_seed, 1, step, group])
        uniforms.append(chance.random((settings.group_size, settings.max_steps)))
    played = play(games, np.concatenate(uniforms), weights, settings.history_length)
    length = [len(one.rewards) for one in played]
    return Collected(
        group=np.repeat(np.repeat(np.array(groups, np.int32), settings.group_size), length),
        trajectory=np.repeat(np.tile(np.arange(settings.group_size, dtype=np.int32), len(groups)), length),
        step=np.concatenate([np.arange(count, dtype=np.int32) for count in length]),
        reward=np.concatenate([np.array(one.rewards) for one in played]),
        action_valid=np.concatenate([np.array(one.valid) for one in played]),
        response_length=np.array([len(c.split()) for one in played for c in one.commands], np.int32),
        observations=[text for one in played for text in one.observations],
        actions=[command for one in played for command in one.commands],
        choices=assemble([c for one in played for c in one.context], [c for one in played for c in one.candidates]),
        pick=np.array([pick for one in played for pick in one.picks], np.int32),
    )


def held_out(settings: RolloutSettings, number: int) -> Game:
    """A game of the panel (numbered from 0)."""
    return Game(f"held-out/{settings.environment_seed}/{number}")


def panel_digest(settings: RolloutSettings, games: int) -> str:
    """SHA-256 over the resolved games of the panel."""
    facts = [held_out(settings, number).facts() for number in range(games)]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def evaluate(
    settings: RolloutSettings, weights: np.ndarray, games: list[int], replicates: int = 1
) -> list[dict[str, Any]]:
    """The results of games of the panel, each played `replicates` times, at a low temperature."""
    cells = [(number, replicate) for number in games for replicate in range(1, replicates + 1)]
    uniforms = [
        np.random.default_rng([settings.environment_seed, 2, number, *([replicate] if replicate > 1 else [])])
        .random(settings.max_steps)
        for number, replicate in cells
    ]
    rooms = [held_out(settings, number) for number, _ in cells]
    played = play(rooms, np.array(uniforms), weights, settings.history_length, EVALUATION_TEMPERATURE)
    return [
        {
            "game": f"room-{number}", "replicate": replicate, "success": float(one.succeeded), "score": float(sum(one.rewards)),
            "steps": len(one.rewards), "invalid_steps": one.valid.count(False),
        }
        for (number, replicate), one in zip(cells, played)
    ]  # fmt: skip
