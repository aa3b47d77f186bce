"""What the injected `sitecustomize` does when a process uses a trainer: it installs the hook, and says so in `hooks.jsonl`."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import socket
import sys
import time
from typing import Any, Callable, Mapping

import echelon_capture as capture

from .recorder import say
from .settings import ATTEMPT, EXPERIMENT, FOLDER, HOOK, RANKS, RUN_NAME, SPOOL, STEPS_EVERY, STEPS_PROFILE, Settings

REPORT = "hooks.jsonl"
TESTED = "verl 0.9.1, and verl-agent's fork of verl 0.3"
# Ray shows the variables of a job to everyone who reaches its dashboard: no address or key of the API is among them.
_HANDED_ON = (HOOK, FOLDER, RANKS, RUN_NAME, STEPS_EVERY, STEPS_PROFILE, SPOOL, EXPERIMENT, ATTEMPT)
_SUBMITTED, _RAY_HOOK = "RAY_JOB_CONFIG_JSON_ENV_VAR", "RAY_RUNTIME_ENV_HOOK"
_joined: dict[str, Any] = {}


def install(kind: str, module: str) -> None:
    """Installs the hook of a `trainer`'s module or of an `actor`'s. It never raises: a failure is a gap."""
    try:
        if kind == "trainer":
            from . import verl

            verl.follow(module if module.startswith("recipe.") else verl.TRAINER_MODULE)
        elif Settings.of(os.environ).steps_every:
            _follow_steps()
        else:
            return
    except Exception as error:  # noqa: BLE001 - the capture must never fail a training
        _failed(kind, module, f"{type(error).__name__}: {error}")
    else:
        _report({"hook": kind, "module": module, "version": _version()})


def _follow_steps() -> None:
    from . import verl_agent_steps, verl_steps

    settings = Settings.of(os.environ)
    is_agent = importlib.util.find_spec(verl_steps.WORKERS_MODULE) is None
    (verl_agent_steps if is_agent else verl_steps).follow_steps(settings.steps_every, settings.profile)


def missing(kind: str, module: str) -> None:
    """Says that the module of a trainer has not what the hook follows."""
    _failed(kind, module, "the class that the hook follows is not there")


def prepared(keywords: Mapping[str, Any], inject: str) -> tuple[dict[str, Any], Callable[[], None]]:
    """The arguments of `ray.init`, by which every process of the job finds the hook, and what to call after it. A Ray that runs already
    does not have the variables of this process, so its runtime environment gets them. `inject`: the directory of the `sitecustomize`."""
    if not os.environ.get(_SUBMITTED):
        return {**keywords, "runtime_env": with_hook(keywords.get("runtime_env"), inject)}, lambda: None
    # Ray refuses variables that the submitted job states too, but asks its own hook after it has joined both.
    before = os.environ.get(_RAY_HOOK)
    _joined.update(inject=inject, before=before)
    os.environ[_RAY_HOOK] = f"{__name__}.after_joining"
    return dict(keywords), lambda: _restore(before)


def _restore(before: str | None) -> None:
    if before is None:
        os.environ.pop(_RAY_HOOK, None)
    else:
        os.environ[_RAY_HOOK] = before


def after_joining(runtime_env: Any) -> Any:
    """Ray's hook for the runtime environment of a submitted job: first the one that was set before, then this one."""
    if _joined.get("before"):
        module, _, name = _joined["before"].replace(":", ".").rpartition(".")
        runtime_env = getattr(importlib.import_module(module), name)(runtime_env)
    try:
        return with_hook(runtime_env, _joined["inject"])
    except Exception as error:  # noqa: BLE001 - the capture must never fail a training
        _failed("ray", "ray", f"{type(error).__name__}: {error}")
        return runtime_env


def with_hook(runtime_env: Mapping[str, Any] | None, inject: str) -> dict[str, Any]:
    """A runtime environment of Ray with the hook: its own variables stay, and its PYTHONPATH comes after `inject`."""
    stated = dict((runtime_env or {}).get("env_vars") or {})
    # Ray replaces `${…}` by what the node has.
    path = stated.get("PYTHONPATH") or "${PYTHONPATH}"
    entries = path.split(os.pathsep)
    handed = {name: os.environ[name] for name in _HANDED_ON if os.environ.get(name)}
    variables = {**handed, **stated, "PYTHONPATH": path if inject in entries else os.pathsep.join((inject, *entries))}
    return {**(runtime_env or {}), "env_vars": variables}


def _failed(kind: str, module: str, reason: str) -> None:
    text = f"the hook was not installed in {module} of verl {_version()}: {reason}. Tested: {TESTED}"
    say(text)
    capture.gap(0, 0, text, of="step" if kind == "actor" else "batch")
    _report({"hook": kind, "module": module, "version": _version(), "problem": reason})


def _version() -> str:
    package: Any = sys.modules.get("verl")
    return str(getattr(package, "__version__", "") or "of an unknown version")


def _report(facts: Mapping[str, str]) -> None:
    """Adds a line to the folder's `hooks.jsonl`, which the launcher reads."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    try:
        os.makedirs(folder, exist_ok=True)
        line = json.dumps({"time": round(time.time(), 3), "host": socket.gethostname(), "pid": os.getpid(), **facts})
        with open(os.path.join(folder, REPORT), "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except OSError as error:
        say(f"{folder} cannot be written: {error}")
