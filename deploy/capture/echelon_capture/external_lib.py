"""Importing this module captures the optimizer steps of verl's or verl-agent's actors in this process.

    actor_rollout_ref.model.external_lib=echelon_capture.external_lib

The variables ECHELON_STEPS_EVERY (default: 10) and ECHELON_STEPS_PROFILE (default: minimal) are the arguments of `follow_steps`.
"""

from __future__ import annotations

import importlib.util
import os

from . import verl_agent_steps, verl_steps
from .recorder import say
from .settings import Settings


def _follow() -> None:
    is_agent = importlib.util.find_spec(verl_steps.WORKERS_MODULE) is None
    trainer = verl_agent_steps if is_agent else verl_steps
    try:
        settings = Settings.of(os.environ)
        trainer.follow_steps(settings.steps_every, settings.profile)
    except Exception as error:  # noqa: BLE001 - the capture must never fail a training
        say(f"optimizer steps are not captured: {type(error).__name__}: {error}")


_follow()
