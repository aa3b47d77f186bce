"""Is the environments' data there? What AlfWorld and WebShop read at their start, looked at on this node."""

from __future__ import annotations

import os
import shutil
from typing import Any, Callable, Optional

from . import panel
from .settings import Settings

# Games of each split in the whole data set, from AlfWorld's own archive (json_2.1.1).
ALFWORLD_GAMES = {"train": 3553, "valid_seen": 140, "valid_unseen": 134}
WEBSHOP = "agent_system/environments/env_package/webshop/webshop/data"
WEBSHOP_FILES = {
    True: ("items_shuffle_1000.json", "items_ins_v2_1000.json"),
    False: ("items_shuffle.json", "items_ins_v2.json"),
}
# Read whichever goals are chosen.
WEBSHOP_HUMAN = "items_human_ins.json"
# The index of `num_products: None`, which the recipe always passes, however many products it loads.
WEBSHOP_INDEX = "indexes"


def check_data(settings: Settings, answer: Callable[..., Any]) -> list[Any]:
    """The answers for the run's environment; `answer` makes one (check, ok, message, remedy, severity)."""
    name = (settings.overrides.text("env.env_name") or "alfworld").lower()
    if "search" not in name and "gym_cards" not in name:
        if "alfworld" in name:
            return alfworld(settings, answer)
        if "webshop" in name:
            return webshop(settings, answer)
    return [answer("environment data", True, f"the data of {name} is not looked at")]


def alfworld(settings: Settings, answer: Callable[..., Any]) -> list[Any]:
    """One answer for each split that the run plays, and one for the rules of the game."""
    root = _alfworld_root()
    remedy = f"run `alfworld-download -f` with ALFWORLD_DATA={root}, on every node or on the shared file system"
    split = "valid_unseen" if settings.overrides.flag("trainer.val_out", False) else "valid_seen"
    answers = []
    for one in (split,) if settings.evaluates else ("train", split):
        found = count_games(os.path.join(root, "json_2.1.1", one))
        whole = ALFWORLD_GAMES[one]
        text = f"{root} has {found} of {whole} games in {one}"
        severity = "error" if found == 0 else "warning"
        answers.append(answer(f"AlfWorld {one}", found >= whole, text, "" if found >= whole else remedy, severity))
    rules = os.path.isdir(os.path.join(root, "logic"))
    answers.append(answer("AlfWorld logic", rules, f"{root}/logic is {'' if rules else 'not '}there", "" if rules else remedy))
    return answers


def count_games(directory: str) -> int:
    """Games that can be played: those with a compiled file."""
    return sum("game.tw-pddl" in files for _, _, files in os.walk(directory))


def webshop(settings: Settings, answer: Callable[..., Any]) -> list[Any]:
    """Products, their attributes and the search index."""
    data = os.path.join(settings.home, WEBSHOP)
    small = settings.overrides.flag("env.webshop.use_small", True)
    remedy = "run the setup script of the checkout's webshop folder with `-d all`"
    missing = [name for name in (*WEBSHOP_FILES[small], WEBSHOP_HUMAN) if not os.path.isfile(os.path.join(data, name))]
    text = f"{data} lacks {', '.join(missing)}" if missing else f"{data} is complete"
    index = os.path.join(os.path.dirname(data), "search_engine", WEBSHOP_INDEX)
    there = os.path.isdir(index) and bool(os.listdir(index))
    return [
        answer("WebShop data", not missing, text, remedy if missing else ""),
        answer("WebShop index", there, f"{index} is {'' if there else 'not '}there", "" if there else remedy),
        _java(answer),
    ]


def _java(answer: Callable[..., Any]) -> Any:
    """The search runs in Java."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java") or (home and shutil.which("java", path=os.path.join(home, "bin")))
    text = f"Java is {found}" if found else "WebShop's search needs Java, and neither PATH nor JAVA_HOME has it"
    return answer("Java", bool(found), text, "" if found else "install a Java 11 runtime on every node, or set JAVA_HOME")


def panel_of(settings: Settings) -> Optional[panel.Panel]:
    """The panel that the validations of a run play; None if their games are drawn. Raises PanelError."""
    if settings.replicates == 0:
        return None
    if "webshop" in (settings.overrides.text("env.env_name") or "").lower():
        return panel.webshop_panel(settings.panel_games, settings.replicates)
    count = ALFWORLD_GAMES[panel.SPLITS[settings.split]]
    return panel.alfworld_panel(_alfworld_root(), settings.split, settings.panel_games, count, settings.replicates)


def check_panel(settings: Settings, answer: Callable[..., Any]) -> list[Any]:
    """The panel of the run's evaluations with its digest; nothing if their games are drawn."""
    try:
        made = panel_of(settings)
    except (panel.PanelError, OSError, ValueError) as error:
        return [answer("panel", False, str(error), "evaluation.panel names the games of your own panel")]
    if made is None:
        return []
    if made.name.startswith("webshop"):
        digest = "its digest is known when the environments have resolved their goals and prices"
    else:
        digest = f"digest {panel.alfworld_digest(_alfworld_root(), settings.split, made)}"
    return [answer("panel", True, f"{made.name} has {len(made.games)} games, each played {made.replicates} times; {digest}")]


def data_paths(settings: Settings) -> list[str]:
    """Directories that every node must see, since the environments run on any of them."""
    name = (settings.overrides.text("env.env_name") or "").lower()
    if "alfworld" in name:
        return [os.path.join(_alfworld_root(), "json_2.1.1")]
    return [os.path.join(settings.home, WEBSHOP)] if "webshop" in name else []


def _alfworld_root() -> str:
    return os.environ.get("ALFWORLD_DATA") or os.path.expanduser("~/.cache/alfworld")
