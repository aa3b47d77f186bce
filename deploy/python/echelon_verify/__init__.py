"""Verifies the advantages of a GRPO-like training, row by row.

    import echelon_verify

    report = echelon_verify.verify(advantages=adv, rewards=rewards, groups=uid, estimator="trl/grpo")
    print(report.ok, report.wrong, report.explanation)

Arrays are lists, or arrays and tensors of any library; none is needed. `verify_folder` reads what a trainer wrote to disk.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .arrays import forms, verify
    from .checks import WrongAdvantages, assert_advantages
    from .errors import VerifierError
    from .folder import FolderReport, verify_folder
    from .report import ArrayReport, BatchReport, Finding

__all__ = [
    "ArrayReport",
    "BatchReport",
    "Finding",
    "FolderReport",
    "VerifierError",
    "WrongAdvantages",
    "__version__",
    "assert_advantages",
    "forms",
    "verify",
    "verify_folder",
]

_MODULES = {
    "forms": "arrays",
    "verify": "arrays",
    "WrongAdvantages": "checks",
    "assert_advantages": "checks",
    "VerifierError": "errors",
    "FolderReport": "folder",
    "verify_folder": "folder",
    "ArrayReport": "report",
    "BatchReport": "report",
    "Finding": "report",
}


def __getattr__(name: str) -> Any:
    # pytest loads this package in every run, and the command line in every call: neither needs more at once.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
