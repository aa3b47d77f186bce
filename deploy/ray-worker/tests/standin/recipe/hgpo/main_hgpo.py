"""The launcher: connects, starts the TaskRunner and waits for it."""

import sys

import ray

from verl.standin import parse, reach


def run_ppo(config):
    if not ray.is_initialized():
        from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

        ray.init(runtime_env=get_ppo_ray_runtime_env())
    reach(config, "start")
    runner = TaskRunner.remote()
    ray.get(runner.run.remote(config))


@ray.remote(num_cpus=1)
class TaskRunner:
    def run(self, config):
        from pprint import pprint

        pprint(config)
        from recipe.hgpo.env_manager import make_envs

        envs, val_envs = make_envs(config)
        # Not above: the launcher's process need not load torch, and here the environments' actors start meanwhile.
        from agent_system.multi_turn_rollout import TrajectoryCollector
        from recipe.hgpo.hgpo_ray_trainer import RayPPOTrainer

        reach(config, "dataset")
        train, val = (create_rl_dataset(config.data[key], config.data) for key in ("train_files", "val_files"))
        trainer = RayPPOTrainer(config, train, val, TrajectoryCollector(config), envs, val_envs)
        trainer.init_workers()
        trainer.fit()


def create_rl_dataset(path, config):
    from verl.utils.dataset.rl_dataset import RLHFDataset
    from verl.utils.import_utils import load_extern_type

    given = config.custom_cls.path
    cls = load_extern_type(given, config.custom_cls.name) if given else RLHFDataset
    print(f"Using dataset class: {cls.__name__}")
    return cls(data_files=path, config=config)


def main():
    run_ppo(parse(sys.argv[1:]))


if __name__ == "__main__":
    main()
