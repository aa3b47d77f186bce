"""The program's files that came with the spec."""

from __future__ import annotations

import os

from .settings import NotStartable, Settings, is_inside

def unpack(settings: Settings) -> None:
    """Writes the files into the working directory; one that begins with `#!` can be executed. NotStartable."""
    try:
        for name, text in settings.files.items():
            path = os.path.join(settings.directory, name)
            if not is_inside(path, settings.directory):
                raise NotStartable(f"{name} would be written outside of the working directory")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(path, 0o700 if text.startswith("#!") else 0o600)
    except OSError as error:
        raise NotStartable(f"the program's files cannot be written to {settings.directory}: {error}") from None
