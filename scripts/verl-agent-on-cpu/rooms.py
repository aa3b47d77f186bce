"""Small text games in the place of ALFWorld's: find one of six rooms. Equal seeds play equal games."""

from __future__ import annotations

import random
from typing import Any

ROOMS = ("kitchen", "bedroom", "bathroom", "garage", "garden", "cellar")
TASKS = ("pick_and_place", "look_at_obj_in_light")


class Games:
    """What ALFWorld's `get_environment` gives: the maker of games."""

    def __init__(self, config: Any, train_eval: str = "train") -> None:
        self._split = train_eval

    def init_env(self, batch_size: int) -> "Game":
        assert batch_size == 1
        return Game(self._split)


class Game:
    """One game at a time, in lists of one, as ALFWorld gives them."""

    def __init__(self, split: str) -> None:
        self._split, self._chance = split, random.Random(0)
        self._place = self._goal = 0
        self._name = ""

    def seed(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def reset(self) -> tuple[list[str], dict[str, list[Any]]]:
        self._place, self._goal = self._chance.sample(range(len(ROOMS)), 2)
        self._name = f"{self._split}/{self._chance.choice(TASKS)}-{self._goal}/game.tw-pddl"
        return [f"{self._seen()} Your task is to: find the {ROOMS[self._goal]}."], self._infos()

    def step(self, actions: list[str]) -> tuple[list[str], list[float], list[bool], dict[str, list[Any]]]:
        (action,) = actions
        moved = action in self._actions()
        if moved and action != "look":
            self._place = ROOMS.index(action.removeprefix("go to "))
        won = self._place == self._goal
        return [self._seen() if moved else "Nothing happens."], [float(won)], [won], self._infos()

    def _actions(self) -> list[str]:
        near = sorted({(self._place + way) % len(ROOMS) for way in (1, 2, -1)})
        return ["look", *(f"go to {ROOMS[room]}" for room in near)]

    def _seen(self) -> str:
        return f"You are in the {ROOMS[self._place]}."

    def _infos(self) -> dict[str, list[Any]]:
        won = self._place == self._goal
        return {"won": [won], "admissible_commands": [self._actions()], "extra.gamefile": [self._name]}
