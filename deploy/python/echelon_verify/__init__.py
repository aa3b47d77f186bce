"""Verifies the advantages of a GRPO-like training, row by row.

    import echelon_verify

    report = echelon_verify.verify(advantages=adv, rewards=rewards, groups=uid, estimator="trl/grpo")
    print(report.ok, report.wrong, report.explanation)

Arrays are lists, or arrays and tensors of any library; none is needed. `verify_folder` reads what a trainer wrote to disk.
"""

from __future__ import annotations

from .arrays import forms, verify
from .checks import assert_advantages
from .errors import VerifierError
from .folder import FolderReport, verify_folder
from .report import ArrayReport, BatchReport, Finding
from .version import __version__

__all__ = [
    "ArrayReport",
    "BatchReport",
    "Finding",
    "FolderReport",
    "VerifierError",
    "__version__",
    "assert_advantages",
    "forms",
    "verify",
    "verify_folder",
]
