"""`python -m echelon_rayworker.engines.replay.preflight key=value …`: can the arguments be taken, and the record be read?
Prints answers (see engines/answers.py)."""

from __future__ import annotations

import sys

from echelon_rayworker.batch import read_batch_file

from ..answers import Answer, answer_all, divide, print_answers
from ..arguments import ArgumentError, parse
from .__main__ import KEYS
from .record import RECORD


def check_arguments(arguments: list[str]) -> list[Answer]:
    """Would the engine take them, and is there a record to replay?"""
    try:
        values = parse(arguments, KEYS)
    except ArgumentError as error:
        return [Answer("arguments", False, str(error), "see the message")]
    batches = len(read_batch_file(values["file"] or RECORD))
    return [Answer("arguments", True, "the engine takes them"), Answer("record", True, f"it holds {batches} batches")]


def main(arguments: list[str]) -> int:
    _, rest = divide(arguments)
    return print_answers(answer_all([("record", lambda: check_arguments(rest))]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
