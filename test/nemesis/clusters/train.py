"""A training that saves a checkpoint after each step, and notes where each attempt began and what it saved."""

import json
import os
import sys
import time

import echelon_capture as capture

directory, steps, *resume = sys.argv[1:]
first = int(resume[0].rsplit("-", 1)[1]) if resume else 0
is_first_node = os.environ["ECHELON_NODE_RANK"] == "0"


def note(**entry: object) -> None:
    with open(os.path.join(directory, "notes.jsonl"), "a", encoding="ascii") as file:
        file.write(json.dumps({"attempt": int(os.environ["ECHELON_ATTEMPT"]), **entry}) + "\n")


if is_first_node:
    note(start=first)
for step in range(first + 1, int(steps) + 1):
    time.sleep(1)
    if is_first_node:
        path = os.path.join(directory, f"step-{step}")
        with open(path, "w", encoding="ascii") as file:
            file.write("x")
        capture.checkpoint(step, path)
        note(saved=step)
