"""`python -m echelon_rayworker.engines.verl_agent key=value … -- override …`: one training or evaluation.

Keys: `home` (the verl-agent checkout), `program` (the recipe's entry), `phase` (`train` or `eval`; empty: as
`trainer.val_only` says), `attempt_dir`, `experiment_dir` and `checkpoint_dir` (on the shared file system),
`train_rows` and `val_rows` (of the data files, which are written here), `steps` (after which a training is complete), `disk_bytes` (that its
checkpoints need),
`advantages` (`recipe`, or `exact`: HGPO in float64), `observations` (`digests` or `texts`), `base_model`
(evaluate without a checkpoint, on purpose), `patience_seconds`, `wait_seconds` (for a
checkpoint directory that another training has). What follows `--` goes to Hydra, one argument each.
"""

from __future__ import annotations

import os
import sys

from echelon_rayworker.spool import Spool

from ..arguments import ArgumentError
from .driver import run
from .environment import default_places
from .prepare import NotStartable
from .settings import settings_from


def main() -> None:
    spool = Spool.from_environment()
    try:
        settings = settings_from(sys.argv[1:], os.environ)
        os.environ.update(default_places(os.environ, settings))
        sys.exit(run(settings, spool))
    except (ArgumentError, NotStartable) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    finally:
        spool.close()


if __name__ == "__main__":
    main()
