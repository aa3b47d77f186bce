"""The place of the verl-agent checkout on a cluster."""

from __future__ import annotations

import os
from typing import Mapping

from .arguments import ArgumentError

# Stands for the cluster's own checkout, whose place is known there alone.
HOME_PLACEHOLDER = "{verlAgentHome}"
HOME_VARIABLE = "VERL_AGENT_HOME"


def shared_root_of(checkpoint_dir: str) -> str:
    """The directory that all nodes see, as the checkpoint directory tells it."""
    return checkpoint_dir.partition("/checkpoints/")[0]


def find_home(given: str, environment: Mapping[str, str], shared_root: str) -> str:
    """The checkout: the given one, else that of the variable, else the one on the shared root. Raises ArgumentError."""
    if given and given != HOME_PLACEHOLDER:
        return os.path.abspath(given)
    for place in (environment.get(HOME_VARIABLE, ""), os.path.join(shared_root, "verl-agent")):
        if place and os.path.isdir(place):
            return os.path.abspath(place)
    raise ArgumentError(
        f"no verl-agent checkout is known here: give home=DIR, set {HOME_VARIABLE} for the ray-worker, or put one "
        f"at {os.path.join(shared_root, 'verl-agent')}"
    )
