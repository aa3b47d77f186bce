"""HGPO: rows whose last k observations agree are compared, for each k; the levels are weighted."""

from collections import defaultdict

import torch

from verl.trainer.ppo.core_algos import spread_over_tokens, standardised


def compute_step_discounted_returns(batch, gamma):
    print("compute_step_discounted_returns", flush=True)
    rewards = torch.tensor([float(one) for one in batch.non_tensor_batch["rewards"]], dtype=torch.float32)
    later = defaultdict(lambda: torch.zeros((), dtype=torch.float32))
    returns = torch.zeros_like(rewards)
    for row in reversed(range(len(rewards))):
        name = batch.non_tensor_batch["traj_uid"][row]
        later[name] = returns[row] = rewards[row] + gamma * later[name]
    return returns


def compute_hgpo_outcome_advantage(token_level_rewards, step_rewards, response_mask, anchor_obs, index, traj_index,
                                   history_length, mode, length_weight_alpha, base_group, epsilon=1e-6):  # fmt: skip
    by_std = mode == "mean_std_norm"
    histories, clusters, levels = defaultdict(list), defaultdict(list), defaultdict(list)
    if base_group:
        for row, value in enumerate(standardised(token_level_rewards.sum(-1), index, by_std)):
            levels[row].append((1.0, value))
    for row, observation in enumerate(anchor_obs):
        history = histories[traj_index[row]]
        history.append(observation)
        for k in range(1, min(history_length + 1, len(history)) + 1):
            clusters[k, index[row], tuple(history[-k:])].append(row)
    for (k, _, _), rows in clusters.items():
        if len(rows) > 1:
            values = step_rewards[rows]
            centred = values - values.mean()
            compared = centred / (values.std(unbiased=False) + epsilon) if by_std else centred
            for row, value in zip(rows, compared):
                levels[row].append((float(k + 1) ** length_weight_alpha, value))
    advantages = torch.zeros_like(step_rewards)
    for row, items in levels.items():
        counted = [(weight, value) for weight, value in items if value != 0]
        if counted:
            weights = torch.tensor([weight for weight, _ in counted], dtype=torch.float32)
            weights = weights / (weights.sum() + epsilon)
            advantages[row] = (weights * torch.stack([value for _, value in counted])).sum()
    advantages = spread_over_tokens(advantages, response_mask)
    return advantages, advantages
