"""`python -m echelon_rayworker.engines.command key=value … -- PROGRAM argument…`: runs a program of the user's own.

Keys: `root` (the shared root), `experiment_dir` and `attempt_dir` (on the shared file system), `directory` (the working directory below
the shared root; empty: `work` in the attempt's directory), `files` (the number of files that the plan has for that directory), `start` (`per-node` or `once`), `resume` (a JSON list of arguments
that are appended if there is a checkpoint), `metrics` (JSON, see metrics.py) and `batches` (a directory in the working
directory). What follows `--` is the program with its arguments.
"""

from __future__ import annotations

import os
import sys

from echelon_rayworker.spool import Spool

from ..arguments import ArgumentError
from .driver import Driver
from .settings import NotStartable, settings_from


def main() -> None:
    spool = Spool.from_environment()
    try:
        code = Driver(settings_from(sys.argv[1:]), spool, os.environ).run()
    except (ArgumentError, NotStartable) as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    finally:
        spool.close()
    sys.exit(code)


if __name__ == "__main__":
    main()
