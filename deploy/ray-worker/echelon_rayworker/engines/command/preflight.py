"""Can the program start in its working directory? Prints answers (see engines/answers.py)."""

from __future__ import annotations

import os

from ..answers import Answer, run_preflight
from ..spec import Launch
from .settings import NotStartable, Settings, settings_of


def check_settings(launch: Launch) -> list[Answer]:
    """Would the engine take them?"""
    try:
        settings = settings_of(launch)
    except NotStartable as error:
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


if __name__ == "__main__":
    run_preflight(lambda launch: [("working directory", lambda: check_settings(launch))])
