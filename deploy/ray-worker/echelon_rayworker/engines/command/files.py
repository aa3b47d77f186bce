"""The program's files that came with the plan."""

from __future__ import annotations

import json
import os

from echelon_rayworker.files import read_regular

from .settings import NotStartable, Settings, is_inside

# A file of the plan (see src/engines/command/engine.ts): texts by their relative paths.
FILE = "program-files.json"
MAX_BYTES = 8 * 1024 * 1024


def unpack(settings: Settings) -> None:
    """Writes the files into the working directory; one that begins with `#!` can be executed. NotStartable."""
    if not settings.files:
        return
    try:
        files = json.loads(read_regular(os.path.join(settings.attempt_dir, FILE), MAX_BYTES))
        for name, text in files.items():
            path = os.path.join(settings.directory, name)
            if not is_inside(path, settings.directory):
                raise NotStartable(f"{name} would be written outside of the working directory")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(path, 0o700 if text.startswith("#!") else 0o600)
    except NotStartable:
        raise
    except (OSError, ValueError) as error:
        raise NotStartable(f"the program's files cannot be written to {settings.directory}: {error}") from None
