"""Measures what the hook costs a training with TRL, at its defaults: CPU time in the trainer's thread and in the writing thread.

    PYTHONPATH=deploy/capture python scripts/hook-cost.py [STEPS]

Run it in an environment with TRL (scripts/test/trainer-environments.sh), on a quiet machine. The training is that of
deploy/capture/tests/test_trl_steps.py: a model of two layers, 16 rows of 6 tokens a step.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "golden"))
import torch
import trl_run

import echelon_capture
from echelon_capture import reporter, steps, trl_rows, trl_steps

# What the trainer's thread runs, and the writing thread; none of them calls another one.
IN_TRAINER = ((trl_steps, "_take"), (trl_steps, "settings_of"), (trl_steps, "_window"), (trl_steps, "_reported"),
              (trl_rows, "_generated"), (trl_rows.Rollouts, "_take"), (steps.Steps, "end"))  # fmt: skip
IN_WRITER = ((reporter.Reporter, "_build"),)


def timed(spent: collections.Counter[str], place: str, owner: object, name: str) -> None:
    """Adds the CPU time of a function's thread to `spent`."""
    own = getattr(owner, name)

    @functools.wraps(own)
    def measured(*arguments: object, **keywords: object) -> object:
        start = time.thread_time()
        try:
            return own(*arguments, **keywords)
        finally:
            spent[place] += time.thread_time() - start

    setattr(owner, name, measured)


def main(count: int) -> None:
    """Trains `count` steps and prints milliseconds of a step."""
    torch.set_num_threads(1)
    spent: collections.Counter[str] = collections.Counter()
    for place, functions in (("trainer", IN_TRAINER), ("writer", IN_WRITER)):
        for owner, name in functions:
            timed(spent, place, owner, name)
    own = trl_run.GRPOTrainer.train

    def train(trainer: object) -> None:
        trl_steps.follow_steps(trainer)
        start = time.process_time()
        own(trainer)
        echelon_capture.close()
        spent["step"] += time.process_time() - start

    trl_run.GRPOTrainer.train = train
    small = dict(per_device_train_batch_size=4, gradient_accumulation_steps=4, num_generations=4, learning_rate=1e-2, max_steps=count)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        os.environ["ECHELON_CAPTURE_DIR"] = os.path.join(folder, "capture")
        os.chdir(folder)
        trl_run.train("decimal", dict(rewards=[trl_run.decimal], config=small))
        os.chdir("/")
    trainer, writer, step = (1e3 * spent[name] / count for name in ("trainer", "writer", "step"))
    share = 100 * (trainer + writer) / (step - trainer - writer)
    print(f"{trainer:.2f} ms in the trainer's thread, {writer:.2f} ms in the writing thread: {share:.1f} % of a step of {step:.0f} ms ({count} steps)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 110)
