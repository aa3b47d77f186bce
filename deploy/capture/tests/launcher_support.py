"""Trainings of verl_driver.py, each in a Ray of its own or in one that runs already, with and without the launcher."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parent
_VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_enable_worker_prestart": "0",
    "RAY_prestart_worker_first_driver": "0", "RAY_worker_niceness": "0",
}  # fmt: skip
# Starts a Ray that knows nothing of the capture, and runs the command in it.
_IN_RAY = """
for name in $(env | sed -n 's/^\\(ECHELON_[A-Z_]*\\)=.*/\\1/p'); do hidden="$hidden -u $name"; done
env $hidden PYTHONPATH="$NODE_PATH" "$0" -m ray.scripts.scripts start --head --block --port=6399 --node-ip-address=127.0.0.1 \\
  --num-cpus=4 --include-dashboard=false > /dev/null 2>&1 &
head=$!
export RAY_ADDRESS=127.0.0.1:6399
until "$0" -c 'import ray; ray.init(logging_level="error")' 2> /dev/null; do kill -0 $head || exit 9; done
"$@"
status=$?
kill $head
wait $head
exit $status
"""


class Trainings:
    """`place`: a directory for the records and what the trainings found."""

    def __init__(self, place: Path, python_path: list[Path]) -> None:
        self.place = place
        self.path = os.pathsep.join(map(str, (TESTS.parent, TESTS, *python_path)))

    def run(self, name: str, *overrides: str, is_launched: bool = True, in_ray: bool = False, **variables: str) -> dict:
        """What the training `name` found, with `folder`, `output` and `hooks`, the kinds of installed hooks."""
        found, folder = self.place / f"{name}.json", self.place / name
        launch = ("-m", "echelon_capture", "run", "--folder", str(folder), "--steps-every", "1", "--", sys.executable)
        command = [sys.executable, *(launch if is_launched else ()), str(TESTS / "verl_driver.py"),
                   f"trainer.default_local_dir={found}", "algorithm.adv_estimator=grpo", *overrides]  # fmt: skip
        if in_ray:
            command = ["sh", "-c", _IN_RAY, sys.executable, *command]
        if "ECHELON_ISOLATED" not in os.environ:
            command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
        environment = {**os.environ, **_VARIABLES, "PYTHONPATH": self.path, "NODE_PATH": self.path, **variables}
        with tempfile.TemporaryDirectory(prefix="r-", dir="/tmp") as directory:  # short: Ray puts sockets below it
            environment["RAY_TMPDIR"] = directory
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, cwd=self.place)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        report = folder / "hooks.jsonl"
        lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
        return {**json.loads(found.read_text()), "folder": folder, "output": done.stderr, "hooks": [one["hook"] for one in lines]}
