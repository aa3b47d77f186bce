"""What Ray calls in every process that it starts for the job, before any code of the job.

Pickled by value, so it uses the standard library alone: other nodes need not have this package.
"""

from __future__ import annotations

import importlib
import json
import os
import sys

# The file with the secret variables, if the run has any (see hidden).
FILE_VARIABLE = "ECHELON_HIDDEN_FILE"
# The file of the evaluation's panel, if the run has one (see panel_hook), beside the staged copy of this package.
PANEL_VARIABLE = "ECHELON_PANEL_FILE"


def load() -> None:
    """Puts the secret variables into this process's environment, and waits for the environments that play a panel."""
    if path := os.environ.get(FILE_VARIABLE, ""):
        _load_secrets(path)
    if path := os.environ.get(PANEL_VARIABLE, ""):
        _load_panel(path)


def _load_secrets(path: str) -> None:
    try:
        with open(path, encoding="utf-8") as file:
            os.environ.update(json.load(file))
    except (OSError, ValueError) as error:
        # The training says better than Ray what it lacks.
        print(f"echelon: the secrets of the run cannot be read on this node: {error}", file=sys.stderr, flush=True)


def _load_panel(path: str) -> None:
    try:
        root = os.path.join(os.path.dirname(path), "hook")
        if root not in sys.path:
            sys.path.append(root)
        importlib.import_module("echelon_rayworker.engines.verl_agent.panel_hook").install(path)
    except Exception as error:  # noqa: BLE001 - the evaluation then says that its games were drawn
        print(f"echelon: the panel cannot be loaded in this process: {error}", file=sys.stderr, flush=True)
