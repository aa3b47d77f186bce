"""A command in packages that Ray installs with pip. Run by test_runtime_pip_ray_full.py."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Iterator

import pytest
from placement_ray import PATIENCE, Command
from ray_nodes import OneNode

import ray
from echelon_rayworker.allocation import AllocatedNode


@pytest.fixture
def node(one_node: OneNode, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("RAY_ADDRESS", one_node.address)
    ray.init(log_to_driver=False, logging_level="error")
    yield ray.nodes()[0]["NodeID"]
    ray.shutdown()


def test_a_command_runs_in_the_packages_of_its_runtime_environment_and_fails_with_pips_text_without_them(
    node: str, tmp_path: Path
) -> None:
    wheel = tmp_path / "echelon_probe-1.0-py3-none-any.whl"
    program = "import echelon_probe, google.protobuf, ray; print('probe is', echelon_probe.IS)"

    def run(place: str) -> tuple[int, str]:
        one = Command(tmp_path / place, [AllocatedNode(node, 1, 1)], f'runtimeEnv={{"pip": ["{wheel}"]}}', program=program)
        return one.process.wait(timeout=2 * PATIENCE), one.log()

    code, log = run("without")
    assert code == 2 and "error: Ray could not set up the runtimeEnv" in log and wheel.name in log, log
    about = "echelon_probe-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("echelon_probe.py", "IS = 'there'")
        file.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: echelon_probe\nVersion: 1.0\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")
    code, log = run("with")
    assert code == 0 and "probe is there" in log, log
