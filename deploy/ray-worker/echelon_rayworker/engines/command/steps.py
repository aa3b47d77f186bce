"""Training steps in what a program writes."""

from __future__ import annotations

import math
from typing import Any, Optional

from echelon_rayworker.bounds import MAX_STEP

# Usual names of the step in a JSON object, the first of which is taken.
NAMES = (
    "step", "global_step", "_step", "training/global_step", "train/global_step", "trainer/global_step", "training_step", "train_step",
    "iteration", "iter",
)
NO_STEP = f"its training step is no whole number from 0 to {MAX_STEP:,}"


def step_of(value: Any) -> Optional[int]:
    """The step that a number, or a text of digits, is; None if it is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(MAX_STEP)):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # No other number would do: metrics at a wrong step are worse than none.
    is_step = (isinstance(value, int) or math.isfinite(value)) and value == int(value) and 0 <= value <= MAX_STEP
    return int(value) if is_step else None
