"""What reaches the trainer's processes on every node: variables, through Ray's runtime environment."""

from __future__ import annotations

import importlib.util
import os
from typing import Mapping, MutableMapping

from echelon_rayworker import allocation
from echelon_rayworker.launch import VARIABLES_VARIABLE
from echelon_rayworker.secretstore import NAMES_VARIABLE

from .overrides import Overrides
from .settings import Settings

# Handed on from the ray-worker's own environment if they are set there. Their values appear in no command line and
# no log: places of the cluster, and what the recipe's trackers and the model's download need.
_HANDED_ON = frozenset(
    "HF_HOME HF_HUB_CACHE HF_DATASETS_CACHE HF_TOKEN HF_ENDPOINT HF_HUB_OFFLINE HUGGING_FACE_HUB_TOKEN "
    "TRANSFORMERS_OFFLINE ALFWORLD_DATA TENSORBOARD_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy JAVA_HOME "
    "MLP_TRACKING_REGION".split()
)
_PREFIXES = ("WANDB_", "MLFLOW_", "SWANLAB_", "CLEARML_", "VOLC_", "NCCL_", "VLLM_")
_OURS = ("ECHELON_EXPERIMENT", "ECHELON_ATTEMPT", "ECHELON_SPOOL", allocation.VARIABLE)


# Where models and games are, below the shared root, if a variable does not say it and the directory is there.
_PLACES = {"HF_HOME": "huggingface", "ALFWORLD_DATA": "alfworld"}


def default_places(environment: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Variables that are unset: where models and games are, if the shared root has the directory, and where TensorBoard's
    files go, which would otherwise be written into the checkout."""
    places = {name: os.path.join(settings.shared_root, directory) for name, directory in _PLACES.items()}
    places = {name: path for name, path in places.items() if os.path.isdir(path)}
    places["TENSORBOARD_DIR"] = os.path.join(settings.experiment_dir, "tensorboard")
    return {name: path for name, path in places.items() if not environment.get(name)}


def runtime_variables(environment: Mapping[str, str], home: str, observations: str) -> dict[str, str]:
    """The variables of all processes of the run, with the plan's own and its secrets. `home`: the checkout, first on the
    search path of every process."""
    lists = (environment.get(name, "").split(",") for name in (NAMES_VARIABLE, VARIABLES_VARIABLE))
    planned = {NAMES_VARIABLE}.union(*lists)
    variables = {
        name: value
        for name, value in environment.items()
        if value and (name in _HANDED_ON or name in _OURS or name in planned or name.startswith(_PREFIXES))
    }
    # A further attempt continues the same run of Weights & Biases.
    if "WANDB_RUN_ID" not in variables and (experiment := environment.get("ECHELON_EXPERIMENT")):
        variables.update(WANDB_RUN_ID=experiment, WANDB_RESUME="allow")
    path = [home, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    variables["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, path)))
    variables["ECHELON_OBSERVATIONS"] = observations
    return variables


BACKEND = "VLLM_ATTENTION_BACKEND"


def drop_missing_backend(overrides: Overrides, environment: MutableMapping[str, str]) -> bool:
    """Removes the recipes' attention backend XFORMERS, which newer vLLM do not have, if the installed vLLM does not have it; true
    if it was removed. vLLM then chooses a backend itself."""
    vllm = importlib.util.find_spec("vllm")
    if environment.get(BACKEND) != "XFORMERS" or vllm is None or vllm.origin is None:
        return False
    package = os.path.dirname(vllm.origin)
    places = ("attention", os.path.join("v1", "attention"))
    if any(os.path.isfile(os.path.join(package, place, "backends", "xformers.py")) for place in places):
        return False
    del environment[BACKEND]
    overrides.take(f"ray_init.runtime_env.env_vars.{BACKEND}")
    return True
