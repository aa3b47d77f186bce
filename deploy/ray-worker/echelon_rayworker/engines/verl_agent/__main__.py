"""`python -m echelon_rayworker.engines.verl_agent argument… -- override …` (see engines/spec.py): one training or evaluation.

What follows `--` goes to Hydra, one argument each.
"""

from __future__ import annotations

import os
import sys

from echelon_rayworker.spool import Spool

from ..spec import SpecError, read_launch
from .driver import run
from .environment import default_places
from .prepare import NotStartable
from .settings import settings_of


def main() -> None:
    spool = Spool.from_environment()
    try:
        settings = settings_of(read_launch(sys.argv[1:]), os.environ)
        os.environ.update(default_places(os.environ, settings))
        sys.exit(run(settings, spool))
    except (SpecError, NotStartable) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    finally:
        spool.close()


if __name__ == "__main__":
    main()
