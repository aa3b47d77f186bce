"""Fixtures: an S3 server with a bucket, and shared roots of clusters that store checkpoints in it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import PACKAGE_ROOT, free_port, until

from echelon_rayworker.checkpointstore import Store, main

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("moto", reason="moto is not installed")
boto3 = pytest.importorskip("boto3")

KEYS = {"AWS_ACCESS_KEY_ID": "an-access-key-of-a-test", "AWS_SECRET_ACCESS_KEY": "a-secret-key-of-a-test"}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until(lambda: answers(port))
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def bucket(endpoint: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    name = "b" + "".join(one for one in request.node.name.lower() if one.isalnum())[-40:]
    made = boto3.resource("s3", endpoint_url=f"http://{endpoint}", region_name="us-east-1").Bucket(name)
    made.create()
    made.known = {}
    made.url = f"s3://{name}/runs?scheme=http&endpoint_override={endpoint}&region=us-east-1"
    return made


def names(bucket: Any) -> list[str]:
    return sorted(one.key.removeprefix("runs/") for one in bucket.objects.all() if not one.key.endswith("/"))


class Place:
    """A cluster's shared root with one experiment."""

    def __init__(self, root: Path, bucket: Any, **settings: Any) -> None:
        self.root, self._bucket = root, bucket
        self.settings = {"url": bucket.url, "directory": str(root / "checkpoints" / "run"), **settings}
        self.experiment = root / "experiments" / "exp"
        self.experiment.mkdir(parents=True, exist_ok=True)

    def store(self) -> Store:
        return Store({**self.settings, "manifests": self._bucket.known}, "exp", str(self.experiment))

    def save(self, step: int, size: int = 1000, files: int = 3) -> str:
        """A checkpoint as verl-agent saves it; its path as it is reported."""
        folder = self.root / "checkpoints" / "run" / f"global_step_{step}" / "actor"
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(files):
            (folder / f"model_world_size_{files}_rank_{rank}.pt").write_bytes(os.urandom(size))
        return f"../../checkpoints/run/global_step_{step}"

    def content(self, step: int) -> dict[str, bytes]:
        folder = self.root / "checkpoints" / "run" / f"global_step_{step}"
        return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}

    def process(self, action: str, *checkpoint: Any) -> subprocess.Popen:
        command = [sys.executable, "-m", "echelon_rayworker.checkpointstore", action, *self.arguments(*checkpoint)]
        return subprocess.Popen(command, cwd=PACKAGE_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, action: str, *checkpoint: Any, fails: bool = False) -> str:
        """As the process of this action, whose packages take a second to load. Echelon gets to know what it uploaded."""
        answer, said = StringIO(), StringIO()
        with redirect_stdout(answer), redirect_stderr(said):
            code = main(action, *self.arguments(*checkpoint))
        assert (code != 0) == fails, said.getvalue()
        if answer.getvalue():
            stored = json.loads(answer.getvalue())
            self._bucket.known[stored["step"]] = stored["manifest"]
        return said.getvalue()

    def arguments(self, *checkpoint: Any) -> list[str]:
        settings = {**self.settings, "manifests": self._bucket.known}
        return [json.dumps(settings), "exp", str(self.experiment), *map(str, checkpoint)]
