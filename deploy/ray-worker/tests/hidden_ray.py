"""Secrets reach every process of a job, and neither Ray's metadata nor its logs. Run by test_one_node_ray.py."""

import json
import os
import subprocess
import sys
from pathlib import Path

from conftest import PYTHON_PATH
from ray_nodes import OneNode

from echelon_rayworker.engines.verl_agent import hidden, launcher

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


def test_every_process_of_the_job_has_them_and_ray_s_files_do_not(one_node: OneNode, tmp_path: Path) -> None:
    """Fails where the variables go through the runtime environment: Ray's agent logs it for every process."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "program.py").write_text(PROGRAM)
    # By itself on the path: a node that has nothing of ours.
    shown = hidden.hide({"WANDB_API_KEY": VALUE, "MINE": VALUE[::-1], "ECHELON_HIDDEN_VARIABLES": "MINE"}, str(tmp_path))
    runtime = {"variables": {**shown, "SHOWN": CONTROL, "PYTHONPATH": ""}, "init": {}}
    environment = {
        **os.environ, "PYTHONPATH": PYTHON_PATH, "RAY_ADDRESS": one_node.address, launcher.VARIABLE: json.dumps(runtime),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", launcher.__name__, "program"], cwd=tmp_path / "home", env=environment, capture_output=True,
        text=True, timeout=180,
    )  # fmt: skip
    assert f"task has {VALUE} {VALUE[::-1]}" in done.stdout, done.stdout + done.stderr
    assert f"actor has ('{VALUE[::-1]}', '1')" in done.stdout
    table = done.stdout.partition("job table")[2]
    assert table and VALUE not in table and VALUE[::-1] not in table
    files = [path for path in one_node.directory.rglob("*") if path.is_file()]
    texts = {path: path.read_bytes() for path in files}
    assert any(CONTROL.encode() in text for text in texts.values()), "the search would not find a leak"
    for path, text in texts.items():
        assert VALUE.encode() not in text and VALUE[::-1].encode() not in text, path
