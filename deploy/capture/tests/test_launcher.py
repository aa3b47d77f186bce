"""The launcher and what it injects, with modules that have the names of verl's and of Ray's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from echelon_capture import injected, launcher

CAPTURE = Path(__file__).parents[1]
MODULES = {
    "verl/__init__.py": "__version__ = '0.9.1'",
    "verl/trainer/__init__.py": "", "verl/trainer/ppo/__init__.py": "", "verl/utils/__init__.py": "",
    "verl/utils/tracking.py": "class Tracking:\n    def log(self, data, step): ...",
    "verl/trainer/ppo/ray_trainer.py": """
        class Batch:
            def __init__(self):
                self.batch = {"advantages": [0.5]}
        def compute_advantage(data, adv_estimator):
            return data
        class RayPPOTrainer:
            def __init__(self, config):
                self.config = config
            def fit(self):
                self.global_steps = 3
                return compute_advantage(Batch(), "odd")
    """,
    "train.py": """
        import sys
        from verl.trainer.ppo import ray_trainer
        print("imported", [name for name in sys.modules if name.startswith("echelon")])
        result = ray_trainer.RayPPOTrainer("config").fit()
        print("trained", type(result).__name__)
    """,
    "ray.py": "def init(address=None, runtime_env=None, **rest):\n    return runtime_env",
}  # fmt: skip


@pytest.fixture
def place(folder, tmp_path):
    """A directory with the modules."""
    for name, text in MODULES.items():
        path = tmp_path / "code" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return tmp_path / "code"


def run(place, *command, options=(), python_path=(), **variables):
    """The launcher in a process of its own."""
    path = os.pathsep.join(str(one) for one in (CAPTURE, *python_path, place))
    return subprocess.run(
        [sys.executable, "-m", "echelon_capture", "run", *options, *(("--", *command) if command else ())],
        env={**os.environ, "PYTHONPATH": path, **variables}, capture_output=True, text=True, timeout=60, cwd=place,
    )  # fmt: skip


def python(place, code, **variables):
    return run(place, sys.executable, "-c", textwrap.dedent(code), **variables)


def test_the_hook_is_installed_by_the_first_trainer_and_not_by_the_import(place, folder, read_lines):
    done = run(place, sys.executable, "train.py")
    assert (done.returncode, done.stdout) == (0, "imported []\ntrained Batch\n"), done.stderr
    [hook] = read_lines(folder / "hooks.jsonl")
    assert (hook["hook"], hook["module"], hook["version"]) == ("trainer", "verl.trainer.ppo.ray_trainer", "0.9.1")
    assert "the hook was in 1 processes (1 of trainers, 0 of actors)" in done.stderr
    [gap] = read_lines(folder / "gaps.jsonl")
    assert gap["step"] == 3


def test_the_variables_of_env_do_the_same(place, folder, read_lines):
    given = subprocess.run(
        ["sh", "-c", f'eval "$({sys.executable} -m echelon_capture env)"; unset ECHELON_STEPS_EVERY; {sys.executable} train.py'],
        env={**os.environ, "PYTHONPATH": f"{CAPTURE}{os.pathsep}{place}"}, capture_output=True, text=True, timeout=60, cwd=place,
    )  # fmt: skip
    assert given.stdout.endswith("trained Batch\n"), given.stderr
    assert len(read_lines(folder / "hooks.jsonl")) == 1


def test_a_program_without_a_trainer_runs_as_without_the_launcher_and_the_record_says_so(place, folder, read_lines):
    done = python(place, "import sys; print([n for n in sys.modules if n.startswith('echelon')]); sys.exit(7)")
    assert (done.returncode, done.stdout) == (7, "[]\n")
    assert f"nothing was recorded in {folder}: no process used a trainer" in done.stderr
    assert "no process used a trainer" in read_lines(folder / "gaps.jsonl")[0]["reason"]


@pytest.mark.parametrize(("name", "text", "reason"), [
    ("verl/trainer/ppo/ray_trainer.py", "class Other: ...\ndef main(): ...", "the class that the hook follows is not there"),
    ("verl/utils/tracking.py", "", "no attribute 'Tracking'"),
])  # fmt: skip
def test_a_trainer_of_an_unknown_version_trains_and_the_record_has_a_gap(place, folder, read_lines, name, text, reason):
    (place / name).write_text(text)
    imported = "import verl.trainer.ppo.ray_trainer as t; print('main', bool(t.main))"
    done = run(place, sys.executable, *(["train.py"] if "utils" in name else ["-c", imported]))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] in ("trained Batch", "main True")
    gaps = [one["reason"] for one in read_lines(folder / "gaps.jsonl")]
    assert any("the hook was not installed in verl.trainer.ppo.ray_trainer of verl 0.9.1" in one and reason in one for one in gaps)
    assert "not installed: " in done.stderr and "Tested: verl 0.9.1" in done.stderr


def test_a_package_that_cannot_be_loaded_changes_nothing(place):
    done = python(place, """
        import sys
        sys.modules["echelon_capture.injected"] = None
        exec(open("train.py").read())
    """)  # fmt: skip
    assert done.returncode == 0 and done.stdout.endswith("trained Batch\n")
    assert "echelon-capture: not installed: ModuleNotFoundError" in done.stderr


def test_another_sitecustomize_is_executed_and_its_error_is_its_own(place, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import sys\nsys.mine = __file__\n_guarded = _change = os = None\n")
    code = "import sys, sitecustomize; print(sys.mine == sitecustomize.__file__)"
    assert run(place, sys.executable, "-c", code, python_path=[other]).stdout == "True\n"
    assert run(place, sys.executable, "train.py", python_path=[other]).stdout == "imported []\ntrained Batch\n"
    assert (folder / "hooks.jsonl").exists()
    (other / "sitecustomize.py").write_text("import os\nraise ValueError('mine')\n")
    alone = subprocess.run([sys.executable, "-c", "print(1)"], env={"PYTHONPATH": str(other)}, capture_output=True, text=True)
    done = run(place, sys.executable, "-c", "print(1)", python_path=[other])
    assert done.stdout == alone.stdout == "1\n"
    assert "ValueError: mine" in alone.stderr and alone.stderr.splitlines()[-1] in done.stderr


RAY = "import verl, ray, json; print(json.dumps(ray.init({})))"


def test_a_ray_that_runs_already_gets_the_hook_by_the_runtime_environment(place, folder):
    done = python(place, RAY.format("runtime_env={'pip': ['x'], 'env_vars': {'MINE': '1', 'PYTHONPATH': '/mine'}}"))
    found = json.loads(done.stdout)
    assert found["pip"] == ["x"]
    assert found["env_vars"] == {
        "MINE": "1", "PYTHONPATH": f"{launcher.INJECT}:/mine", "ECHELON_CAPTURE_HOOK": "1", "ECHELON_CAPTURE_DIR": str(folder),
    }  # fmt: skip
    assert json.loads(python(place, RAY.format("")).stdout)["env_vars"]["PYTHONPATH"] == f"{launcher.INJECT}:${{PYTHONPATH}}"


def test_no_address_or_key_of_the_api_goes_into_ray_s_metadata(place):
    done = python(place, RAY.format(""), ECHELON_URL="http://127.0.0.1:9", ECHELON_TOKEN="a-secret", OTHER="mine")
    assert "a-secret" not in done.stdout and "127.0.0.1" not in done.stdout and "OTHER" not in done.stdout
    assert "ECHELON_CAPTURE_HOOK" in done.stdout


def test_a_job_without_verl_gets_no_runtime_environment(place):
    assert python(place, RAY.replace("verl, ", "").format("")).stdout == "null\n"


def test_the_runtime_environment_of_a_submitted_job_is_changed_after_ray_has_joined_both(place, folder):
    done = python(place, """
        import json, os, sys
        import verl, ray

        def joined(address=None, runtime_env=None):
            module, _, name = os.environ["RAY_RUNTIME_ENV_HOOK"].rpartition(".")
            return runtime_env, getattr(sys.modules[module], name)({"env_vars": {"PYTHONPATH": "/job"}})
        ray.init.__wrapped__.__code__ = joined.__code__
        ray.__dict__.update(os=os, sys=sys)
        print(json.dumps([ray.init(), os.environ.get("RAY_RUNTIME_ENV_HOOK")]))
    """, RAY_JOB_CONFIG_JSON_ENV_VAR='{"runtime_env": {}}', RAY_RUNTIME_ENV_HOOK="mine.hook")  # fmt: skip
    assert "No module named 'mine'" in done.stderr  # the hook of the user is asked, and its error is the user's
    (place / "mine.py").write_text("def hook(runtime_env):\n    return {**runtime_env, 'mine': 1}\n")
    done = run(place, *done.args[done.args.index("--") + 1 :], RAY_JOB_CONFIG_JSON_ENV_VAR='{"runtime_env": {}}', RAY_RUNTIME_ENV_HOOK="mine.hook")
    (given, made), after = json.loads(done.stdout)
    assert given is None and after == "mine.hook"
    assert made["mine"] == 1 and made["env_vars"]["PYTHONPATH"] == f"{launcher.INJECT}:/job"


def test_an_empty_search_path_of_a_node_does_not_add_the_working_directory(place):
    code = "import os, sys; print(os.environ['PYTHONPATH'], os.getcwd() in sys.path[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, capture_output=True, text=True,
        env={"PYTHONPATH": f"{launcher.INJECT}:", "ECHELON_CAPTURE_HOOK": "1"},
    )  # fmt: skip
    assert done.stdout == f"{launcher.INJECT} False\n"


def test_wrong_usage_is_said_with_the_next_step(place, tmp_path):
    assert "no command: echelon-capture run [options] -- python" in run(place).stderr
    missing = run(place, "no-such-program")
    assert (missing.returncode, missing.stderr) == (127, "echelon-capture: no-such-program was not found\n")
    (tmp_path / "plain").write_text("x")
    refused = run(place, str(tmp_path / "plain"))
    assert refused.returncode == 126 and "is not executable" in refused.stderr
    assert "'x' is no number from 0" in run(place, "true", options=["--steps-every", "x"]).stderr


def test_the_status_and_the_signals_of_the_command_are_its_own(place):
    assert run(place, "sh", "-c", "kill -9 $$").returncode == 137
    code = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); print('on', flush=True); signal.pause()"
    started = subprocess.Popen(
        [sys.executable, "-m", "echelon_capture", "run", "--", sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(CAPTURE)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=place,
    )  # fmt: skip
    assert started.stdout.readline() == "on\n"
    started.send_signal(signal.SIGTERM)
    started.communicate(timeout=30)
    assert started.returncode == 5


def test_steps_are_not_captured_if_every_is_0(place, folder, monkeypatch):
    monkeypatch.setenv("ECHELON_STEPS_EVERY", "0")
    injected.install("actor", "verl.workers.engine_workers")
    assert not (folder / "hooks.jsonl").exists() and not (folder / "gaps.jsonl").exists()
