"""A household in text, in the manner of ALFWorld: find a thing, perhaps clean, heat or cool it, put it somewhere.

A house is three rooms of four. One of them is the kitchen, with the appliances. Things lie on furniture whose
contents are seen only on arrival. Rooms, furniture, things and the task follow from the game's seed alone.

What makes context matter: a room's text and its commands are the same whether one enters it searching, carrying the
thing, or carrying it cleaned; the target's likewise, and an impossible action always answers "Nothing happens.".
Which of these holds, and which places were searched already, can be known only from earlier observations.

Reward is 10 for the action that completes the task, else 0. The text of the task stands in the first observation.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

NOTHING_HAPPENS = "Nothing happens."
REWARD_OF_SUCCESS = 10.0

KITCHEN = "kitchen"
FURNITURE = {
    KITCHEN: ("cabinet", "countertop", "stove"),
    "bathroom": ("bathtub", "cart", "toilet"),
    "bedroom": ("bed", "desk", "dresser"),
    "livingroom": ("coffeetable", "shelf", "sofa"),
}
# What an appliance does: verb, and the word for an object in the state that it produces.
APPLIANCES = {"sinkbasin": ("clean", "clean"), "microwave": ("heat", "hot"), "fridge": ("cool", "cool")}
THINGS = ("apple", "bowl", "egg", "mug", "plate", "potato")
ROOMS_PER_HOUSE = 3
FURNITURE_PER_ROOM = 1
THINGS_PER_HOUSE = 3


@dataclass(frozen=True)
class Task:
    """Put `thing`, in `state` ("" for any), on `target`."""

    thing: str
    state: str
    target: str

    def text(self) -> str:
        state = f"{self.state} " if self.state else ""
        return f"put a {state}{self.thing} in/on the {self.target}."


def _listed(names: list[str]) -> str:
    """"a mug 1, a plate 1 and a bowl 1", or "nothing"."""
    if not names:
        return "nothing"
    words = [f"a {name} 1" for name in sorted(names)]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


class Game:
    """One episode. `seed` is any text; equal seeds are equal games."""

    def __init__(self, seed: str):
        chance = random.Random(seed)
        rooms = sorted([KITCHEN, *chance.sample(sorted(set(FURNITURE) - {KITCHEN}), ROOMS_PER_HOUSE - 1)])
        self.contents: dict[str, list[str]] = {}  # furniture → things on it
        self.room_of: dict[str, str] = {}  # receptacle → room
        for room in rooms:
            for name in sorted(chance.sample(FURNITURE[room], FURNITURE_PER_ROOM)):
                self.contents[name] = []
                self.room_of[name] = room
        self.room_of.update({name: KITCHEN for name in APPLIANCES})
        self.rooms = rooms
        places = sorted(self.contents)
        things = chance.sample(THINGS, THINGS_PER_HOUSE)
        for thing in things:
            self.contents[chance.choice(places)].append(thing)
        start = self._place_of(things[0])
        target = chance.choice([place for place in places if place != start])
        state = chance.choice(["", *(after for _, after in APPLIANCES.values())])
        self.task = Task(things[0], state, target)
        self.state_of = dict.fromkeys(things, "")
        self.holding = ""
        self.at = chance.choice(rooms)  # a room or a receptacle
        self.done = False
        self._admissible: tuple[str, ...] | None = None  # None: not worked out since the last step

    def facts(self) -> dict[str, object]:
        """What the seed decided, for the digest of a panel; to be read before the first step."""
        return {"task": self.task.text(), "at": self.at, "room_of": self.room_of, "contents": self.contents}

    def first_observation(self) -> str:
        return f"{self._look()} Your task is to: {self.task.text()}"

    def admissible(self) -> tuple[str, ...]:
        """Every command that does something now."""
        if self._admissible is None:
            self._admissible = tuple(sorted(self._commands()))
        return self._admissible

    def _commands(self) -> list[str]:
        commands = [f"go to {place}" for place in self._reachable()]
        if self.at in self.contents:
            if self.holding:
                commands.append(self._command("put", self.holding))
            else:
                commands += [self._command("take", thing) for thing in self.contents[self.at]]
        elif self.at in APPLIANCES and self.holding:
            commands.append(self._command(APPLIANCES[self.at][0], self.holding))
        return commands

    def offered(self) -> tuple[str, ...]:
        """What an agent may choose from: what is admissible and, at the task's target, to put its thing there.

        That stands there whether or not it is possible, so that the list does not tell whether one holds the thing;
        it is how an agent can act in vain.
        """
        if self.at != self.task.target:
            return self.admissible()
        return tuple(sorted({*self.admissible(), self._command("put", self.task.thing)}))

    def step(self, command: str) -> tuple[str, float, bool]:
        """Returns the observation, the reward, and whether the command was admissible."""
        if self.done or command not in self.admissible():
            return NOTHING_HAPPENS, 0.0, False
        self._admissible = None
        verb, _, rest = command.partition(" ")
        if verb == "go":
            self.at = rest.removeprefix("to ").removesuffix(" 1")
            return self._look(), 0.0, True
        if verb == "take":
            self.holding = rest.split(" ")[0]
            self.contents[self.at].remove(self.holding)
            return f"You take the {self.holding} 1 from the {self.at} 1.", 0.0, True
        if verb == "put":
            return self._put()
        self.state_of[self.holding] = APPLIANCES[self.at][1]
        return f"You {verb} the {self.holding} 1 using the {self.at} 1.", 0.0, True

    def _put(self) -> tuple[str, float, bool]:
        thing, self.holding = self.holding, ""
        self.contents[self.at].append(thing)
        task = self.task
        self.done = (
            thing == task.thing and self.at == task.target and task.state in ("", self.state_of[thing])
        )
        text = f"You put the {thing} 1 in/on the {self.at} 1."
        return text, REWARD_OF_SUCCESS if self.done else 0.0, True

    def _command(self, verb: str, thing: str) -> str:
        joint = {"take": "from", "put": "in/on"}.get(verb, "with")
        return f"{verb} {thing} 1 {joint} {self.at} 1"

    def _room(self) -> str:
        return self.room_of.get(self.at, self.at)

    def _reachable(self) -> list[str]:
        here = self._room()
        inside = [f"{name} 1" for name, room in self.room_of.items() if room == here and name != self.at]
        return inside + [room for room in self.rooms if room != self.at]

    def _look(self) -> str:
        if self.at in self.contents:
            return f"You arrive at the {self.at} 1. On it, you see {_listed(self.contents[self.at])}."
        if self.at in APPLIANCES:
            return f"You arrive at the {self.at} 1."
        inside = [name for name, room in self.room_of.items() if room == self.at]
        return f"You are in the {self.at}. Looking around, you see {_listed(inside)}."

    def _place_of(self, thing: str) -> str:
        return next(place for place, things in self.contents.items() if thing in things)
