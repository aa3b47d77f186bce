"""A training of verl, or of verl-agent's fork of it, without a model server: its own `run_ppo`, and its trainer up to the first rollout, in
a task of Ray. There it computes the advantages of made-up rollouts; its actor updates a small model in a further process of Ray."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import ray

VARIABLES = ("ECHELON_TOKEN", "MINE")
STEPS, SIZE = 2, 4


class Done(Exception):
    """The end of the made-up training."""


def made_up(seed: int):
    """The responses to four prompts as verl has them before the advantages."""
    import numpy as np
    import torch
    from tensordict import TensorDict
    from verl import DataProto

    torch.manual_seed(seed)
    rows, tokens = 4 * SIZE, 6
    mask = (torch.arange(tokens) < torch.randint(2, tokens + 1, (rows, 1))).long()
    rewards = torch.zeros(rows, tokens)
    rewards[torch.arange(rows), mask.sum(-1) - 1] = torch.rand(rows)
    data = DataProto(batch=TensorDict({"response_mask": mask, "token_level_rewards": rewards}, batch_size=rows))
    columns = {
        "uid": [f"prompt {row // SIZE}" for row in range(rows)], "traj_uid": [f"trajectory {row}" for row in range(rows)],
        "anchor_obs": ["a room"] * rows, "is_action_valid": [True] * rows, "episode_lengths": [1] * rows,
        "rewards": rewards.sum(-1).tolist(),
    }  # fmt: skip
    data.non_tensor_batch.update({name: np.array(column, dtype=object) for name, column in columns.items()})
    return data


@ray.remote
class Actor:
    """A process in which verl's engine trains."""

    def train(self, is_agent: bool) -> str:
        weights = of_agent() if is_agent else of_verl()
        if "echelon_capture" in sys.modules:
            sys.modules["echelon_capture"].close()
        return str([weight.sum().item() for weight in weights])


def of_agent() -> list:
    """The weights after an update of verl-agent's actor."""
    from test_verl_agent_steps import load_actor, updates

    return updates(load_actor(), dict(use_kl_loss=False), number=1)


def of_verl() -> list:
    """The weights after an update of verl's engine."""
    import functools

    import torch
    from verl.workers import engine_workers
    from verl.workers.engine.fsdp import transformer_impl
    from verl.workers.utils import losses
    from verl_support import batch_of, config_of, engine_of, model_of

    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    transformer_impl.get_device_id = lambda: "cpu"
    torch.manual_seed(7)
    model = model_of()
    worker = object.__new__(engine_workers.TrainingWorker)
    worker.engine = engine_of(model)
    worker.set_loss_fn(functools.partial(losses.ppo_loss, config=config_of()))
    worker.engine.train_batch(batch_of(model, False), worker.loss_fn)
    return list(model.parameters())


@ray.remote
class Bystander:
    """A process that uses no trainer, although it imports the trainer's module."""

    def modules(self) -> list[str]:
        import verl.trainer.ppo.ray_trainer  # noqa: F401

        return [name for name in sys.modules if name.startswith("echelon")]


@ray.remote
class Runner:
    """In the place of verl's TaskRunner."""

    def run(self, config) -> None:
        from verl.trainer.ppo import ray_trainer

        class Trainer(ray_trainer.RayPPOTrainer):
            def _create_dataloader(self, *datasets) -> None: ...

            def _validate_config(self) -> None: ...

            def _load_checkpoint(self) -> None:
                self.advantages = []
                for self.global_steps in range(1, STEPS + 1):
                    result = ray_trainer.compute_advantage(made_up(self.global_steps), "grpo", num_repeat=SIZE)
                    self.advantages.append(result.batch["advantages"].double().abs().sum().item())
                raise Done

        trainer = Trainer(config, None, {ray_trainer.Role.ActorRollout: None}, None)
        try:
            trainer.fit()
        except Done:
            pass
        found = {
            "advantages": trainer.advantages,
            "weights": ray.get(Actor.remote().train.remote(hasattr(ray_trainer, "TrajectoryCollector"))),
            "bystander": ray.get(Bystander.remote().modules.remote()),
            "variables": {name: os.environ.get(name) for name in VARIABLES},
            "echelon": sorted(name for name in sys.modules if name.startswith("echelon")),
        }
        Path(config.trainer.default_local_dir).write_text(json.dumps(found))


def main() -> None:
    """Overrides of Hydra are the arguments, as of `python -m verl.trainer.main_ppo`."""
    from hydra import compose, initialize_config_dir
    from verl.trainer import main_ppo

    own = ["actor_rollout_ref.rollout.n=4"] if hasattr(main_ppo, "TaskRunnerV1") else ["env.rollout.n=4"]
    with initialize_config_dir(str(Path(main_ppo.__file__).with_name("config")), version_base=None):
        config = compose("ppo_trainer", [*sys.argv[1:], "trainer.logger=[console]", *own])
    if hasattr(main_ppo, "TaskRunnerV1"):
        main_ppo.run_ppo(config, Runner)
    else:
        main_ppo.TaskRunner = Runner
        main_ppo.run_ppo(config)


if __name__ == "__main__":
    main()
