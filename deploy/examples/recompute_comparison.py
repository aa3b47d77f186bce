"""Recomputes what `echelon comparison judge` prints, with numpy alone: python recompute_comparison.py games.csv CANDIDATE BASELINE [LEVEL]."""

import csv
import itertools
import sys
from collections import defaultdict
from functools import lru_cache

import numpy as np


def read_games(path):
    """The successes of the replicates, by method, seed and game."""
    games = defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            games[row["method"], row["seed"], row["game"]].append(float(row["success"]))
    return games


def differences(games, candidate, baseline):
    """Candidate minus baseline of each seed, in points of success. Each game counts equally."""
    checkpoints = defaultdict(list)
    for (method, seed, _), replicates in games.items():
        checkpoints[method, seed].append(np.mean(replicates))
    seeds = sorted(seed for method, seed in checkpoints if method == baseline)
    return 100 * np.array([np.mean(checkpoints[candidate, seed]) - np.mean(checkpoints[baseline, seed]) for seed in seeds])


@lru_cache
def critical_t(freedom, level):
    """Student's t inside which `level` of it lies, by summing its density."""
    t = np.linspace(0, 200, 4_000_001)
    density = (1 + t**2 / freedom) ** (-(freedom + 1) / 2)
    inside = np.cumsum(density) - density[0] / 2
    tail = density[-1] * t[-1] / freedom / (t[1] - t[0])
    return t[np.searchsorted(inside, level * (inside[-1] + tail))]


def interval(d, level=0.95):
    """The interval of the mean difference, clustered by seed: games of one training are not independent."""
    reach = critical_t(len(d) - 1, level) * np.std(d, ddof=1) / np.sqrt(len(d))
    return np.mean(d) - reach, np.mean(d) + reach


def sign_flip_p(d):
    """Share of the sign patterns whose sum is at least as far from 0."""
    flipped = [abs(np.dot(signs, d)) for signs in itertools.product([1, -1], repeat=len(d))]
    return np.mean(np.array(flipped) >= abs(d.sum()) * (1 - 1e-12))


def main(path, candidate, baseline, level="0.95"):
    d = differences(read_games(path), candidate, baseline)
    low, high = interval(d, float(level))
    print(f"difference {np.mean(d):+.4f}")
    print(f"interval {low:+.2f} {high:+.2f}")
    print(f"sign flips {sign_flip_p(d):.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
