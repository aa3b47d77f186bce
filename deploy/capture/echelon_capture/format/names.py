"""Names in camel case, as files and messages have them, and in snake case, as Python does."""

from __future__ import annotations

import re


def camel(name: str) -> str:
    return re.sub("_([a-z])", lambda match: match[1].upper(), name)


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", name)
