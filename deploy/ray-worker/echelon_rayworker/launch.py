"""What a launch request may say, and what becomes of it: the driver's command and environment."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import Mapping

from echelon_rayworker import __version__, allocation, programvariables
from echelon_rayworker.engines.registry import engine_names
from echelon_rayworker.files import read_regular, write_file
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.packages import with_packages
from echelon_rayworker.secretstore import NAMES_VARIABLE

ENGINES = engine_names()
# Versions of what drivers read in the files of a launch plan; src/core/launch-plan.ts says when to raise it.
SPEC_VERSIONS = (1,)
DEFAULT_GRACE_MS = 10_000
# Above any request that the server takes.
MAX_LAUNCH_BYTES = 8 * 1024 * 1024
# Files of the ray-worker in an attempt's directory; a plan's files have other names.
LAUNCH_FILE = "launch.bin"
SUPERVISOR_FILE = "supervisor.json"
STOP_FILE = "stop.json"
SPOOL_DIRECTORY = "spool"
# In the experiment's directory: the last reported checkpoint, for engines whose program does not find it by itself.
CHECKPOINT_FILE = "checkpoint.json"
# Secrets that an engine hands to processes on other nodes; removed at the end, whichever process wrote it.
HIDDEN_FILE = "hidden-variables.json"

_EXPERIMENT = re.compile(r"[a-z0-9-]{1,64}")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_OWN_FILE = re.compile(r"(launch|supervisor|stop|events|spool|hidden)\b.*")
# Names of the plan's variables, for an engine that hands them to processes on other nodes.
VARIABLES_VARIABLE = "ECHELON_VARIABLES"
_OWN_VARIABLES = (
    "ECHELON_EXPERIMENT", "ECHELON_ATTEMPT", "ECHELON_SPOOL", NAMES_VARIABLE, VARIABLES_VARIABLE, allocation.VARIABLE,
    programvariables.VARIABLE,
)  # fmt: skip
_PLACEHOLDER = re.compile(r"\{(attemptDir|experimentDir|sharedRoot)\}")
# A secret must not change what is run, nor be taken for a variable of ours.
_NO_SECRET_VARIABLE = re.compile(r"(ECHELON_|RAY_|LD_|PYTHON).*|PATH|HOME|SHELL|USER")

# Ray's variables that a driver may take over from the ray-worker. All others belong to the ray-worker's own Ray
# process (its job, its raylet, its actor) and would make the driver's ray.init() take itself for that process.
_RAY_VARIABLES_KEPT = frozenset(
    "RAY_AUTH_MODE RAY_AUTH_TOKEN RAY_AUTH_TOKEN_PATH RAY_USE_TLS RAY_TLS_SERVER_CERT RAY_TLS_SERVER_KEY "
    "RAY_TLS_CA_CERT RAY_TMPDIR".split()
)
# Ray sets these for a process that reserved no CPU and no GPU; a driver decides for itself.
_SET_BY_RAY = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")


class InvalidLaunch(ValueError):
    """The request is ill-formed; the message names the field."""


class OtherVersion(Exception):
    """The launch plan has a version that is not run here; the message says what to do."""


@dataclass(frozen=True)
class Directories:
    """Absolute paths of one attempt's files."""

    attempt: str
    experiment: str
    shared_root: str


def is_experiment(name: str) -> bool:
    """Whether this is the well-formed name of an experiment."""
    return _EXPERIMENT.fullmatch(name) is not None


def planned_grace_ms(attempt_dir: str) -> int:
    """The grace period of an attempt's plan; the default one where its launch can no longer be read."""
    try:
        data = read_regular(os.path.join(attempt_dir, LAUNCH_FILE), MAX_LAUNCH_BYTES)
        return pb.LaunchRequest.FromString(data).plan.grace_period_ms or DEFAULT_GRACE_MS
    except Exception:  # noqa: BLE001 - a stop must not depend on what a training does to this file
        return DEFAULT_GRACE_MS


def check_id(experiment: str, attempt: int) -> None:
    """InvalidLaunch unless both are well-formed."""
    if not is_experiment(experiment):
        raise InvalidLaunch("experiment: lower-case letters, digits and hyphens, 1 to 64 characters")
    if attempt < 1:
        raise InvalidLaunch("attempt: from 1")


def check_version(plan: pb.LaunchPlan) -> None:
    """OtherVersion if a driver of this package would misread the plan's files."""
    if plan.spec_version not in SPEC_VERSIONS:
        runs = ", ".join(map(str, SPEC_VERSIONS))
        raise OtherVersion(
            f"this ray-worker ({__version__}) runs launch plans of version {runs}, and the dispatcher made version "
            f"{plan.spec_version}: update the older of the two"
        )


def check_request(request: pb.LaunchRequest) -> None:
    """InvalidLaunch unless the request can be carried out as it stands."""
    check_id(request.experiment, request.attempt)
    check_plan(request.plan)


def check_plan(plan: pb.LaunchPlan) -> None:
    """InvalidLaunch unless the plan can be carried out as it stands."""
    if plan.engine not in ENGINES:
        raise InvalidLaunch(f"plan.engine: this ray-worker has no engine {plan.engine!r}; it has {', '.join(ENGINES)}")
    if not _MODULE.fullmatch(plan.module):
        raise InvalidLaunch("plan.module: the dotted name of a Python module")
    for index, argument in enumerate(plan.arguments):
        if "\0" in argument:
            raise InvalidLaunch(f"plan.arguments[{index}]: holds a NUL")
    for name, value in plan.environment.items():
        if not _VARIABLE.fullmatch(name):
            raise InvalidLaunch(f"plan.environment: {name!r} is no variable name")
        if name in _OWN_VARIABLES:
            raise InvalidLaunch(f"plan.environment: {name} is set by the ray-worker")
        if "\0" in value:
            raise InvalidLaunch(f"plan.environment.{name}: holds a NUL")
    for name in plan.secrets:
        if not _VARIABLE.fullmatch(name) or _NO_SECRET_VARIABLE.fullmatch(name) or name in plan.environment:
            raise InvalidLaunch(f"plan.secrets: {name!r} cannot hold a secret: it is no variable's name, or has another use")
    for name in plan.files:
        if not _FILE.fullmatch(name) or _OWN_FILE.fullmatch(name):
            raise InvalidLaunch(f"plan.files: {name!r} is no plain file name, or the ray-worker's own")


def base_environment(
    environment: Mapping[str, str], ray_address: str, inside_ray: bool
) -> dict[str, str]:
    """The environment that supervisors and drivers start from: the ray-worker's own, less what Ray has put there
    for the ray-worker's process, with the cluster's address."""
    base = {
        name: value
        for name, value in environment.items()
        if not (name.startswith("RAY_") and name not in _RAY_VARIABLES_KEPT)
        and not name.startswith("ECHELON_")
        and not (inside_ray and name in _SET_BY_RAY)
        # Ray's own debugger would wait for a person at a program's breakpoint().
        and not (name == "PYTHONBREAKPOINT" and value.startswith("ray."))
    }
    if ray_address:
        base["RAY_ADDRESS"] = ray_address
    base["RAY_USAGE_STATS_ENABLED"] = "0"
    base["PYTHONUNBUFFERED"] = "1"
    base["PYTHONPATH"] = with_packages(base.get("PYTHONPATH", ""))
    return base


def driver_environment(
    base: Mapping[str, str], request: pb.LaunchRequest, directories: Directories, secrets: Mapping[str, str]
) -> dict[str, str]:
    """The driver's environment: the base, the plan's variables over it (its PYTHONPATH before ours), the plan's secrets
    with their values, and the attempt's own."""
    environment = plan_environment(base, request.plan, directories)
    environment["ECHELON_EXPERIMENT"] = request.experiment
    environment["ECHELON_ATTEMPT"] = str(request.attempt)
    if request.plan.nodes:
        environment[allocation.VARIABLE] = allocation.to_text(request.plan.nodes)
    environment.update(secrets)
    if secrets:
        environment[NAMES_VARIABLE] = ",".join(sorted(secrets))
    environment["ECHELON_SPOOL"] = os.path.join(directories.attempt, SPOOL_DIRECTORY)
    return environment


def plan_environment(base: Mapping[str, str], plan: pb.LaunchPlan, directories: Directories) -> dict[str, str]:
    """The base with the plan's variables over it (its PYTHONPATH before ours), and their names. Variables of Python are for the
    user's program alone: see ``programvariables``."""
    environment = dict(base)
    if plan.environment:
        environment[VARIABLES_VARIABLE] = ",".join(sorted(plan.environment))
    environment.update(programvariables.withheld({name: fill(value, directories) for name, value in plan.environment.items()}))
    environment["PYTHONPATH"] = _join_paths(environment.get("PYTHONPATH", ""), base.get("PYTHONPATH", ""))
    return environment


def driver_command(plan: pb.LaunchPlan, directories: Directories) -> list[str]:
    """The driver's command, one element each, placeholders replaced."""
    return [sys.executable, "-m", plan.module, *(fill(argument, directories) for argument in plan.arguments)]


def write_files(plan: pb.LaunchPlan, attempt_dir: str) -> None:
    """Writes the plan's files into the attempt's directory. Raises OSError."""
    for name, data in plan.files.items():
        write_file(os.path.join(attempt_dir, name), data)


def fill(text: str, directories: Directories) -> str:
    """Replaces the three placeholders, once: what a value brings in is not looked at again."""
    values = {
        "attemptDir": directories.attempt,
        "experimentDir": directories.experiment,
        "sharedRoot": directories.shared_root,
    }
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], text)


def forget_hidden(attempt_dir: str) -> None:
    """Removes the secrets that an engine left in the attempt's directory."""
    try:
        os.unlink(os.path.join(attempt_dir, HIDDEN_FILE))
    except OSError:
        pass


def _join_paths(first: str, second: str) -> str:
    """Two search paths, each entry once."""
    entries = [entry for path in (first, second) for entry in path.split(os.pathsep) if entry]
    return os.pathsep.join(dict.fromkeys(entries))
