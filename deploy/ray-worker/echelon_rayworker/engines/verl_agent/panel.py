"""The panel of an evaluation: a fixed list of games, each played once per replicate, with a digest. Pure but for reading the games.

verl-agent draws its validation games with replacement, in the order of the directory, so that two runs play other games. Its
environments get the games of a panel instead (see panel_hook).
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence

FILE = "panel.json"
GAME_FILE = "game.tw-pddl"
# As AlfWorld's own list leaves them out.
_UNSUPPORTED = ("movable", "Sliced")
# Goals of WebShop that are not trained on.
WEBSHOP_GOALS = 500
# Directory of a split below ALFWORLD_DATA, as the spec names the split.
SPLITS = {"seen": "valid_seen", "unseen": "valid_unseen"}


class PanelError(ValueError):
    """The games of a panel cannot be had; the message says the remedy."""


@dataclass(frozen=True)
class Panel:
    """Which games are played how often. `games`: paths below the split's directory, or numbers of WebShop's goals."""

    name: str
    games: tuple[str, ...]
    replicates: int

    def write(self, directory: str) -> None:
        """Writes it for the processes of the run."""
        with open(os.path.join(directory, FILE), "w", encoding="utf-8") as file:
            json.dump({"name": self.name, "games": self.games, "replicates": self.replicates}, file)

    @staticmethod
    def read(path: str) -> "Panel":
        """The panel of a file that `write` made."""
        with open(path, encoding="utf-8") as file:
            fields = json.load(file)
        return Panel(fields["name"], tuple(fields["games"]), fields["replicates"])


@dataclass(frozen=True)
class Place:
    """One game of one replicate. `replicate`: from 1; 0: played to fill up the last round, and not recorded."""

    game: str
    replicate: int


class Rounds:
    """Deals the games of a panel to environments that start together, round by round; after the last round from the first one."""

    def __init__(self, panel: Panel, environments: int) -> None:
        self._panel, self._environments = panel, environments
        self._next = 0
        self._digests: dict[str, str] = {}
        self._sampled = ""
        self.places: list[Place] = []

    @property
    def panel(self) -> Panel:
        """The panel that is played."""
        return self._panel

    def deal(self) -> list[Place]:
        """The places of the next round, one an environment."""
        games, total = self._panel.games, len(self._panel.games) * self._panel.replicates
        at = range(self._next, self._next + self._environments)
        self.places = [Place(games[one % len(games)], one // len(games) + 1 if one < total else 0) for one in at]
        self._next = at.stop if at.stop < total else 0
        return self.places

    def played(self, digests: Sequence[str]) -> None:
        """Takes the digest of the content of each game that was dealt last."""
        for place, digest in zip(self.places, digests):
            if self._digests.setdefault(place.game, digest) != digest:
                self.failed(f"the game {place.game} differs between nodes")

    def failed(self, reason: str) -> None:
        """The panel was not played as it should."""
        self._sampled = self._sampled or reason

    @property
    def failure(self) -> str:
        """Why the panel was not played; empty if it was."""
        return self._sampled

    def digest(self) -> str:
        """SHA-256 of what was played; empty if that was not the panel."""
        return "" if self._sampled or self._digests.keys() != set(self._panel.games) else digest_of(self._digests)


def digest_of(contents: Mapping[str, str]) -> str:
    """SHA-256 over the sorted games with the digests of their contents."""
    return hashlib.sha256(json.dumps(sorted(contents.items())).encode()).hexdigest()


def content_digest(path: str) -> str:
    """SHA-256 of a game's file."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def value_digest(value: Any) -> str:
    """SHA-256 of a value as canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def name_of(path: str, directory: str) -> str:
    """A game file's name in a panel: the path of its directory below that of the split."""
    return os.path.relpath(os.path.dirname(path), directory).replace(os.sep, "/")


def files_below(directory: str) -> dict[str, str]:
    """The game files of a split by name, in the order of the names: those that AlfWorld lists, whatever the order on the disk."""
    return dict(sorted((name_of(path, directory), path) for path in _game_files(directory)))


def _game_files(directory: str) -> Iterator[str]:
    for root, _, files in os.walk(directory):
        if not {"traj_data.json", GAME_FILE} <= set(files) or any(one in root for one in _UNSUPPORTED):
            continue
        path = os.path.join(root, GAME_FILE)
        with open(path, encoding="utf-8") as file:
            if json.load(file).get("solvable"):
                yield path


def alfworld_panel(root: str, split: str, asked: Optional[Sequence[str]], count: int, replicates: int) -> Panel:
    """The panel of a split (`seen`, `unseen`) below a data root: the games that are asked for, or all, which must be `count`. Raises
    PanelError."""
    directory = os.path.join(root, "json_2.1.1", SPLITS[split])
    found = files_below(directory)
    if asked is not None:
        missing = [name for name in asked if name not in found]
        if missing:
            raise PanelError(f"{directory} has no solvable game {missing[0]} ({len(missing)} of {len(asked)} are missing)")
        return Panel(f"alfworld-{split}-own", tuple(sorted(asked)), replicates)
    if len(found) != count:
        raise PanelError(
            f"{directory} has {len(found)} games of the panel's {count}: run `alfworld-download -f`, or name the games in "
            "evaluation.panel"
        )
    return Panel(f"alfworld-{split}", tuple(found), replicates)


def alfworld_digest(root: str, split: str, played: Panel) -> str:
    """The digest of a panel by the files below a data root: that of an evaluation if every node plays the same files."""
    files = files_below(os.path.join(root, "json_2.1.1", SPLITS[split]))
    return digest_of({name: content_digest(files[name]) for name in played.games})


def webshop_panel(asked: Optional[Sequence[str]], replicates: int) -> Panel:
    """The goals that are asked for, or the first 500, which no training uses."""
    if asked is None:
        return Panel("webshop", tuple(str(goal) for goal in range(WEBSHOP_GOALS)), replicates)
    return Panel("webshop-own", tuple(sorted(asked, key=int)), replicates)
