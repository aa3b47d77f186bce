"""Puts the capture hook on a path that every node sees: a copy beside the attempt's files, on the shared file system."""

from __future__ import annotations

import os
import shutil

import echelon_rayworker

_FILES = (
    "__init__.py", "allocation.py", "batch.py", "bounds.py", "forms.py", "framing.py", "redaction.py", "secretcontexts.py",
    "secretstore.py", "spool.py", "gen/__init__.py", "gen/rayworker_pb2.py",
    "engines/__init__.py", "engines/verl_agent/__init__.py", "engines/verl_agent/capture_dataset.py",
    "engines/verl_agent/hook.py", "engines/verl_agent/capture.py", "engines/verl_agent/reporter.py",
    "engines/verl_agent/rows.py",
    "engines/verl_agent/exact.py", "engines/verl_agent/exact_hgpo.py", "engines/verl_agent/placement.py",
    "engines/verl_agent/evaluations.py", "engines/verl_agent/panel.py", "engines/verl_agent/panel_hook.py",
)  # fmt: skip


def stage_hook(attempt_dir: str) -> str:
    """Copies what the capture hook needs to `hook/` in the attempt's directory; returns the path of the file that the recipe
    loads. Raises OSError."""
    source = os.path.dirname(os.path.abspath(echelon_rayworker.__file__))
    target = os.path.join(attempt_dir, "hook", "echelon_rayworker")
    for name in _FILES:
        path = os.path.join(target, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(os.path.join(source, name), path)
    return os.path.join(target, "engines", "verl_agent", "capture_dataset.py")
