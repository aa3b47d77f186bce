"""`python -m echelon_rayworker.engines.local argument…` (see engines/spec.py): one training run on the Ray at RAY_ADDRESS.

If the ray-worker was started without Ray, the games are played in this process."""

from __future__ import annotations

import os

# Before numpy: one thread gives the same bits in every run, and leaves the other cores to the actors.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
os.environ.update(ONE_THREAD)

import signal
import sys
from typing import Any

from echelon_rayworker import allocation
from echelon_rayworker.packages import with_packages
from echelon_rayworker.spool import Spool

from ..spec import read_launch_or_exit
from .checkpoints import OtherSettings
from .pools import ACTORS, InProcessPool, Pool, RayPool
from .settings import Settings, settings_of
from .trainer import Trainer


def connect() -> None:
    """Connects to the Ray at RAY_ADDRESS; the run's actors find this package where this one does."""
    import ray  # slow to import

    ray.init(
        address=os.environ.get("RAY_ADDRESS", "auto"),
        runtime_env={"env_vars": {**ONE_THREAD, "PYTHONPATH": with_packages(os.environ.get("PYTHONPATH", ""))}},
        log_to_driver=False,
        logging_level="warning",
    )


def _pool(settings: Settings, spool: Any) -> Pool:
    played = (settings.rollout, settings.groups, settings.evaluation_games, ACTORS)
    if not os.environ.get("RAY_ADDRESS"):
        return InProcessPool(*played)
    spool.stage("connecting")
    connect()
    # Ray puts a handler of its own in place.
    signal.signal(signal.SIGTERM, _stop)
    spool.stage("building environments")
    nodes = allocation.nodes_of(os.environ)
    return RayPool(*played, nodes[0].id if nodes else "")


def _stop(number: int, _frame: object) -> None:
    sys.exit(128 + number)


def main() -> None:
    launch = read_launch_or_exit()
    settings = settings_of(launch.spec, launch.directories.experiment)
    signal.signal(signal.SIGTERM, _stop)
    spool = Spool.from_environment()
    try:
        Trainer(settings, _pool(settings, spool), spool).run()
    except OtherSettings as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    finally:
        spool.close()


if __name__ == "__main__":
    main()
