"""Puts the capture hook on a path that every node sees: a copy beside the attempt's files, on the shared file system."""

from __future__ import annotations

import os
import shutil

from echelon_rayworker import packages

_FILES = (
    "__init__.py", "allocation.py", "bounds.py", "framing.py", "redaction.py", "secretcontexts.py",
    "secretstore.py", "spool.py", "gen/__init__.py", "gen/rayworker_pb2.py",
    "engines/__init__.py", "engines/verl_agent/__init__.py", "engines/verl_agent/capture_dataset.py",
    "engines/verl_agent/hook.py", "engines/verl_agent/capture.py",
    "engines/verl_agent/placement.py",
    "engines/verl_agent/evaluations.py", "engines/verl_agent/panel.py", "engines/verl_agent/panel_hook.py",
)  # fmt: skip


def stage_hook(attempt_dir: str) -> str:
    """Copies the capture package and what the hook needs to `hook/` in the attempt's directory; returns the path of the file that the recipe
    loads. Raises OSError."""
    place = os.path.join(attempt_dir, "hook")
    packages.copy("echelon_capture", place)
    source, target = packages.directory_of("echelon_rayworker"), os.path.join(place, "echelon_rayworker")
    for name in _FILES:
        path = os.path.join(target, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(os.path.join(source, name), path)
    return os.path.join(target, "engines", "verl_agent", "capture_dataset.py")
