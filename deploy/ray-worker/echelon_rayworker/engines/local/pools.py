"""Who plays: Ray actors, each with a share of the games, or this process itself."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .policy import Choices
from .rollout import Collected, RolloutSettings, collect, evaluate

ACTORS = 2
ACTOR_CPUS = 0.1  # actors wait most of the time; all must fit beside the driver on two CPUs


class Pool(Protocol):
    def collect(self, weights: np.ndarray, step: int) -> Collected:
        """One training step's trajectories of all groups."""

    def evaluate(self, weights: np.ndarray, replicates: int) -> list[dict[str, Any]]:
        """The results of the held-out games (see rollout.evaluate)."""


def _shares(count: int, parts: int) -> list[list[int]]:
    return [part.tolist() for part in np.array_split(np.arange(count), min(parts, count))]


class InProcessPool:
    """Plays here, split as `actors` actors would, so that the sums are the same to the bit."""

    def __init__(self, settings: RolloutSettings, groups: int, games: int, actors: int = ACTORS):
        self._settings = settings
        self._groups, self._games = _shares(groups, actors), _shares(games, actors)

    def collect(self, weights: np.ndarray, step: int) -> Collected:
        return joined([collect(self._settings, weights, step, groups) for groups in self._groups])

    def evaluate(self, weights: np.ndarray, replicates: int) -> list[dict[str, Any]]:
        return [one for games in self._games for one in evaluate(self._settings, weights, games, replicates)]


class RayPool:
    """Plays in Ray actors. They keep nothing between calls, so Ray may restart them and repeat a call. `node`: the node on
    which they run; empty: any. If that node is gone, the next call fails."""

    def __init__(self, settings: RolloutSettings, groups: int, games: int, actors: int, node: str = ""):
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray = ray
        self._groups, self._games = _shares(groups, actors), _shares(games, actors)
        remote = ray.remote(num_cpus=ACTOR_CPUS, max_restarts=-1, max_task_retries=3)(RolloutActor)
        if node:
            remote = remote.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False))
        self._actors = [remote.remote(settings) for _ in range(max(len(self._groups), len(self._games)))]
        ray.get([actor.ready.remote() for actor in self._actors])

    def collect(self, weights: np.ndarray, step: int) -> Collected:
        shared = self._ray.put(weights)
        calls = [actor.collect.remote(shared, step, share) for actor, share in zip(self._actors, self._groups)]
        return joined(self._ray.get(calls))

    def evaluate(self, weights: np.ndarray, replicates: int) -> list[dict[str, Any]]:
        shared = self._ray.put(weights)
        calls = [actor.evaluate.remote(shared, share, replicates) for actor, share in zip(self._actors, self._games)]
        return [one for share in self._ray.get(calls) for one in share]


class RolloutActor:
    def __init__(self, settings: RolloutSettings):
        self._settings = settings

    def ready(self) -> bool:
        return True

    def collect(self, weights: np.ndarray, step: int, groups: list[int]) -> Collected:
        return collect(self._settings, weights, step, groups)

    def evaluate(self, weights: np.ndarray, games: list[int], replicates: int) -> list[dict[str, Any]]:
        return evaluate(self._settings, weights, games, replicates)


def joined(parts: list[Collected]) -> Collected:
    """The rows of several shares, one after another."""

    def rows(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    return Collected(
        group=rows("group"),
        trajectory=rows("trajectory"),
        step=rows("step"),
        reward=rows("reward"),
        action_valid=rows("action_valid"),
        response_length=rows("response_length"),
        observations=[text for part in parts for text in part.observations],
        actions=[text for part in parts for text in part.actions],
        choices=_joined_choices([part.choices for part in parts]),
        pick=rows("pick"),
    )


def _joined_choices(parts: list[Choices]) -> Choices:
    def starts(name: str) -> np.ndarray:
        lengths = np.concatenate([np.diff(getattr(part, name)) for part in parts])
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)

    return Choices(
        context=np.concatenate([part.context for part in parts]),
        context_start=starts("context_start"),
        candidate_start=starts("candidate_start"),
        command=np.concatenate([part.command for part in parts]),
        command_start=starts("command_start"),
    )
