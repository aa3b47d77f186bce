"""Whether the trackers that a run logs to have their keys: without one a run fails after it has loaded all models."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Mapping

from echelon_rayworker.secretstore import NAMES_VARIABLE

from ..answers import Answer
from .overrides import Overrides


@dataclass(frozen=True)
class _Tracker:
    keys: tuple[str, ...]
    """Variables that the tracker reads; it needs all of them."""
    mode: str = ""
    """Variable that says whether the tracker sends anything."""
    silent: tuple[str, ...] = ()
    """Values of ``mode`` with which the tracker needs no key."""
    login: str = ""
    """File below the home directory in which the tracker's own login stores the key."""


# Of verl-agent's loggers, those that need keys.
_TRACKERS = {
    "wandb": _Tracker(("WANDB_API_KEY",), "WANDB_MODE", ("offline", "disabled", "dryrun"), ".netrc"),
    "swanlab": _Tracker(("SWANLAB_API_KEY",), "SWANLAB_MODE", ("offline", "local", "disabled"), ".swanlab/.netrc"),
    "clearml": _Tracker(
        ("CLEARML_API_ACCESS_KEY", "CLEARML_API_SECRET_KEY"), "CLEARML_OFFLINE_MODE", ("1", "true"), "clearml.conf"
    ),
    "vemlp_wandb": _Tracker(("VOLC_ACCESS_KEY_ID", "VOLC_SECRET_ACCESS_KEY", "MLP_TRACKING_REGION")),
}


def check_trackers(overrides: Overrides, environment: Mapping[str, str]) -> list[Answer]:
    """One answer for each chosen tracker that needs a key. ``environment``: with the names of the plan's secrets."""
    return [_check(name, _TRACKERS[name], environment) for name in chosen(overrides) if name in _TRACKERS]


def chosen(overrides: Overrides) -> list[str]:
    """The names of the loggers that a run uses."""
    names = (overrides.text("trainer.logger") or "").strip("[]").split(",")
    return [name.strip(" '\"") for name in names]


def _check(name: str, tracker: _Tracker, environment: Mapping[str, str]) -> Answer:
    if environment.get(tracker.mode, "").lower() in tracker.silent:
        return Answer("tracker", True, f"{name} sends nothing: {tracker.mode} is {environment[tracker.mode]}")
    secrets = environment.get(NAMES_VARIABLE, "").split(",")
    missing = " and ".join(key for key in tracker.keys if key not in secrets and not environment.get(key))
    if not missing:
        return Answer("tracker", True, f"{name} has its key")
    remedy = (
        f"name a secret of the cluster for {missing} under secrets, set it in the ray-worker's environment, or remove "
        f"{name} from training.logger"
    )
    login = os.path.join(environment.get("HOME") or os.path.expanduser("~"), tracker.login)
    if tracker.login and os.path.isfile(login):
        text = f"{name} has no {missing}, only a login in {login}, which other nodes may not have"
        return Answer("tracker", False, text, remedy, "warning")
    text = f"{name} has no key: {missing} is neither among the spec's secrets nor in the ray-worker's environment"
    return Answer("tracker", False, text, remedy)
