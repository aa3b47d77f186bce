"""`PYTHONPATH=deploy/ray-worker:deploy/capture python scripts/golden/replay_record.py`: makes the built-in record from the local engine."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from echelon_capture.format import write_batch_file
from echelon_rayworker.engines.local.pools import InProcessPool
from echelon_rayworker.engines.local.settings import settings_of
from echelon_rayworker.engines.local.trainer import Trainer
from echelon_rayworker.engines.replay.__main__ import RECORD
from echelon_rayworker.spool import NullSpool

ROOT = Path(__file__).resolve().parents[2]
_STEPS = (10, 30, 40, 50, 60)  # each has groups with both outcomes, in which every fault shows


def record(path: Path) -> None:
    """Five batches of one HGPO run of three groups, with texts."""
    spec = json.loads((ROOT / "test" / "golden" / "vectors" / "resolved-examples.json").read_text())["local"]["spec"]
    spec.update(observations="texts", evaluation={"games": 1})
    spec["rollout"]["groups"], spec["training"]["steps"] = 3, _STEPS[-1]
    settings = settings_of(spec)
    pool = InProcessPool(settings.rollout, settings.groups, settings.evaluation_games)
    trainer = Trainer(settings, pool, NullSpool())
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        batches = [columns for step, columns in trainer.batches() if step in _STEPS]
    for number, columns in enumerate(batches, start=1):
        columns["name"] = f"step {number}"
        columns["provenance"] = {**columns["provenance"], "training_step": number, "experiment": "", "attempt": 0}
    write_batch_file(path, batches, source="the local engine, HGPO with K = 2, training steps 10, 30, 40, 50 and 60")


if __name__ == "__main__":
    record(RECORD)
