"""The games of a validation, as the trainer plays them: what the evaluator of the environments gets, one row an environment."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from typing import Any, Callable, Mapping, Sequence

from .panel_hook import rounds_of

SAMPLED = "sampled"


class Games:
    """Collects the games of one validation, round by round."""

    def __init__(self, config: Any, guarded: Callable[[Callable[[], Any]], Any]) -> None:
        """`guarded`: runs an action whose failure must not reach the trainer."""
        self._config, self._guarded = config, guarded
        self._games: list[dict[str, Any]] = []
        self._drawn: Counter[str] = Counter()

    def follow(self, manager: Any) -> None:
        """Looks at what the manager of the validation environments evaluates. It changes nothing of it."""
        original = manager.success_evaluator

        @functools.wraps(original)
        def success_evaluator(*arguments: Any, **keywords: Any) -> Any:
            self._guarded(lambda: self._round(manager, keywords["total_infos"], keywords["total_batch_list"]))
            return original(*arguments, **keywords)

        manager.success_evaluator = success_evaluator

    def report(self, manager: Any, evaluation: Callable[..., None], step: int) -> None:
        """Reports what was collected, and begins anew."""
        games, self._games, self._drawn = self._games, [], Counter()
        rounds = rounds_of(manager.envs) if hasattr(manager, "envs") else None
        digest = "" if rounds is None else rounds.digest()
        name = rounds.panel.name if rounds is not None and digest else f"{SAMPLED} {self._environment()}"
        if games:
            evaluation(step, games, name, digest, decoding_of(self._config, is_sampled=digest == ""))

    def _environment(self) -> str:
        return str(self._config.env.env_name).partition("/")[0].lower()

    def _round(self, manager: Any, infos: Sequence[Sequence[Mapping]], steps: Sequence[Sequence[Mapping]]) -> None:
        rounds = rounds_of(manager.envs) if hasattr(manager, "envs") else None
        for at, (of_game, actions) in enumerate(zip(infos, steps)):
            active = [(info, step) for info, step in zip(of_game, actions) if step["active_masks"]]
            if rounds is not None and not rounds.failure:
                game, replicate = rounds.places[at].game, rounds.places[at].replicate
            else:
                game = drawn_name(manager, at, active[-1][0])
                self._drawn[game] += 1
                replicate = self._drawn[game]
            if replicate > 0:
                self._games.append({"game": game, "replicate": replicate, **result_of(active)})


def result_of(active: Sequence[tuple[Mapping, Mapping]]) -> dict[str, float]:
    """The result of a game from the infos and steps before it was done."""
    last = active[-1][0]
    reward = sum(float(step["rewards"]) for _, step in active)
    return {
        "success": float(last["won"]),
        # WebShop's share of the goal; elsewhere the sum of the rewards.
        "score": float(last.get("task_score", reward)),
        "steps": len(active),
        "invalid_steps": sum(not bool(info.get("is_action_valid", True)) for info, _ in active),
    }


def drawn_name(manager: Any, at: int, info: Mapping) -> str:
    """A name for a game that was drawn: its path, or else a digest of its task."""
    if path := info.get("extra.gamefile"):
        return "/".join(str(path).split("/")[-3:-1])
    tasks = getattr(manager, "tasks", None)
    if tasks:
        return f"task {hashlib.sha256(str(tasks[at]).encode()).hexdigest()[:16]}"
    return f"environment {at}"


def decoding_of(config: Any, is_sampled: bool) -> dict[str, Any]:
    """The settings of the answers. The engine's seed is the same in every run; replicates continue its stream. The seed of the
    environments decides which games are drawn, and nothing of the answers."""
    rollout = config.actor_rollout_ref.rollout
    settings = {name: rollout.val_kwargs.get(name) for name in ("temperature", "do_sample", "top_p", "top_k")}
    drawn = {"seed of the drawn games": int(config.env.seed) + 1000} if is_sampled else {}
    lengths = {"history length": config.env.history_length, "max steps": config.env.max_steps}
    known = {name: value for name, value in settings.items() if value is not None}
    return {**known, "engine": rollout.name, "engine seed": rollout.get("seed", 0), **lengths, **drawn}
