"""Where the packages lie that supervisors, drivers and users' programs import: the ray-worker's own, and the capture."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig

NAMES = ("echelon_rayworker", "echelon_capture")


def directory_of(name: str) -> str:
    """The directory of a package. ImportError if it is not there."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise ImportError(f"the package {name} is missing: install {name.replace('_', '-')} beside echelon-rayworker")
    return os.path.dirname(os.path.abspath(found.origin))


def roots() -> list[str]:
    """The directories by which Python finds the packages; none for installed ones, which need no search path."""
    installed = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    found = dict.fromkeys(os.path.dirname(directory_of(name)) for name in NAMES)
    return [root for root in found if root not in installed]


def with_packages(python_path: str) -> str:
    """A PYTHONPATH by which the packages are found. Installed packages get no entry: PYTHONPATH comes before the standard library,
    and other installed packages may have modules of the same names."""
    parts = [*roots(), *python_path.split(os.pathsep)]
    return os.pathsep.join(dict.fromkeys(filter(None, parts)))


def copy(name: str, target: str) -> None:
    """Copies a package into the directory `target`. OSError or ImportError if that is impossible."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(directory_of(name), os.path.join(target, name), dirs_exist_ok=True, ignore=ignored)
