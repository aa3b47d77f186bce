"""Secrets reach every process of a job, and neither Ray's metadata nor its logs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from echelon_rayworker import launch
from echelon_rayworker.engines.verl_agent import hidden, launcher
from conftest import PACKAGE_ROOT

VALUE = "canary-Vx81kQz03Lp"
CONTROL = "control-77aKq2"

PROGRAM = """
import os, ray

@ray.remote
def task():
    import subprocess, sys
    # A process that the task itself starts has them too.
    code = "import os; print(os.environ['WANDB_API_KEY'], os.environ['MINE'])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()

print("task has", ray.get(task.remote()))

@ray.remote(runtime_env={"env_vars": {"OF_THE_ACTOR": "1"}})
class Actor:
    def names(self):
        return os.environ["MINE"], os.environ["OF_THE_ACTOR"]

print("actor has", ray.get(Actor.remote().names.remote()))
print("job table", ray._private.state.jobs())
"""


def test_what_is_secret_goes_into_the_file_and_the_rest_to_ray(tmp_path: Path) -> None:
    variables = {
        "WANDB_API_KEY": VALUE, "MINE": "plan-secret", "HF_HOME": "/hf", "HTTPS_PROXY": "http://u:pa55@proxy:1",
        "ECHELON_HIDDEN_VARIABLES": "MINE",
    }
    shown = hidden.hide(variables, str(tmp_path))
    path = tmp_path / launch.HIDDEN_FILE
    assert shown == {
        "HF_HOME": "/hf", "ECHELON_HIDDEN_FILE": str(path), "ECHELON_HIDDEN_VARIABLES": "HTTPS_PROXY,MINE,WANDB_API_KEY",
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text()).keys() == {"WANDB_API_KEY", "MINE", "HTTPS_PROXY"}
    launch.forget_hidden(str(tmp_path))
    launch.forget_hidden(str(tmp_path))
    assert not path.exists()


def test_nothing_is_written_if_nothing_is_secret(tmp_path: Path) -> None:
    assert hidden.hide({"HF_HOME": "/hf"}, str(tmp_path)) == {"HF_HOME": "/hf"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.ray
def test_every_process_of_the_job_has_them_and_ray_s_files_do_not(tmp_path: Path) -> None:
    """Fails where the variables go through the runtime environment: Ray's agent logs it for every process."""
    pytest.importorskip("ray")
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode != 0:
        pytest.skip("needs a network namespace of its own")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "program.py").write_text(PROGRAM)
    # By itself on the path: a node that has nothing of ours.
    shown = hidden.hide({"WANDB_API_KEY": VALUE, "MINE": VALUE[::-1], "ECHELON_HIDDEN_VARIABLES": "MINE"}, str(tmp_path))
    runtime = {"variables": {**shown, "SHOWN": CONTROL, "PYTHONPATH": ""}, "init": {"num_cpus": 2}}
    temporary = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    try:
        environment = {
            **os.environ, "PYTHONPATH": str(PACKAGE_ROOT), "RAY_TMPDIR": temporary, "RAY_USAGE_STATS_ENABLED": "0",
            launcher.VARIABLE: json.dumps(runtime),
        }
        environment.pop("RAY_ADDRESS", None)
        done = subprocess.run(
            ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, "-m",
             launcher.__name__, "program"],
            cwd=tmp_path / "home", env=environment, capture_output=True, text=True, timeout=180,
        )
        assert f"task has {VALUE} {VALUE[::-1]}" in done.stdout, done.stdout + done.stderr
        assert f"actor has ('{VALUE[::-1]}', '1')" in done.stdout
        table = done.stdout.partition("job table")[2]
        assert table and VALUE not in table and VALUE[::-1] not in table
        files = [path for path in Path(temporary).rglob("*") if path.is_file()]
        texts = {path: path.read_bytes() for path in files}
        assert any(CONTROL.encode() in text for text in texts.values()), "the search would not find a leak"
        for path, text in texts.items():
            assert VALUE.encode() not in text and VALUE[::-1].encode() not in text, path
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
