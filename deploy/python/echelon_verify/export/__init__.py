"""`echelon-verify export REPORT --to NAME`: brings the results of a verification to the place where a run's metrics are.

REPORT is what `echelon-verify verify --json` prints, or the file of `pytest --echelon-report`. Each batch becomes a step with the
metrics of `series.py`, and the first wrong row a text with the command, or the link, that explains it. The library of the place is the
one that is installed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Sequence

from .series import Series, read_series
from .targets import TARGETS, Place

_FAILED = 2


class Refused(Exception):
    """The library of the place does not take the results, for example without a login."""


def export(report: str, place: Place, link: str | None = None) -> Series:
    """Writes the report, a file or `-` for standard input, to the place; what was written. ValueError if the report is in another
    form, OSError if it cannot be read, ImportError without the library of the place, Refused for an error of that library."""
    text = sys.stdin.read() if report == "-" else Path(report).read_text(encoding="utf-8")
    series = read_series(text, link)
    try:
        TARGETS[place.to](series, place)
    except ImportError:
        raise
    except Exception as error:
        raise Refused(f"{place.to} refuses the results: {error}") from error
    return series


def main(arguments: Sequence[str]) -> int:
    """The command; its exit status is 0, or 2 if nothing was written."""
    parser = argparse.ArgumentParser(prog="echelon-verify export", description="Write the results of a verification to a tracker.")
    parser.add_argument("report", help="file of `echelon-verify verify --json` or `pytest --echelon-report`; - is standard input")
    parser.add_argument("--to", required=True, choices=sorted(TARGETS), help="the tracker, whose library is installed")
    parser.add_argument("--project", default="echelon-verify", help="project or experiment (default: %(default)s)")
    parser.add_argument("--name", default="verification", help="name of the run (default: %(default)s)")
    parser.add_argument("--dir", help="folder of the run's files (default: that of the library)")
    parser.add_argument("--link", help="address of the report that --html wrote; the row is appended")
    given = parser.parse_args(arguments)
    try:
        series = export(given.report, Place(given.to, given.project, given.name, given.dir), given.link)
    except (ImportError, OSError, ValueError, Refused) as error:
        print(f"echelon-verify: {error}", file=sys.stderr)
        return _FAILED
    wrong = sum(int(values["echelon/rows_wrong"]) for _, values in series.steps)
    print(f"{len(series.steps)} steps written to {given.to}, {wrong} wrong rows")
    return 0
