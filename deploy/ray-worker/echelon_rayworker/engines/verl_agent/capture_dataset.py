"""What the trainer loads through `data.custom_cls.path` / `.name`: the recipe's own dataset class, and the capture hook.

The recipe executes this file in the process that computes advantages, once for the training and once for the
validation data, before the trainer is built. Capturing may not keep a training from starting: if the capture hook cannot
be installed, the dataset is the recipe's own all the same, and the driver sees that no capture hook announced itself. The
nodes of the training are bound here as well.
"""

import os
import sys

from verl.utils.dataset.rl_dataset import RLHFDataset

# The directory that holds the package `echelon_rayworker`; staged beside the attempt's files, so that it is the same
# on every node.
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


class CaptureDataset(RLHFDataset):
    """The recipe's dataset, unchanged."""


def _install() -> None:
    try:
        if _ROOT not in sys.path:
            sys.path.append(_ROOT)
        from echelon_rayworker.engines.verl_agent import hook

        hook.install()
    except Exception as error:  # noqa: BLE001 - the capture hook must never fail a training
        print(f"echelon-capture: not installed: {type(error).__name__}: {error}", flush=True)


def _place() -> None:
    """Not guarded: a training that runs elsewhere than on its nodes takes the GPUs of another one."""
    if _ROOT not in sys.path:
        sys.path.append(_ROOT)
    from echelon_rayworker.engines.verl_agent import placement

    placement.install(os.environ)


_install()
_place()
