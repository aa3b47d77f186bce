"""`python -m echelon_rayworker.engines.replay key=value …`: streams recorded batches, one a step.

Keys: `file` (echelon-batch/1, JSON or gzip; empty: the built-in record), `batches` (how many; the record is
repeated; 0: as many as it holds), `delay_ms` (before each batch but the first), `stop_after` (ends early after so
many batches; 0: does not), `exit_code`, `hang` (after the last batch, continues until it is stopped), `fault` (what
the trainer gets wrong), `log_lines` (lines on stdout with each batch), `ignore_sigterm`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from itertools import cycle, islice
from typing import Any

from echelon_rayworker import __version__
from echelon_rayworker.batch import build_batch, read_batch_file
from echelon_rayworker.spool import Spool

from ..arguments import Key, Value, parse_or_exit
from .faults import FAULTS, Columns, FaultError
from .record import RECORD

KEYS: dict[str, Key] = {
    "file": Key(""),
    "batches": Key(0, minimum=0, maximum=100_000),
    "delay_ms": Key(0, minimum=0),
    "stop_after": Key(0, minimum=0),
    "exit_code": Key(0, minimum=0, maximum=255),
    "hang": Key(False),
    "fault": Key("none", choices=tuple(FAULTS)),
    "log_lines": Key(0, minimum=0, maximum=1_000_000),
    "ignore_sigterm": Key(False),
}


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


def replay(values: dict[str, Value], spool: Any) -> None:
    """Streams as the keys say. Raises OSError or ValueError for a file that is not a record."""
    record = read_batch_file(values["file"] or RECORD)
    if not record:
        raise ValueError(f"{values['file']} holds no batch")
    count = values["batches"] or len(record)
    if values["stop_after"]:
        count = min(count, values["stop_after"])
    for step, recorded in enumerate(islice(cycle(record), count), start=1):
        if step > 1 and values["delay_ms"]:
            time.sleep(values["delay_ms"] / 1000)
        spool.stage(f"step {step} of {count}", step=step, steps=count)
        columns = FAULTS[values["fault"]](recorded)
        columns = {**columns, "name": f"step {step}", "provenance": _provenance(columns, step)}
        print("".join(f"step {step}: line {line}\n" for line in range(1, values["log_lines"] + 1)), end="", flush=True)
        texts = columns.get("observation") is not None
        spool.batch(step, build_batch(**columns, texts=texts, incomplete=True), rows=len(columns["group"]))
        spool.metrics(step, _metrics(columns, step))


def main() -> None:
    values = parse_or_exit(sys.argv[1:], KEYS)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if values["ignore_sigterm"] else _stop)
    spool = Spool.from_environment()
    try:
        replay(values, spool)
        while values["hang"]:
            # Not signal.pause: a signal just before it would be noticed only after another one.
            time.sleep(1)
    except (FaultError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    finally:
        spool.close()
    sys.exit(values["exit_code"])


if __name__ == "__main__":
    main()
