"""Answers of an engine's preflight program: what was looked at, whether all is well, and what to do if it is not.

A preflight program is `python -m <engine>.preflight shared_root=DIR ray=BOOL argument…`, with the arguments of a launch.
An engine may have none.
It prints a JSON list of answers and exits with 1 where an error is among them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Callable, Iterable

from .arguments import Key

# Before the arguments of the launch. `ray`: false where the ray-worker has no Ray.
OWN_KEYS: dict[str, Key] = {"shared_root": Key(""), "ray": Key(True)}


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


def divide(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The preflight's own arguments, and those of the launch."""
    divider = arguments.index("--") if "--" in arguments else len(arguments)
    own = [one for one in arguments[:divider] if one.partition("=")[0] in OWN_KEYS]
    return own, [one for at, one in enumerate(arguments) if at >= divider or one not in own]
