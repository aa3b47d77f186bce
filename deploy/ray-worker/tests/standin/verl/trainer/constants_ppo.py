"""The runtime environment that every process gets."""


def get_ppo_ray_runtime_env():
    return {"env_vars": {"TOKENIZERS_PARALLELISM": "true"}, "working_dir": None}
