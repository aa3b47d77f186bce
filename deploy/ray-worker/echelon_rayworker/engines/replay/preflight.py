"""Can the record be read? Prints answers (see engines/answers.py)."""

from __future__ import annotations

from echelon_capture.format import read_batch_file

from ..answers import Answer, run_preflight
from .__main__ import RECORD


def check_record() -> list[Answer]:
    """Is there a record to replay?"""
    return [Answer("record", True, f"it holds {len(read_batch_file(RECORD))} batches")]


if __name__ == "__main__":
    run_preflight(lambda _: [("record", check_record)])
