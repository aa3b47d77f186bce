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


def whitened(values, mask):
    """Values less their mean over the mask, over the root of their variance there."""
    count = mask.sum()
    centred = values - (values * mask).sum() / count
    variance = (centred**2 * mask).sum() / count * (count / (count - 1))
    return centred * torch.rsqrt(variance + 1e-8)


def generalised(rewards, values, mask, gamma, lam):
    """Sums from the end of the padding on."""
    sums, running, after = torch.zeros_like(rewards), 0, 0
    for token in reversed(range(rewards.shape[1])):
        running = rewards[:, token] + gamma * after - values[:, token] + gamma * lam * running
        sums[:, token], after = running, values[:, token]
    return whitened(sums, mask), sums + values


def whitened_returns(rewards, mask, gamma):
    """Returns that start again after each token outside the mask."""
    returns, running = torch.zeros_like(rewards), 0
    for token in reversed(range(rewards.shape[1])):
        running = rewards[:, token] + gamma * running
        returns[:, token] = running
        running = running * mask[:, token]
    return whitened(returns, mask) * mask, returns


def group_baseline(scores, mask, index):
    """Scores less the mean of their group, at every token."""
    for rows in rows_by(index):
        if len(rows) > 1:
            scores[rows] = scores[rows] - scores[rows].mean()
    return whitened(spread_over_tokens(scores, mask), mask) * mask


def best_of_group(scores, index, by_std):
    """The lead of the best row of each group; nothing for the others."""
    result = torch.zeros_like(scores)
    for rows in rows_by(index):
        best, second = torch.topk(scores[rows], 2).values
        lead = (best - second) / (scores[rows].std() + 1e-6) if by_std else best - second
        result[rows[scores[rows].argmax()]] = lead
    return result
