"""`python -m echelon_rayworker.engines.replay argument…` (see engines/spec.py): streams recorded batches, one a step."""

from __future__ import annotations

import os
import signal
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Mapping

from echelon_rayworker import __version__
from echelon_capture.format import build_batch, read_batch_file
from echelon_rayworker.spool import Spool

from ..spec import read_launch_or_exit
from .faults import FAULTS, Columns, FaultError

RECORD = Path(__file__).with_name("recorded.json.gz")


def _stop(number: int, _frame: object) -> None:
    sys.exit(128 + number)


def _provenance(columns: Columns, step: int) -> dict[str, Any]:
    """As if this attempt had computed the batch now."""
    rows = len(columns["group"])
    return {
        "rows_collected": rows,
        "producer": f"echelon-replay/{__version__}",
        **columns["provenance"],
        "experiment": os.environ.get("ECHELON_EXPERIMENT", ""),
        "attempt": int(os.environ.get("ECHELON_ATTEMPT") or 0),
        "training_step": step,
    }


def _metrics(columns: Columns, step: int) -> dict[str, float]:
    """What the batch tells under the recipe's names."""
    metrics: dict[str, float] = {"training/global_step": step}
    if columns.get("reward") is not None:
        total: dict[Any, float] = {}
        for trajectory, reward in zip(columns["trajectory"], columns["reward"]):
            total[trajectory] = total.get(trajectory, 0.0) + reward
        metrics["episode/reward/mean"] = sum(total.values()) / max(len(total), 1)
        metrics["episode/success_rate"] = sum(one > 0 for one in total.values()) / max(len(total), 1)
    if columns.get("advantage") is not None and len(columns["advantage"]):
        values = [float(one) for one in columns["advantage"]]
        metrics["critic/advantages/mean"] = sum(values) / len(values)
        metrics["critic/advantages/max"], metrics["critic/advantages/min"] = max(values), min(values)
    return metrics


def replay(settings: Mapping[str, Any], spool: Any) -> None:
    """Streams as the section `replay` of a spec says."""
    record = read_batch_file(RECORD)
    count = settings["batches"] or len(record)
    if settings["stopAfter"]:
        count = min(count, settings["stopAfter"])
    for step, recorded in enumerate(islice(cycle(record), count), start=1):
        if step > 1:
            time.sleep(settings["delaySeconds"])
        spool.stage(f"step {step} of {count}", step=step, steps=count)
        columns = FAULTS[settings["fault"]](recorded)
        columns = {**columns, "name": f"step {step}", "provenance": _provenance(columns, step)}
        print("".join(f"step {step}: line {line}\n" for line in range(1, settings["logLines"] + 1)), end="", flush=True)
        texts = columns.get("observation") is not None
        spool.batch(step, build_batch(**columns, texts=texts, incomplete=True), rows=len(columns["group"]))
        spool.metrics(step, _metrics(columns, step))


def main() -> None:
    settings = read_launch_or_exit().spec["replay"]
    signal.signal(signal.SIGTERM, signal.SIG_IGN if settings["ignoreSigterm"] else _stop)
    spool = Spool.from_environment()
    try:
        replay(settings, spool)
        while settings["hang"]:
            # Not signal.pause: a signal just before it would be noticed only after another one.
            time.sleep(1)
    except FaultError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    finally:
        spool.close()
    sys.exit(settings["exitCode"])


if __name__ == "__main__":
    main()
