"""What an engine's program is started with: the resolved spec in ``spec.json``, and the directories of the attempt.

The arguments are ``attempt_dir=DIR experiment_dir=DIR shared_root=DIR``, and after ``--`` those that the program passes on. A
preflight gets ``ray=true`` or ``ray=false`` before them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Mapping, Sequence, TypeVar, get_type_hints

from echelon_rayworker.files import read_regular
from echelon_rayworker.launch import MAX_LAUNCH_BYTES, Directories, fill

FILE = "spec.json"
T = TypeVar("T")


class SpecError(ValueError):
    """The launch cannot be carried out as it stands; the message says the remedy."""


@dataclass(frozen=True)
class Launch:
    """`spec`: with every default filled in. `plan`: what the engine's half in the control plane derived from it. `passed_on`: the
    arguments after `--`. `with_ray`: false for a preflight without Ray."""

    spec: Mapping[str, Any]
    plan: Mapping[str, Any]
    directories: Directories
    passed_on: Sequence[str] = ()
    with_ray: bool = True

    def fill(self, text: str) -> str:
        """The text with the attempt's directories for their placeholders."""
        return fill(text, self.directories)


def divided(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The values of `key=value`, and what follows `--`."""
    divider = arguments.index("--") if "--" in arguments else len(arguments)
    pairs = (argument.partition("=") for argument in arguments[:divider])
    return {key: value for key, _, value in pairs}, list(arguments[divider + 1 :])


def read_launch(arguments: Sequence[str]) -> Launch:
    """What the arguments and the spec's file say. Raises SpecError."""
    values, passed_on = divided(arguments)
    attempt = values.get("attempt_dir", "")
    try:
        content = json.loads(read_regular(os.path.join(attempt, FILE), MAX_LAUNCH_BYTES))
    except (OSError, ValueError) as error:
        raise SpecError(
            f"{FILE} cannot be read from {attempt or 'an attempt directory'}: {error}; use a control plane and a ray-worker of one version"
        ) from None
    directories = Directories(attempt, values.get("experiment_dir", ""), values.get("shared_root", ""))
    return Launch(content["spec"], content["plan"], directories, passed_on, values.get("ray") != "false")


def read_launch_or_exit() -> Launch:
    """As `read_launch` of this process's arguments; a SpecError ends the process with its message and code 2."""
    try:
        return read_launch(sys.argv[1:])
    except SpecError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def typed(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass from a section of a spec, by the names of its fields. Absent values are the defaults of the dataclass, whole
    numbers become floats if the field is one, and sections within become dataclasses."""
    hints = get_type_hints(kind)
    named = {snake_case(name): value for name, value in values.items()}
    return kind(**{
        one.name: _value(hints[one.name], named[one.name]) for one in fields(kind) if named.get(one.name) is not None  # type: ignore[arg-type]
    })


def _value(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        return typed(kind, value)  # type: ignore[arg-type]
    return float(value) if kind is float else value


def snake_case(name: str) -> str:
    """`groupSize` as `group_size`."""
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
