"""Bounds of what an attempt may report. The supervisor applies them to everything that it reads, so that no log ever
holds more; the writer of the spool applies them first, so that an honest training learns what was cut."""

from __future__ import annotations

import re
from typing import Mapping

# Of one report, or one part of a batch, serialized.
MAX_REPORT_BYTES = 1024 * 1024
# Data of one part.
CHUNK_BYTES = 960 * 1024
# Of one serialized batch. A supervisor holds at most twice as much of batches that are not whole yet.
MAX_BATCH_BYTES = 128 * 1024 * 1024
MAX_UNFINISHED_BYTES = 2 * MAX_BATCH_BYTES
# Names and values: of one report, and distinct names of an attempt. The store keeps as many names of an experiment
# (`metricNames` in src/store/context.ts), so that further ones are counted here and shown as a gap.
MAX_METRICS_PER_REPORT = 4_000
MAX_METRIC_NAMES = 1_000
MAX_METRIC_NAME_CHARACTERS = 200
# As src/core/metric-name.ts: a name that no request can ask for is not recorded.
METRIC_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,%d}" % MAX_METRIC_NAME_CHARACTERS)
# A training step above it means nothing; the service refuses it too.
MAX_STEP = 2**32 - 1
MAX_STAGE_CHARACTERS = 1024
# Games, and characters of each name in it, of one report of an evaluation.
MAX_GAMES_PER_REPORT = 2_000
MAX_GAME_CHARACTERS = 256
MAX_DECODING_SETTINGS = 32
MAX_PATH_CHARACTERS = 1024
MAX_REASON_CHARACTERS = 1024
DIGEST_BYTES = 32
# Stands at the end of a text that was cut.
CUT_MARK = "… [cut]"


def shortened(text: str, most: int) -> str:
    """The text with at most ``most`` characters; one that was cut ends with ``CUT_MARK``."""
    return text if len(text) <= most else text[: most - len(CUT_MARK)] + CUT_MARK


def numbers(values: Mapping[str, object]) -> tuple[dict[str, float], int]:
    """Those metrics that are numbers and fit the bounds of one report, and how many numbers do not fit."""
    fitting: dict[str, float] = {}
    left = 0
    for name, value in values.items():
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            continue
        if len(fitting) < MAX_METRICS_PER_REPORT and METRIC_NAME.fullmatch(name):
            fitting[name] = number
        else:
            left += 1
    return fitting, left
