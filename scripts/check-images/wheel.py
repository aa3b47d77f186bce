"""Writes a wheel with one module that holds only its version, in place of a file that no package index has.

python wheel.py DIRECTORY NAME VERSION [CODE]
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path


def main() -> None:
    """Prints the path of the wheel."""
    directory, name, version, *code = sys.argv[1:]
    path = Path(directory) / f"{name}-{version}-py3-none-any.whl"
    information = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "\n".join([f"__version__ = {version!r}", *code, ""]))
        wheel.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{information}/RECORD", "")
    print(path)


if __name__ == "__main__":
    main()
