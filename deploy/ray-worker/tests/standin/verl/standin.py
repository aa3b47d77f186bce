"""The stand-in's configuration and its switches."""

import time

import yaml

DEFAULTS = {
    "data": {
        "train_files": None, "val_files": None, "train_batch_size": 1024, "val_batch_size": None,
        "max_prompt_length": 512, "max_response_length": 8, "custom_cls": {"path": None, "name": None},
        "return_raw_chat": False, "shuffle": True,
    },
    "actor_rollout_ref": {
        "model": {"path": "none"},
        "actor": {"use_invalid_action_penalty": True, "invalid_action_penalty_coef": 0.1},
        "rollout": {
            "n": 1, "name": "vllm", "multi_turn": {"enable": False}, "val_kwargs": {"temperature": 0, "do_sample": False},
        },
    },
    "algorithm": {
        "adv_estimator": "gae", "gamma": 1.0, "lam": 1.0, "norm_adv_by_std_in_grpo": True, "use_kl_in_reward": False,
        "gigpo": {"step_advantage_w": 1.0, "mode": "mean_norm"},
        "hgpo": {"mode": "mean_std_norm", "weight_type": "length", "length_weight_alpha": 1.0, "base_group": False},
        "filter_groups": {"enable": False},
    },
    "env": {
        "env_name": "alfworld/AlfredTWEnv", "seed": 0, "max_steps": 8, "history_length": 2, "rollout": {"n": 1},
        "resources_per_worker": {"num_cpus": 0.1},
    },
    "trainer": {
        "total_epochs": 1, "total_training_steps": None, "project_name": "p", "experiment_name": "e",
        "logger": ["console"], "nnodes": 1, "n_gpus_per_node": 1, "save_freq": -1, "test_freq": -1,
        "val_before_train": True, "val_only": False, "val_out": False, "resume_mode": "auto",
        "resume_from_path": None, "default_local_dir": "checkpoints", "balance_batch": True,
    },
    "standin": {"fail": None, "hang": None, "delay": 0, "shuffle": False},
    "hydra": {"run": {"dir": "outputs"}},
}  # fmt: skip


class Node(dict):
    """A mapping whose keys are attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __reduce__(self):
        return (node, (dict(self),))


def node(value):
    return Node({key: node(one) for key, one in value.items()}) if isinstance(value, dict) else value


def parse(arguments):
    """The configuration with `key=value` in it; a key that it lacks needs a `+`."""
    config = node(DEFAULTS)
    for argument in arguments:
        key, _, text = argument.partition("=")
        *path, last = key.lstrip("+").split(".")
        place = config
        for name in path:
            if name not in place and not key.startswith("+"):
                raise SystemExit(f"Could not override '{key}'.\nKey '{name}' is not in struct")
            place = place.setdefault(name, Node())
        if last not in place and not key.startswith("+"):
            raise SystemExit(f"Could not override '{key}'.\nKey '{last}' is not in struct")
        value = yaml.safe_load(text)
        try:
            value = float(value) if isinstance(value, str) and value[0] in "0123456789." else value
        except ValueError:
            pass
        place[last] = value
    return config


def reach(config, place):
    """Fails or hangs where the switches say so."""
    if config.standin.get("hang") == place:
        time.sleep(3600)
    if config.standin.get("fail") == place:
        raise RuntimeError(f"the stand-in fails as configured: {place}")
