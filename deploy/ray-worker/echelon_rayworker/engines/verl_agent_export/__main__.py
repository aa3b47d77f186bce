"""`python -m echelon_rayworker.engines.verl_agent_export argument…` (see engines/spec.py): exports one checkpoint."""

from __future__ import annotations

import os
import signal
import sys

from echelon_rayworker.spool import Spool

from ..spec import SpecError, read_launch
from .export import export
from .source import NotExportable, settings_of


def main() -> None:
    code = 0

    def stop(number: int, _frame: object) -> None:
        """Ends this process, and with it its Ray task."""
        nonlocal code
        code = 128 + number
        sys.exit(code)

    signal.signal(signal.SIGTERM, stop)
    spool = Spool.from_environment()
    try:
        export(settings_of(read_launch(sys.argv[1:]), os.environ), spool)
    except (SpecError, NotExportable) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    finally:
        spool.close()
        if code:
            sys.exit(code)  # an exit during a call of Ray's has become an exit with code 1


if __name__ == "__main__":
    main()
