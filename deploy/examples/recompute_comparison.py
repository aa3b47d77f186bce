"""Recomputes what `echelon comparison judge` prints, with numpy alone: python recompute_comparison.py games.csv CANDIDATE BASELINE [LEVEL]."""

import csv
import itertools
import sys
from collections import defaultdict

import numpy as np

path, candidate, baseline, level = [*sys.argv[1:], "0.95"][:4]
games = defaultdict(list)
with open(path, newline="") as file:
    for row in csv.DictReader(file):
        games[row["method"], row["seed"], row["game"]].append(float(row["success"]))
checkpoints = defaultdict(list)
for (method, seed, _), replicates in games.items():
    checkpoints[method, seed].append(np.mean(replicates))
seeds = sorted(seed for method, seed in checkpoints if method == baseline)
d = 100 * np.array([np.mean(checkpoints[candidate, seed]) - np.mean(checkpoints[baseline, seed]) for seed in seeds])

freedom = len(d) - 1
error = np.std(d, ddof=1) / np.sqrt(len(d))
# The density of Student's t, summed until `level` of it lies inside.
t = np.linspace(0, 200, 4_000_001)
density = (1 + t**2 / freedom) ** (-(freedom + 1) / 2)
inside = np.cumsum(density) - density[0] / 2
tail = density[-1] * t[-1] / freedom / (t[1] - t[0])
critical = t[np.searchsorted(inside, float(level) * (inside[-1] + tail))]
flipped = [abs(np.dot(signs, d)) for signs in itertools.product([1, -1], repeat=len(d))]

print(f"difference {np.mean(d):+.4f}")
print(f"interval {np.mean(d) - critical * error:+.2f} {np.mean(d) + critical * error:+.2f}")
print(f"sign flips {np.mean(np.array(flipped) >= abs(d.sum()) * (1 - 1e-12)):.4f}")
