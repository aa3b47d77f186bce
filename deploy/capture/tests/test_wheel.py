"""The package as people install it: a wheel without dependencies, and the example of the README."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]


def call(*command, cwd=None) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_readme_runs_with_the_wheel_in_an_empty_environment(tmp_path, verify):
    # Older versions build a wheel only with another package.
    pytest.importorskip("setuptools", minversion="70.1")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # A build writes beside the sources.
    source = shutil.copytree(PACKAGE, tmp_path / "capture")
    call(*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", tmp_path, source)
    [wheel] = tmp_path.glob("echelon_capture-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.endswith(".py")}
    assert packed == {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("echelon_capture/**/*.py")}

    venv.create(tmp_path / "empty")
    python = tmp_path / "empty" / "bin" / "python"
    call(*pip, "--python", python, "install", "--no-index", wheel)
    [example] = re.findall(r"```python\n(import echelon_capture.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    (tmp_path / "example.py").write_text(example)
    call(python, "-I", "example.py", cwd=tmp_path)
    launcher = tmp_path / "empty" / "bin" / "echelon-capture"
    assert "echelon-capture run [options] -- COMMAND" in call(launcher, "run", "--help")
    assert call(launcher, "run", "--folder", tmp_path / "launched", "--", python, "-c", "import sitecustomize as s; print(s.__file__)").endswith(
        "echelon_capture/inject/sitecustomize.py\n"
    )
    status, [report] = verify(tmp_path / "echelon-capture")
    assert (status, report["name"], report["exact"]) == (0, "step 12", 4)
