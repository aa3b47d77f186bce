"""Plays all environments until they are done; rows come out by environment, then by time."""

import uuid

import numpy as np
import torch

from verl import DataProto


class TrajectoryCollector:
    def __init__(self, config):
        self.config = config
        self.chance = np.random.default_rng(config.env.seed)

    def gather_rollout_data(self, total_batch_list, episode_rewards, episode_lengths):
        rows = []
        for place, steps in enumerate(total_batch_list):
            for data in steps:
                if data["active_masks"]:
                    data["episode_rewards"] = episode_rewards[place]
                    data["episode_lengths"] = episode_lengths[place]
                    rows.append(data)
        if self.config.standin.shuffle:
            self.chance.shuffle(rows)
        tensors = {key: torch.stack([row[key] for row in rows]) for key in ("responses", "response_mask")}
        others = {key: np.array([row[key] for row in rows], dtype=object) for key in rows[0] if key not in tensors}
        return DataProto(tensors, others)

    def multi_turn_loop(self, envs, is_train=True):
        count = envs.count
        n = self.config.env.rollout.n if is_train else 1
        groups = [str(uuid.uuid4()) for _ in range(-(-count // n))]
        names = [str(uuid.uuid4()) for _ in range(count)]
        (observations, _), done = envs.reset(kwargs={}), np.zeros(count, bool)
        total, total_infos = [[] for _ in range(count)], [[] for _ in range(count)]
        rewards, lengths = np.zeros(count, np.float32), np.zeros(count, np.float32)
        for _ in range(self.config.env.max_steps):
            active = ~done
            actions = self.chance.choice(5, count, p=[0.3, 0.2, 0.15, 0.25, 0.1]).tolist()
            following, step_rewards, ended, infos = envs.step([f"<action>{action}</action>" for action in actions])
            for place in range(count):
                reward = float(step_rewards[place])
                total[place].append({
                    **self._response(actions[place]), "uid": groups[place // n], "traj_uid": names[place],
                    "anchor_obs": observations["anchor"][place], "rewards": reward, "active_masks": bool(active[place]),
                    "is_action_valid": infos[place]["is_action_valid"],
                })  # fmt: skip
                total_infos[place].append(infos[place])
                if active[place]:
                    rewards[place] += reward
                    lengths[place] += 1
                    done[place] = bool(ended[place])
            observations = following
            if done.all():
                break
        envs.success_evaluator(total_infos=total_infos, total_batch_list=total)
        return self.gather_rollout_data(total_batch_list=total, episode_rewards=rewards, episode_lengths=lengths)

    def _response(self, action):
        width = self.config.data.max_response_length
        tokens = torch.from_numpy(self.chance.integers(0, 1000, width))
        tokens[0] = action
        mask = torch.zeros(width, dtype=torch.int64)
        mask[: int(self.chance.integers(1, width + 1))] = 1
        return {"responses": tokens, "response_mask": mask}


def adjust_batch(config, batch, mode="copy"):
    """Appends duplicates up to a multiple of 8, after the advantages."""
    count = len(batch)
    order = np.concatenate([np.arange(count), np.random.choice(count, -count % 8, replace=False)])
    batch.batch = {key: value[order] for key, value in batch.batch.items()}
    batch.non_tensor_batch = {key: value[order] for key, value in batch.non_tensor_batch.items()}
    return batch
