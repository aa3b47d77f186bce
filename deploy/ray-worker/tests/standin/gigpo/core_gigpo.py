"""GiGPO's step term."""

from collections import defaultdict

import torch

from verl.trainer.ppo.core_algos import spread_over_tokens, standardised


def compute_gigpo_outcome_advantage(token_level_rewards, step_rewards, response_mask, anchor_obs, index, traj_index,
                                    step_advantage_w, mode):  # fmt: skip
    by_std = mode == "mean_std_norm"
    episode = standardised(token_level_rewards.sum(-1), index, by_std)
    clusters = defaultdict(list)
    for row, key in enumerate(zip(index, anchor_obs)):
        clusters[key].append(row)
    step = torch.zeros_like(step_rewards)
    for rows in clusters.values():
        if len(rows) > 1:
            values = step_rewards[rows]
            centred = values - values.mean()
            step[rows] = centred / (values.std() + 1e-6) if by_std else centred
    advantages = spread_over_tokens(episode + step_advantage_w * step, response_mask)
    return advantages, advantages
