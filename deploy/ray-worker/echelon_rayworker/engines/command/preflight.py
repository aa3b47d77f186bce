"""`python -m echelon_rayworker.engines.command.preflight key=value … -- PROGRAM argument…`: can the program start in its working
directory? Prints answers (see engines/answers.py)."""

from __future__ import annotations

import os
import sys

from ..answers import Answer, answer_all, divide, print_answers
from ..arguments import ArgumentError
from .settings import NotStartable, Settings, settings_from


def check_settings(arguments: list[str]) -> list[Answer]:
    """Would the engine take them?"""
    try:
        settings = settings_from(arguments)
    except (ArgumentError, NotStartable) as error:
        return [Answer("working directory", False, str(error), "see the message")]
    return [Answer("working directory", True, f"the program starts in {settings.directory}"), *check_script(settings)]


def check_script(settings: Settings) -> list[Answer]:
    """The file that `python FILE` names; anything else is found on the nodes, or comes with the launch."""
    program, *rest = settings.command
    name = rest[0] if rest and os.path.basename(program).startswith("python") else ""
    if not name.endswith(".py") or settings.files:
        return []
    exists = os.path.isfile(os.path.join(settings.directory, name))
    message = f"{name} is {'there' if exists else 'not in the working directory'}"
    return [Answer("script", exists, message, "" if exists else "put it there, or set workingDir")]


def main(arguments: list[str]) -> int:
    _, rest = divide(arguments)
    return print_answers(answer_all([("working directory", lambda: check_settings(rest))]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
