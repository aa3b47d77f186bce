"""`python -m echelon_rayworker.engines.command argument… -- PROGRAM argument…` (see engines/spec.py): runs a program of the user's own."""

from __future__ import annotations

import os
import sys

from echelon_rayworker.spool import Spool

from ..spec import SpecError, read_launch
from .driver import Driver
from .settings import NotStartable, settings_of


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A program may print any character, whatever the locale of this process.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    spool = Spool.from_environment()
    try:
        code = Driver(settings_of(read_launch(sys.argv[1:])), spool, os.environ).run()
    except (SpecError, NotStartable) as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    finally:
        spool.close()
    sys.exit(code)


if __name__ == "__main__":
    main()
