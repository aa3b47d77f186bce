"""`python -m echelon_rayworker.engines.replay.record [PATH]`: makes the built-in record from the local engine."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from echelon_rayworker.batch import write_batch_file
from echelon_rayworker.spool import NullSpool

from ..arguments import parse
from ..local.pools import InProcessPool
from ..local.settings import KEYS, settings_of
from ..local.trainer import Trainer

RECORD = Path(__file__).with_name("recorded.json.gz")
_STEPS = (10, 30, 40, 50, 60)  # each has groups with both outcomes, in which every fault shows


def record(path: Path) -> None:
    """Five batches of one HGPO run of three groups, with texts."""
    given = ["rollout.groups=3", "observations=texts", f"training.steps={_STEPS[-1]}", "evaluation.games=1"]
    settings = settings_of(parse(given, KEYS))
    pool = InProcessPool(settings.rollout, settings.groups, settings.evaluation_games)
    trainer = Trainer(settings, pool, NullSpool())
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        batches = [columns for step, columns in trainer.batches() if step in _STEPS]
    for number, columns in enumerate(batches, start=1):
        columns["name"] = f"step {number}"
        columns["provenance"] = {**columns["provenance"], "training_step": number, "experiment": "", "attempt": 0}
    write_batch_file(path, batches, source="the local engine, HGPO with K = 2, training steps 10, 30, 40, 50 and 60")


if __name__ == "__main__":
    record(Path(sys.argv[1]) if len(sys.argv) > 1 else RECORD)
