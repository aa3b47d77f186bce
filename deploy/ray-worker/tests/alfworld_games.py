"""Small games in ALFWorld's form: a mug on one table is to be put on another. AlfWorld's own domain and grammar; its games are
computed from recorded houses in the same way."""

from __future__ import annotations

import json
from pathlib import Path

import alfworld

DATA = Path(alfworld.__file__).parent / "data"
TASK = "pick_and_place_simple"


def make_games(root: Path, numbers: range, split: str) -> None:
    """Games of a split below a data root. Each number has its own start of the mug; all are won by `walkthrough`."""
    for number in numbers:
        directory = root / "json_2.1.1" / split / f"{TASK}-Mug-None-Desk-{300 + number}" / f"trial_T{number}"
        directory.mkdir(parents=True)
        (directory / "traj_data.json").write_text(json.dumps({"task_type": TASK}))
        grammar = (DATA / "alfred.twl2").read_text().replace("UNKNOWN GOAL", "put a mug in desk")
        game = {
            "pddl_domain": (DATA / "alfred.pddl").read_text(), "grammar": grammar, "pddl_problem": problem(number), "solvable": True,
        }  # fmt: skip
        (directory / "game.tw-pddl").write_text(json.dumps(game))
    logic = root / "logic"
    logic.mkdir(exist_ok=True)
    for name in ("alfred.pddl", "alfred.twl2"):
        (logic / name).write_bytes((DATA / name).read_bytes())


PLACES = ("shelf", "bed", "cabinet", "desk")


def walkthrough(number: int) -> list[str]:
    """The commands that win the game of a number."""
    place = PLACES[number % 3]
    return [f"go to {place} 1", f"take mug 1 from {place} 1", "go to desk 1", "move mug 1 to desk 1"]


def problem(number: int) -> str:
    """A room with four places; the mug is on one of the first three."""
    locations = [f"loc_bar_{at}" for at in range(len(PLACES) + 1)]
    places = {name: f"{name.capitalize()}_bar_{at}" for at, name in enumerate(PLACES)}
    mug = f"Mug_bar_{number}"
    types = {name: f"{name.capitalize()}Type" for name in PLACES}
    facts = [f"(receptacleType {places[name]} {types[name]})" for name in PLACES]
    facts += [f"(receptacleAtLocation {places[name]} {locations[at]})" for at, name in enumerate(PLACES)]
    facts += [f"(canContain {types[name]} MugType)" for name in PLACES]
    facts += [
        f"(objectType {mug} MugType)", f"(pickupable {mug})", f"(inReceptacle {mug} {places[PLACES[number % 3]]})",
        f"(objectAtLocation {mug} {locations[number % 3]})", f"(atLocation agent1 {locations[-1]})", "(= (total-cost) 0)",
    ]  # fmt: skip
    return f"""
(define (problem plan_{number})
 (:domain alfred)
 (:objects agent1 - agent {mug} - object MugType - otype {' '.join(types.values())} - rtype
   {' '.join(locations)} - location {' '.join(places.values())} - receptacle)
 (:init {' '.join(facts)})
 (:goal (exists (?r - receptacle) (exists (?o - object)
   (and (inReceptacle ?o ?r) (objectType ?o MugType) (receptacleType ?r DeskType)))))
 (:metric minimize (total-cost)))
"""
