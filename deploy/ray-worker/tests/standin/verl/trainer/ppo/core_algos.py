"""Estimators that compare whole rows."""

from collections import defaultdict

import torch


def rows_by(index):
    groups = defaultdict(list)
    for row, name in enumerate(index):
        groups[name].append(row)
    return groups.values()


def spread_over_tokens(values, mask):
    return values.unsqueeze(-1) * mask


def standardised(scores, index, by_std):
    result = scores / (1 + 1e-6) if by_std else scores.clone()
    for rows in rows_by(index):
        if len(rows) > 1:
            centred = scores[rows] - scores[rows].mean()
            result[rows] = centred / (scores[rows].std() + 1e-6) if by_std else centred
    return result


def leave_one_out(scores, index):
    result = scores.clone()
    for rows in rows_by(index):
        if len(rows) > 1:
            result[rows] = scores[rows] * len(rows) / (len(rows) - 1) - scores[rows].mean() * len(rows) / (len(rows) - 1)
    return result


def whitened_returns(rewards, mask, gamma):
    returns, running = torch.zeros_like(rewards), 0
    for token in reversed(range(rewards.shape[1])):
        running = rewards[:, token] + gamma * running
        returns[:, token] = running
    return (returns - returns.mean()) * torch.rsqrt(returns.var() + 1e-8) * mask, returns
