"""The engines that this ray-worker runs: the packages beside this module. Nothing else lists them."""

from __future__ import annotations

import pkgutil

from echelon_rayworker import engines


def engine_names() -> tuple[str, ...]:
    """The engines' names, sorted: those of their packages, with hyphens for underscores."""
    packages = (module.name for module in pkgutil.iter_modules(engines.__path__) if module.ispkg)
    return tuple(sorted(name.replace("_", "-") for name in packages))
