"""Trains with TRL's own GRPOTrainer and the capture hook, and verifies what the hook captured.

    npm run check:capture

Runs of scripts/golden/trl_run.py train three times each: as it is, with the advantages of a population deviation, and with
advantages in reverse order. `echelon verify` must find nothing in the first and the fault in each of the others.
"""

from __future__ import annotations

import importlib.metadata
import io
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "golden"), str(ROOT / "deploy" / "capture")]

import echelon_capture as capture  # noqa: E402
import trl_run  # noqa: E402
from echelon_capture.trl import follow  # noqa: E402

# In `unscorable` all advantages are 0: no fault would change them.
RUNS = ("decimal", "weights", "batch", "gdpo")


def as_it_is(advantages, size):
    return advantages


def population(advantages, size):
    """As if the deviation were divided by n instead of n - 1."""
    return advantages * math.sqrt(size / (size - 1))


def reverse(advantages, size):
    """As if rows were reordered before the advantages were stored."""
    return advantages.flip(0)


def train(name: str, fault) -> list[dict]:
    """The reports of the batches that the hook captured in one training."""
    original = trl_run.GRPOTrainer.train

    def followed(trainer):
        generate = trainer._generate_and_score_completions

        def faulty(*arguments, **keywords):
            result = generate(*arguments, **keywords)
            result["advantages"] = fault(result["advantages"], trainer.num_generations)
            return result

        trainer._generate_and_score_completions = faulty
        follow(trainer)
        return original(trainer)

    trl_run.GRPOTrainer.train = followed
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            os.environ["ECHELON_CAPTURE_DIR"] = os.path.join(folder, "captured")
            # The trainer prints a line for each step.
            with redirect_stdout(io.StringIO()):
                trl_run.train(name, trl_run.RUNS[name])
            if not capture.close():
                raise SystemExit("check:capture: the captured batches were not written")
            capture._forget()
            os.chdir(ROOT)
            return reports_of(os.path.join(folder, "captured"))
    finally:
        trl_run.GRPOTrainer.train = original


def reports_of(folder: str) -> list[dict]:
    verify = [str(ROOT / "bin" / "echelon"), "verify", "--json", folder]
    return json.loads(subprocess.run(verify, capture_output=True, text=True, timeout=120).stdout)["batches"]


def total(reports: list[dict], key: str) -> int:
    return sum(report[key] for report in reports)


def main() -> int:
    lines, failed = [], []
    for name in RUNS:
        right = train(name, as_it_is)
        faults = {fault.__name__: total(train(name, fault), "wrong") for fault in (population, reverse)}
        if len(right) != 3 or not all(report["ok"] for report in right):
            failed.append(f"{name}: {len(right)} batches, {total(right, 'wrong')} rows are wrong")
        failed += [f"{name}: the fault {fault} was not found" for fault, wrong in faults.items() if wrong == 0]
        counts = [total(right, key) for key in ("rows", "exact", "rounding", "wrong", "unverifiable")]
        lines.append([name, right[0]["fingerprint"], *counts, *faults.values()])
    packages = ", ".join(f"{one} {importlib.metadata.version(one)}" for one in ("trl", "transformers", "torch"))
    print(f"\n{packages}, Python {platform.python_version()}; 3 steps of 16 rows a run\n")
    head = ["run", "estimator", "rows", "exact", "rounding", "wrong", "unverifiable", "wrong: population", "wrong: reverse"]
    for line in (head, ["---"] * len(head), *lines):
        print(f"| {' | '.join(str(cell) for cell in line)} |")
    for problem in failed:
        print(f"check:capture: {problem}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
