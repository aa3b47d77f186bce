"""The place of a row in the batch of a training step, in a tensor that a trainer shuffles, splits and sends with the others."""

from __future__ import annotations

ROW = "echelon_row"
# A place of a trainer whose loss is in other processes: the number of the training step times this, plus the row.
STEP = 2**32
