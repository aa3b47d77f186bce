"""Plays the rounds of an evaluation, and reports metrics and trajectories."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from echelon_rayworker import __version__
from echelon_capture.format import build_batch

from . import texts
from .agent import Agent
from .environments import Environment, Views
from .errors import PromptError
from .responses import Call, Responses
from .settings import Settings


@dataclass
class Trajectory:
    """One trial of one game."""

    game: int
    trial: int
    first_prompt: str
    observations: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        return sum(self.rewards) > 0


class Evaluation:
    """All rounds. `spool` is the reporter (see echelon_rayworker.spool)."""

    def __init__(self, settings: Settings, environment: Environment, agent: Agent, responses: Responses, spool: Any):
        self._settings, self._environment, self._agent = settings, environment, agent
        self._responses, self._spool = responses, spool
        self._rates: list[dict[str, float]] = []

    async def run(self) -> None:
        """Plays every round. Raises PromptError; what was spent until then is reported all the same."""
        for round in range(1, self._settings.played.rounds + 1):
            try:
                trials = await self._round(round)
            except PromptError:
                self._report(round, self._costs())
                raise
            self._trajectories(round, [one for trial in trials for one in trial])
            self._rates.append(self._round_metrics(trials))
            self._report(round, {**_means(self._rates), **self._costs()})

    async def _round(self, round: int) -> list[list[Trajectory]]:
        """The trajectories of each trial. Only games that failed are tried again."""
        reflections: dict[int, list[str]] = {game: [] for game in range(self._environment.count)}
        trials: list[list[Trajectory]] = []
        while reflections and len(trials) < self._settings.played.trials:
            if trials:
                await self._reflect(round, trials[-1], reflections)
            played = await self._trial(round, len(trials) + 1, reflections)
            trials.append(played)
            reflections = {one.game: reflections[one.game] for one in played if not one.succeeded}
        return trials

    async def _trial(self, round: int, trial: int, reflections: dict[int, list[str]]) -> list[Trajectory]:
        views = self._environment.start(round, trial)
        played = {game: Trajectory(game, trial, views.prompts[game]) for game in reflections}
        active = list(reflections)
        for step in range(self._settings.played.max_steps):
            if not active:
                break
            self._stage(round, trial, step)
            asked = [
                (Call(f"{round}.{game}", trial, step), self._prompt(views, played[game], reflections[game]))
                for game in active
            ]
            answers = dict(zip(active, await self._agent.answer_all(asked)))
            outcome = self._environment.step(answers)
            for game in active:
                one = played[game]
                one.observations.append(views.anchors[game])
                one.actions.append(outcome.actions[game])
                one.rewards.append(outcome.rewards[game])
                one.valid.append(outcome.valid[game])
                one.thoughts.append(texts.thought_of(answers[game]))
            active = [game for game in active if not outcome.done[game]]
            views = outcome.views
        return list(played.values())

    def _prompt(self, views: Views, played: Trajectory, reflections: list[str]) -> str:
        prompt = views.prompts[played.game]
        if self._settings.method == "act":
            return prompt
        length = self._settings.played.history_length
        thoughts = [one for one in played.thoughts[-length:] if one] if length else []
        return texts.with_reflections(texts.with_thoughts(prompt, thoughts), reflections)

    async def _reflect(self, round: int, failed: list[Trajectory], reflections: dict[int, list[str]]) -> None:
        self._spool.stage(f"round {round}: reflecting on {len(reflections)} failed games", round, self._settings.played.rounds)
        lost = [one for one in failed if one.game in reflections]
        asked = [
            (
                Call(f"{round}.{one.game}", one.trial, len(one.actions), "reflection"),
                texts.reflection_prompt(one.first_prompt, list(zip(one.observations, one.actions))),
            )
            for one in lost
        ]
        for one, answer in zip(lost, await self._agent.answer_all(asked)):
            reflections[one.game].append(" ".join(answer.split())[: texts.MAX_THOUGHT_CHARACTERS])

    def _round_metrics(self, trials: list[list[Trajectory]]) -> dict[str, float]:
        """Names as evaluation and training have them."""
        games = self._environment.count
        last = {one.game: one for trial in trials for one in trial}
        rate, metrics = 0.0, {}
        for number in range(1, self._settings.played.trials + 1):
            if number <= len(trials):
                rate += sum(one.succeeded for one in trials[number - 1]) / games
            if self._settings.played.trials > 1:
                metrics[f"val/trial_{number}/success_rate"] = rate
        steps = [(valid, one) for one in last.values() for valid in one.valid]
        returns = [sum(last[game].rewards) for game in range(games)]
        return {
            **self._environment.metrics(returns),
            **metrics,
            # Of all trials: a game has succeeded if any of them has.
            "val/success_rate": rate,
            "episode/reward/mean": sum(returns) / games,
            "episode/length/mean": len(steps) / games,
            "episode/valid_action_ratio": sum(valid for valid, _ in steps) / max(1, len(steps)),
        }

    def _costs(self) -> dict[str, float]:
        responses = self._responses.all()
        return {
            "cost/total": self._responses.spent,
            "cost/unaccounted": self._responses.unaccounted,
            "tokens/prompt": sum(one.prompt_tokens for one in responses),
            "tokens/completion": sum(one.completion_tokens for one in responses),
            "calls/responses": len(responses),
            **self._agent.counts(),
        }

    def _trajectories(self, round: int, played: list[Trajectory]) -> None:
        """The rows as a batch without advantages: to be read beside those of a training, not to be verified."""
        rows = [(one, step) for one in played for step in range(len(one.actions))]
        wire = build_batch(
            name=f"round {round}",
            # The estimator that needs least: nothing was estimated, so there is no column of advantages.
            estimator={"name": "grpo"},
            provenance={
                "experiment": os.environ.get("ECHELON_EXPERIMENT", ""),
                "attempt": int(os.environ.get("ECHELON_ATTEMPT") or 0),
                "training_step": round,
                "rows_collected": len(rows),
                "producer": f"echelon-prompt/{__version__}",
            },
            group=[f"{round}.{one.game}" for one, _ in rows],
            trajectory=[f"{round}.{one.game}.{one.trial}" for one, _ in rows],
            step=[step for _, step in rows],
            observation=[one.observations[step] for one, step in rows],
            action=[one.actions[step] for one, step in rows],
            reward=[one.rewards[step] for one, step in rows],
            action_valid=[one.valid[step] for one, step in rows],
            texts=True,
            incomplete=True,
        )
        self._spool.batch(round, wire, rows=len(rows))

    def _stage(self, round: int, trial: int, step: int) -> None:
        rounds, trials = self._settings.played.rounds, self._settings.played.trials
        of_trial = f", trial {trial} of {trials}" if trials > 1 else ""
        text = f"round {round} of {rounds}{of_trial}, step {step + 1} of {self._settings.played.max_steps}"
        self._spool.stage(text, step=round, steps=rounds)

    def _report(self, round: int, metrics: dict[str, float]) -> None:
        self._spool.metrics(round, metrics)
        shown = " - ".join(f"{name}:{value:.6g}" for name, value in metrics.items())
        print(f"step:{round} - {shown}", flush=True)


def _means(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Of each metric, over the rounds that have it: not every round has a task of every kind."""
    names = dict.fromkeys(name for metrics in rounds for name in metrics)
    values = {name: [metrics[name] for metrics in rounds if name in metrics] for name in names}
    return {name: sum(one) / len(one) for name, one in values.items()}
