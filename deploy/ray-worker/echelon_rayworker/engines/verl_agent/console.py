"""Reads the trainer's console: which stage it has reached, which steps and checkpoints are done.

Ray prefixes each line with the process that printed it; the prefix and terminal colours are stripped for recognition
only, the log keeps the line as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Union

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PREFIX = re.compile(r"\((?P<name>[\w.]+) pid=\d+(?:, ip=[^)]+)?\) ?")
_REPEATED = re.compile(r" \[repeated \d+x across cluster\].*$")
_STEP = re.compile(r"step:(\d+) - (.*)")
_TOTAL = re.compile(r"Total training steps: (\d+)")
_RESUMED = re.compile(r"Setting global step to (\d+)")
_SAVING = re.compile(r"local_global_step_folder: (.+)")
_NO_GAMES = re.compile(r"(?:Training|Evaluating) with 0 games")

CONNECTING = "connecting"
ENVIRONMENTS = "building environments"
LOADING = "loading the model"
VALIDATING = "validating"
SAVING = "saving"


@dataclass(frozen=True)
class StageReached:
    """The training is in this stage now."""

    name: str
    step: int = 0
    steps: int = 0


@dataclass(frozen=True)
class StepDone:
    """A record of the recipe's logger: its metrics as printed, that is, rounded to three decimals."""

    step: int
    values: dict[str, float]


@dataclass(frozen=True)
class CheckpointDone:
    """A checkpoint was written."""

    step: int
    path: str


@dataclass(frozen=True)
class Notice:
    """Something a person should know."""

    text: str


Fact = Union[StageReached, StepDone, CheckpointDone, Notice]


def plain(line: str) -> tuple[str, str]:
    """The name of the process that printed a line (empty: the launcher itself), and what it printed."""
    text = _COLOURS.sub("", line).rstrip("\r\n")
    prefix = _PREFIX.match(text)
    if not prefix:
        return "", text
    return prefix["name"], _REPEATED.sub("", text[prefix.end() :])


def metrics_of(text: str) -> dict[str, float]:
    """`name:value - name:value …`; names may hold spaces, colons and parentheses."""
    values = {}
    for item in text.split(" - "):
        name, _, value = item.rpartition(":")
        try:
            values[name] = float(value)
        except ValueError:
            continue
    return values


class Console:
    """Line by line; `read` gives what a line tells. `steps`: the run's last step, 0 if it is not known yet."""

    def __init__(self, steps: int = 0, validates_first: bool = False, evaluates: bool = False) -> None:
        self.steps = steps
        self.step = 0
        self.stage = CONNECTING
        self.hook: str = ""
        # The last marker on the way to the first step, to say where a start got stuck.
        self.marker = ""
        self._validates_first = validates_first or evaluates
        self._evaluates = evaluates
        self._saving: tuple[int, str] | None = None
        self._rules = (
            ("Using dataset class:", lambda _: self._note("the data files")),
            ("colocated worker base class", lambda _: [*self._note("the GPU workers"), *self._reach(LOADING)]),
            ("Training from scratch", lambda _: self._loaded(0)),
            ("test_gen_batch meta info:", lambda _: self._reach(VALIDATING, self.step, self.steps)),
            ("compute_step_discounted_returns", lambda _: self._reach_step()),
            ("echelon-capture:", self._hook),
        )

    def read(self, line: str) -> list[Fact]:
        """What the line tells, in order."""
        name, text = plain(line)
        facts: list[Fact] = []
        if self.stage == CONNECTING and name == "TaskRunner":
            facts += self._reach(ENVIRONMENTS)
        for marker, rule in self._rules:
            if text.startswith(marker):
                return [*facts, *self._saved(), *rule(text)]
        if match := _STEP.match(text):
            return [*facts, *self._done(int(match[1]), metrics_of(match[2]))]
        if match := _TOTAL.match(text):
            self.steps = self.steps or int(match[1])
            return [*facts, *self._note("the trainer")]
        if match := _RESUMED.match(text):
            return [*facts, *self._loaded(int(match[1]))]
        if match := _SAVING.match(text):
            return [*facts, *self._save(match[1].strip())]
        if _NO_GAMES.search(text):
            facts.append(Notice(f"{text.strip()}: the environment's data is missing or incomplete on that node"))
        return facts

    def finished(self) -> list[Fact]:
        """What is known when the trainer has ended well: a checkpoint under way is complete."""
        return self._saved()

    def _note(self, marker: str) -> list[Fact]:
        self.marker = marker
        return []

    def _hook(self, text: str) -> list[Fact]:
        if "installed" in text and not self.hook:
            self.hook = "working" if text.endswith("spool writable") else text.partition(":")[2].strip()
        return [] if self.hook == "working" and "failed" not in text else [Notice(text)]

    def _reach(self, name: str, step: int = 0, steps: int = 0) -> list[Fact]:
        if self.stage == name:
            return []
        self.stage = name
        return [StageReached(name, step, steps)]

    def _reach_step(self) -> list[Fact]:
        of = f" of {self.steps}" if self.steps else ""
        return self._reach(f"step {self.step}{of}", self.step, self.steps)

    def _loaded(self, step: int) -> list[Fact]:
        facts: list[Fact] = [Notice(f"resumed after step {step}")] if step else []
        self.step = step
        if self._validates_first:
            return facts
        self.step += 1
        return facts + self._reach_step()

    def _done(self, step: int, values: dict[str, float]) -> list[Fact]:
        facts = [*self._saved(), StepDone(step, values)]
        self.step = step + 1
        if self._evaluates or (self.steps and step >= self.steps):
            return facts
        return facts + self._reach_step()

    def _save(self, path: str) -> list[Fact]:
        match = re.search(r"global_step_(\d+)", path)
        self._saving = (int(match[1]) if match else self.step, path)
        return self._reach(SAVING, self.step, self.steps)

    def _saved(self) -> list[Fact]:
        if self._saving is None:
            return []
        step, path = self._saving
        self._saving = None
        return [CheckpointDone(step, path)]
