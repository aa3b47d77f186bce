"""Answers of an engine's preflight program: what was looked at, whether all is well, and what to do if it is not.

A preflight program is `python -m <engine>.preflight ray=BOOL argument…`, with the arguments of a launch. An engine may have none.
It prints a JSON list of answers and exits with 1 where an error is among them.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import Callable, Iterable

from .spec import Launch, SpecError, read_launch


@dataclass(frozen=True)
class Answer:
    """One answer. `severity` counts if `ok` is false: `error` if the run cannot work, `warning` if it may
    not. `remedy` is empty if nothing needs to be done."""

    check: str
    ok: bool
    message: str
    remedy: str = ""
    severity: str = "error"


Check = tuple[str, Callable[[], list[Answer]]]


def run_preflight(checks_of: Callable[[Launch], Iterable[Check]]) -> None:
    """Makes an engine's checks of the launch that this process's arguments name, prints the answers, and exits."""
    try:
        answers = answer_all(checks_of(read_launch(sys.argv[1:])))
    except SpecError as error:
        answers = [Answer("spec", False, str(error), "see the message")]
    sys.exit(print_answers(answers))


def answer_all(checks: Iterable[Check]) -> list[Answer]:
    """Every check's answers. A check that cannot be made is an answer too."""
    answers: list[Answer] = []
    for name, check in checks:
        try:
            answers += check()
        except Exception as error:  # noqa: BLE001 - the other checks continue
            answers.append(Answer(name, False, f"could not be checked: {error}", "look at the message", "warning"))
    return answers


def print_answers(answers: list[Answer]) -> int:
    """Prints them as JSON; returns the program's exit code."""
    print(json.dumps([asdict(answer) for answer in answers], indent=1))
    return int(any(not answer.ok and answer.severity == "error" for answer in answers))
