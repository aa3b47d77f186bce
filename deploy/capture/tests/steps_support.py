"""What the command line says of captured optimizer steps."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]


def verified(*paths, require="gradient"):
    """Exit status and reports of `echelon verify` of steps. `require`: stages that the status needs."""
    done = subprocess.run(
        [str(ROOT / "bin" / "echelon"), "verify", "--json", "--require", require, *map(str, paths)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout)["steps"]


def by_case(folder):
    """Exit status, and the reports of each folder below `folder`, from one call of the command line."""
    status, reports = verified(folder)
    found: dict[str, list[dict]] = {}
    for report in reports:
        found.setdefault(Path(report["file"]).parent.name, []).append(report)
    return status, found


def identified(path):
    """What `echelon identify` says of a step."""
    command = [str(ROOT / "bin" / "echelon"), "identify", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"}).stdout
