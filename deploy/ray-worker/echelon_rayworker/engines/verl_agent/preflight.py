"""What would fail, or hang, on this cluster, said before a GPU is taken, as answers (see engines/answers.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from typing import Any, Mapping

from echelon_rayworker import gang, nodes

from ..answers import Answer, Check, run_preflight
from ..diskspace import existing_part, free_at, size_of
from ..spec import Launch
from . import checkpoints, cluster, datasets, directorylock, limits, memory, trackers
from .environment import default_places
from .settings import Settings, settings_of

# What a checkout needs, and in which range it is known to work: (package, at least, below), from its setup.py.
PACKAGES = (
    ("torch", "2.6", ""),
    ("ray", "2.41", "2.51"),
    ("tensordict", "0.8", "0.10.1"),
    ("transformers", "4.51", "4.57.4"),
    ("hydra-core", "1.3", ""),
    ("codetiming", "", ""),
    ("datasets", "", ""),
    ("pyarrow", "", ""),
    ("torchdata", "", ""),
    # The policy is loaded with its attention, whatever generates.
    ("flash-attn", "", ""),
)
# What the environments import, by a part of their names, and the trackers.
ENVIRONMENT_PACKAGES = {
    "alfworld": (("alfworld", "", ""), ("textworld", "", ""), ("gymnasium", "", "")),
    "webshop": (("gym", "", ""), ("pyserini", "", ""), ("rank-bm25", "", ""), ("flask", "", "")),
}
TRACKER_PACKAGES = {
    "wandb": "wandb", "mlflow": "mlflow", "swanlab": "swanlab", "clearml": "clearml", "tensorboard": "tensorboard",
}
# The configuration of a checkout may name programs that git would run with the caller's rights.
GIT_RUNS_NOTHING = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
ENGINE_PACKAGES = {"vllm": ("vllm", "0.8.2", "0.11.1"), "sglang": ("sglang", "", "")}


def checks_of(launch: Launch) -> list[Check]:
    """All checks."""
    settings = settings_of(launch, os.environ)
    os.environ.update(default_places(os.environ, settings))
    checks: list[Check] = [
        ("checkout", lambda: check_checkout(settings)),
        ("packages", lambda: check_packages(settings)),
        ("environment data", lambda: datasets.check_data(settings, Answer)),
        ("panel", lambda: datasets.check_panel(settings, Answer)),
        ("model", lambda: check_model(settings)),
        ("checkpoints", lambda: check_checkpoints(settings)),
        ("disk", lambda: check_disk(settings)),
        ("tracker", lambda: trackers.check_trackers(settings.overrides, os.environ)),
    ]
    return [*checks, ("cluster", lambda: check_cluster(settings))] if launch.with_ray else checks


def check_checkout(settings: Settings) -> list[Answer]:
    """Is it there, at which commit, and can the recipe be imported?"""
    home = settings.home
    file = os.path.join(home, *settings.program.split(".")) + ".py"
    if not os.path.isfile(file):
        remedy = "put a verl-agent checkout with recipe/hgpo there, or set home to the path of one"
        return [Answer("checkout", False, f"{home} holds no {settings.program}", remedy)]
    answers = [Answer("checkout", True, f"{home} is at {commit_of(home)}")]
    command = [sys.executable, "-c", f"import importlib; importlib.import_module({settings.program!r})"]
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(
            command, cwd=home, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return [*answers, Answer("recipe", False, "importing the recipe takes over 5 minutes", "look at the disk")]
    if done.returncode == 0:
        return [*answers, Answer("recipe", True, f"{settings.program} can be imported")]
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    remedy = "install what it lacks in the environment that runs the ray-worker"
    return [*answers, Answer("recipe", False, f"{settings.program} cannot be imported: {last}", remedy)]


def commit_of(home: str) -> str:
    """The checkout's commit, with a word if files differ from it; `no git checkout` if it is none."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *GIT_RUNS_NOTHING, "-c", f"safe.directory={home}", "-C", home, *arguments],
            capture_output=True, text=True, timeout=60,
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        if os.path.realpath(git("rev-parse", "--show-toplevel") or "/") != os.path.realpath(home):
            return "no git checkout: its commit is unknown"
        changed = " (with local changes)" if git("status", "--porcelain", "--untracked-files=no") else ""
        return f"commit {git('rev-parse', 'HEAD')[:12]}{changed}"
    except (OSError, subprocess.SubprocessError):
        return "a commit that git did not tell"


def check_packages(settings: Settings) -> list[Answer]:
    """The Python packages that the recipe imports, and their versions."""
    return [_package(name, least, below) for name, least, below in packages_of(settings)]


def packages_of(settings: Settings) -> list[tuple[str, str, str]]:
    """The packages that a run needs, with the range in which each is known to work."""
    overrides = settings.overrides
    engine = overrides.text("actor_rollout_ref.rollout.name", "vllm") or ""
    name = (overrides.text("env.env_name") or "").lower()
    return [
        *PACKAGES,
        *([ENGINE_PACKAGES[engine]] if engine in ENGINE_PACKAGES else []),
        *(package for part, packages in ENVIRONMENT_PACKAGES.items() if part in name for package in packages),
        *((TRACKER_PACKAGES[one], "", "") for one in trackers.chosen(overrides) if one in TRACKER_PACKAGES),
    ]


def _package(name: str, least: str, below: str) -> Answer:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Answer(name, False, f"{name} is not installed", f"pip install {name} for {sys.executable}")
    found = numbers_of(version)
    if (least and found < numbers_of(least)) or (below and found >= numbers_of(below)):
        span = f"{least or 'any'} to below {below or 'any'}"
        remedy = f"install {name} in the range {span}, or ignore this if the run has worked with it"
        return Answer(name, False, f"{name} {version} is outside of the known range ({span})", remedy, "warning")
    return Answer(name, True, f"{name} {version}")


def numbers_of(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, for comparison: 2.13.0+cpu is (2, 13, 0)."""
    numbers = []
    for part in version.split("+")[0].split("."):
        digits = "".join(one for one in part if one.isdigit()) if part[:1].isdigit() else ""
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def check_model(settings: Settings, environment: Mapping[str, str] = os.environ) -> list[Answer]:
    """A path that is there, or a name in the cache of downloads."""
    path = settings.overrides.text("actor_rollout_ref.model.path")
    if not path:
        return [Answer("model", False, "actor_rollout_ref.model.path is not given", "name the model")]
    if os.path.isabs(path) or path.startswith((".", "~")):
        there = os.path.isfile(os.path.join(os.path.expanduser(path), "config.json"))
        remedy = "" if there else "copy the model there, on the file system that all nodes see"
        return [Answer("model", there, f"{path} {'holds a model' if there else 'holds no config.json'}", remedy)]
    if "://" in path:
        return [Answer("model", True, f"{path} will be copied by the trainer; it was not looked at")]
    cache = _hub_cache(environment)
    if cached_model(path, environment):
        return [Answer("model", True, f"{path} is in {cache}")]
    offline = environment.get("HF_HUB_OFFLINE") == "1"
    remedy = f"download it once into {cache}, with HF_HOME on the shared file system, or give a path"
    message = f"{path} is not in {cache}: every node would download it" + (", but HF_HUB_OFFLINE is set" if offline else "")
    return [Answer("model", False, message, remedy, "error" if offline else "warning")]


def _hub_cache(environment: Mapping[str, str]) -> str:
    home = environment.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
    return environment.get("HF_HUB_CACHE") or os.path.join(home, "hub")


def cached_model(name: str, environment: Mapping[str, str]) -> str:
    """The directory of a Hub name in the cache of downloads; empty if it is not there."""
    if not name or os.path.isabs(name):
        return ""
    snapshots = os.path.join(_hub_cache(environment), f"models--{name.replace('/', '--')}", "snapshots")
    return snapshots if os.path.isdir(snapshots) and os.listdir(snapshots) else ""


def check_disk(settings: Settings) -> list[Answer]:
    """The free space of the checkpoints' file system against what the run will write; nothing if that is unknown."""
    if not settings.disk_bytes:
        return []
    directory = existing_part(settings.checkpoint_dir)
    free = free_at(directory)
    missing = settings.disk_bytes - size_of(settings.checkpoint_dir)
    text = f"the checkpoints need {missing / 1e9:.1f} GB more, and {free / 1e9:.1f} GB are free at {directory}"
    if missing <= 0:
        return [Answer("disk", True, f"the checkpoints that are there take the space already; {free / 1e9:.1f} GB are free")]
    remedy = "make room, lower training.keepCheckpoints, or use a larger file system: a training with a full disk fails"
    return [Answer("disk", missing <= free, text, "" if missing <= free else remedy)]


def check_checkpoints(settings: Settings) -> list[Answer]:
    """Can the directory be written, and would the run start from the right step?"""
    directory = settings.checkpoint_dir
    answers = []
    writable = os.access(existing_part(directory), os.W_OK)
    remedy = "" if writable else "give the ray-worker's user the right to write there"
    answers.append(Answer("checkpoint directory", writable, f"{directory} can{'' if writable else 'not'} be written", remedy))
    if not settings.evaluates and (who := directorylock.in_use(directory)):
        remedy = "wait for it, or set checkpoints.label to keep this training apart"
        answers.append(Answer("in use", False, f"{directory} is in use by {who}", remedy, "warning"))
    try:
        start = checkpoints.find_start(settings.overrides, directory, settings.gpus)
    except checkpoints.CheckpointError as error:
        return [*answers, Answer("start", False, str(error), "see the message")]
    if settings.evaluates and not start.path and not settings.base_model:
        remedy = "name the checkpoint directory of a training in evaluation.checkpoint.directory, or set evaluation.baseModel"
        return [*answers, Answer("start", False, f"{directory} holds no checkpoint to evaluate", remedy)]
    if settings.steps and start.step >= settings.steps:
        text = f"step {start.step} of {settings.steps} is there: the training is finished, and would end at once"
        return [*answers, Answer("start", True, text)]
    verb = "evaluates" if settings.evaluates else "resumes after"
    text = f"{verb} step {start.step}" if start.path else "starts from the model itself"
    if start.skipped:
        remedy = f"restore that checkpoint if the run shall not lose the steps after {start.step}"
        return [*answers, Answer("start", False, f"{start.skipped}; {text}", remedy, "warning")]
    return [*answers, Answer("start", True, text)]


def check_cluster(settings: Settings) -> list[Answer]:
    """GPUs and CPUs, and whether every node with GPUs sees the shared root and the checkout, and has the packages:
    the trainer's process may land on any of them."""
    nodes.connect()
    answers = [*check_resources(settings, cluster.look(), cluster.gpus_by_node())]
    packages = [name for name, _, _ in packages_of(settings)]
    model = settings.overrides.text("actor_rollout_ref.model.path") or ""
    cached = cached_model(model, os.environ)
    paths = [settings.home, *([model] if os.path.isabs(model) else []), *([cached] if cached else [])]
    paths += datasets.data_paths(settings)
    looks = nodes.look(settings.shared_root, packages, paths, with_gpus=True)
    return [
        *answers,
        *nodes.shared_answers(looks, settings.shared_root),
        *nodes.device_answers(looks),
        *path_answers(looks),
        *nodes.version_answers(looks, packages),
        *memory.memory_answers(settings, looks),
        *limits.check_limits(settings, looks),
        *(gang.gang_answers(_gpus_of_a_node(settings)) if _node_count(settings) > 1 else []),
    ]


def path_answers(looks: list[nodes.Look]) -> list[Answer]:
    """Nodes that lack the checkout, the model or the environments' data."""
    remedy = "put it on the file system that all nodes see, under one path"
    return [
        Answer("paths", False, f"node {one.node} does not see {path}", remedy) for one in looks for path in one.missing
    ]


def check_resources(settings: Settings, facts: Mapping[str, Any], gpus: Mapping[str, float]) -> list[Answer]:
    """`facts` as `cluster.look` gives them, `gpus`: each node's."""
    each, wanted_nodes = _gpus_of_a_node(settings), _node_count(settings)
    enough = sum(1 for count in gpus.values() if count >= each) >= wanted_nodes
    have = ", ".join(f"{count:g} on {node}" for node, count in gpus.items()) or "none"
    text = f"{wanted_nodes} nodes with {each} GPUs are asked for; there are: {have}"
    remedy = "" if enough else "lower trainer.n_gpus_per_node or trainer.nnodes, or use another cluster"
    wanted, total = settings.cpus_wanted, facts["cpusTotal"]
    cpus = f"{wanted:g} CPUs are wanted (environment actors + 1 + GPUs), the cluster has {total:g}"
    more = "" if total >= wanted else (
        "lower env.resources_per_worker.num_cpus or add CPUs: a start with too few hangs without a word"
    )
    return [Answer("GPUs", enough, text, remedy), Answer("CPUs", total >= wanted, cpus, more)]


def _gpus_of_a_node(settings: Settings) -> int:
    return int(settings.overrides.number("trainer.n_gpus_per_node", 8))


def _node_count(settings: Settings) -> int:
    return int(settings.overrides.number("trainer.nnodes", 1))


if __name__ == "__main__":
    run_preflight(checks_of)
