"""The training loop, in the recipe's order."""

import os
import time

import numpy as np
import ray
import torch
from agent_system.multi_turn_rollout import TrajectoryCollector, adjust_batch
from gigpo import core_gigpo
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from verl.single_controller.ray.base import RayResourcePool
from verl.standin import reach
from verl.trainer.ppo import core_algos
from verl.workers import WorkerDict

from . import core_hgpo


def compute_advantage(data, adv_estimator, gamma=1.0, lam=1.0, norm_adv_by_std_in_grpo=True, step_advantage_w=1.0,
                      gigpo_mode="mean_std_norm", **kwargs):  # fmt: skip
    rewards, mask = data.batch["token_level_rewards"], data.batch["response_mask"]
    objects = data.non_tensor_batch
    whole = rewards.sum(-1)
    states = dict(anchor_obs=objects.get("anchor_obs"), index=objects["uid"], traj_index=objects["traj_uid"])
    if adv_estimator == "hgpo":
        result = core_hgpo.compute_hgpo_outcome_advantage(
            rewards, data.batch["step_rewards"], mask, **states, history_length=kwargs["history_length"],
            mode=kwargs["hgpo_mode"], length_weight_alpha=kwargs["hgpo_length_weight_alpha"],
            base_group=kwargs["hgpo_base_group"],
        )  # fmt: skip
    elif adv_estimator == "gigpo":
        result = core_gigpo.compute_gigpo_outcome_advantage(
            rewards, data.batch["step_rewards"], mask, **states, step_advantage_w=step_advantage_w, mode=gigpo_mode
        )
    elif adv_estimator == "grpo":
        values = core_algos.standardised(whole, objects["uid"], norm_adv_by_std_in_grpo)
        result = (core_algos.spread_over_tokens(values, mask),) * 2
    elif adv_estimator == "rloo":
        result = (core_algos.spread_over_tokens(core_algos.leave_one_out(whole, objects["uid"]), mask),) * 2
    elif adv_estimator == "grpo_passk":
        values = core_algos.best_of_group(whole, objects["uid"], norm_adv_by_std_in_grpo)
        result = (core_algos.spread_over_tokens(values, mask),) * 2
    elif adv_estimator == "gae":
        result = core_algos.generalised(rewards, data.batch["values"], mask, gamma, lam)
    elif adv_estimator in ("reinforce_plus_plus", "remax"):
        result = core_algos.whitened_returns(rewards, mask, gamma)
    elif adv_estimator == "reinforce_plus_plus_baseline":
        result = (core_algos.group_baseline(whole, mask, objects["uid"]),) * 2
    else:
        raise NotImplementedError
    data.batch["advantages"], data.batch["returns"] = result
    return data


class RayPPOTrainer:
    def __init__(self, config, train_dataset, val_dataset, traj_collector, envs, val_envs):
        self.config, self.envs, self.val_envs, self.traj_collector = config, envs, val_envs, traj_collector
        print("[validate_config] All configuration checks passed successfully!")
        per_epoch = len(train_dataset) // config.data.train_batch_size
        print(f"Size of train dataloader: {per_epoch}, Size of val dataloader: {len(val_dataset)}")
        self.total_training_steps = config.trainer.total_training_steps or per_epoch * config.trainer.total_epochs
        print(f"Total training steps: {self.total_training_steps}", flush=True)

    def init_workers(self):
        print("colocated worker base class <class 'verl.single_controller.base.worker.Worker'>", flush=True)
        reach(self.config, "workers")
        count = self.config.trainer.n_gpus_per_node
        pool = RayResourcePool([count] * self.config.trainer.nnodes)
        self.workers = [
            WorkerDict.options(num_gpus=1, scheduling_strategy=PlacementGroupSchedulingStrategy(group, bundle)).remote()
            for group in pool.get_placement_groups() for bundle in range(count)
        ]
        ray.get([worker.update.remote() for worker in self.workers])

    def fit(self):
        from verl.utils.tracking import Tracking

        logger = Tracking("p", "e", self.config.trainer.logger)
        self.global_steps = 0
        self._load_checkpoint()
        if self.config.trainer.val_before_train:
            logger.log(data=self._validate(), step=self.global_steps)
            if self.config.trainer.val_only:
                return
        self.global_steps += 1
        for epoch in range(self.config.trainer.total_epochs):
            start = time.perf_counter()
            last = self.global_steps >= self.total_training_steps
            metrics = self._step()
            if self.config.trainer.test_freq > 0 and (last or self.global_steps % self.config.trainer.test_freq == 0):
                metrics.update(self._validate())
            if self.config.trainer.save_freq > 0 and (last or self.global_steps % self.config.trainer.save_freq == 0):
                self._save_checkpoint()
            metrics["timing_s/step"] = time.perf_counter() - start
            metrics.update({"training/global_step": self.global_steps, "training/epoch": epoch})
            logger.log(data=metrics, step=self.global_steps)
            self.global_steps += 1
            if last:
                return

    def _step(self):
        config = self.config
        reach(config, "rollout")
        batch = self.traj_collector.multi_turn_loop(self.envs)
        if config.algorithm.adv_estimator in ("hgpo", "gigpo"):
            batch.batch["step_rewards"] = core_hgpo.compute_step_discounted_returns(batch, config.algorithm.gamma)
        self._reward(batch)
        if config.algorithm.adv_estimator == "gae":
            # The first token of the padding has a value.
            mask = batch.batch["response_mask"]
            batch.batch["values"] = torch.rand(mask.shape) * torch.cat([torch.ones(len(mask), 1), mask[:, :-1]], 1)
        reach(config, "advantage")
        start = time.perf_counter()
        batch = compute_advantage(
            batch,
            adv_estimator=config.algorithm.adv_estimator,
            gamma=config.algorithm.gamma,
            lam=config.algorithm.lam,
            norm_adv_by_std_in_grpo=config.algorithm.norm_adv_by_std_in_grpo,
            step_advantage_w=config.algorithm.gigpo.step_advantage_w,
            gigpo_mode=config.algorithm.gigpo.mode,
            hgpo_mode=config.algorithm.hgpo.mode,
            hgpo_length_weight_alpha=config.algorithm.hgpo.length_weight_alpha,
            hgpo_base_group=config.algorithm.hgpo.base_group,
            history_length=config.env.history_length,
        )
        metrics = {
            "timing_s/adv": time.perf_counter() - start,
            "critic/advantages/mean": batch.batch["advantages"].mean().item(),
            "actor/lr": np.float32(1e-6),
            "episode/reward/mean": float(np.mean([float(one) for one in batch.non_tensor_batch["episode_rewards"]])),
            "webshop_task_score (not success_rate)": 1 / 3,
        }
        adjust_batch(config, batch)
        ray.get([worker.update.remote() for worker in self.workers])
        reach(config, "update")
        time.sleep(config.standin.delay)
        return metrics

    def _reward(self, batch):
        mask, penalty = batch.batch["response_mask"], self.config.actor_rollout_ref.actor.invalid_action_penalty_coef
        scores = torch.zeros(mask.shape, dtype=torch.float32)
        for row, last in enumerate((mask.sum(-1) - 1).tolist()):
            scores[row, last] = float(batch.non_tensor_batch["episode_rewards"][row])
            if not batch.non_tensor_batch["is_action_valid"][row]:
                scores[row, last] -= penalty
                if "step_rewards" in batch.batch:
                    batch.batch["step_rewards"][row] -= penalty
        batch.batch["token_level_scores"] = batch.batch["token_level_rewards"] = scores

    def _validate(self):
        print("test_gen_batch meta info: {}", flush=True)
        reach(self.config, "validate")
        batch = self.traj_collector.multi_turn_loop(self.val_envs, is_train=False)
        print("validation generation end", flush=True)
        won = [float(one) > 0 for one in batch.non_tensor_batch["episode_rewards"]]
        return {"val/text/test_score": float(np.mean(won)), "val/success_rate": np.float64(np.mean(won))}

    def _folder(self, step):
        return os.path.join(self.config.trainer.default_local_dir, f"global_step_{step}")

    def _save_checkpoint(self):
        print(f"local_global_step_folder: {self._folder(self.global_steps)}", flush=True)
        os.makedirs(os.path.join(self._folder(self.global_steps), "actor"), exist_ok=True)
        world = self.config.trainer.n_gpus_per_node * self.config.trainer.nnodes
        for kind in ("model", "optim", "extra_state"):
            for rank in range(world):
                name = f"{kind}_world_size_{world}_rank_{rank}.pt"
                torch.save({}, os.path.join(self._folder(self.global_steps), "actor", name))
        reach(self.config, "save")
        with open(os.path.join(self.config.trainer.default_local_dir, "latest_checkpointed_iteration.txt"), "w") as f:
            f.write(str(self.global_steps))

    def _load_checkpoint(self):
        tracker = os.path.join(self.config.trainer.default_local_dir, "latest_checkpointed_iteration.txt")
        if self.config.trainer.resume_mode == "disable" or not os.path.exists(tracker):
            print("Training from scratch", flush=True)
            return
        path = self.config.trainer.resume_from_path
        named = path if self.config.trainer.resume_mode == "resume_path" else open(tracker).read()
        self.global_steps = int(named.rsplit("_", 1)[-1])
        print(f"Setting global step to {self.global_steps}")
        print(f"Resuming from {self._folder(self.global_steps)}", flush=True)
