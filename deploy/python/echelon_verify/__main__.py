"""The command `echelon-verify`: the verifier's own command line, on Node, and `export`, which needs libraries of Python."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

from .errors import VerifierError
from .node import CLI, find_node
from .version import __version__


def main() -> NoReturn:
    """Becomes the command, or runs `export`. Exit status: that of `echelon-verify --help`'s commands; 2 if Node is missing."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"echelon-verify {__version__}")
        sys.exit(0)
    if sys.argv[1:2] == ["export"]:
        from .export import main as export

        sys.exit(export(sys.argv[2:]))
    try:
        command = [find_node(), str(CLI), *sys.argv[1:]]
    except VerifierError as error:
        sys.exit(_refused(error))
    if os.name == "nt":
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)


def _refused(error: VerifierError) -> int:
    print(f"echelon-verify: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
