"""The place of the verl-agent checkout on a cluster."""

from __future__ import annotations

import os
from typing import Mapping

from .spec import SpecError

HOME_VARIABLE = "VERL_AGENT_HOME"


def find_home(given: str | None, environment: Mapping[str, str], shared_root: str) -> str:
    """The checkout: the given one, else that of the variable, else the one on the shared root. Raises SpecError."""
    if given:
        return os.path.abspath(given)
    for place in (environment.get(HOME_VARIABLE, ""), os.path.join(shared_root, "verl-agent")):
        if place and os.path.isdir(place):
            return os.path.abspath(place)
    raise SpecError(
        f"no verl-agent checkout is known here: set home in the spec, set {HOME_VARIABLE} for the ray-worker, or put one "
        f"at {os.path.join(shared_root, 'verl-agent')}"
    )
