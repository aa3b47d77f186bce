"""`python -m echelon_rayworker.engines.verl_agent_export key=value …`: exports one checkpoint.

Keys: `home` (the verl-agent checkout), `experiment_dir`, `checkpoint_dir` (of the training), `step` (0: the newest complete
one), `output` (empty: beside the checkpoint), `cpus` (of the Ray task that merges the shards).
"""

from __future__ import annotations

import os
import signal
import sys

from echelon_rayworker.spool import Spool

from ..arguments import ArgumentError
from .export import export
from .source import NotExportable, settings_from


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
        export(settings_from(sys.argv[1:], os.environ), spool)
    except (ArgumentError, NotExportable) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    finally:
        spool.close()
        if code:
            sys.exit(code)  # an exit during a call of Ray's has become an exit with code 1


if __name__ == "__main__":
    main()
