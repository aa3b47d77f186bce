"""What is read, changed and refused before a trainer starts."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import PACKAGE_ROOT
from spec_support import arguments_in
from verl_agent_support import STANDIN, verl_agent_content, verl_agent_launch

from echelon_rayworker.engines import savedsteps
from echelon_rayworker.engines.checkout import find_home
from echelon_rayworker.engines.spec import SpecError
from echelon_rayworker.engines.verl_agent import (
    checkpoints, datafiles, datasets, directorylock, driver, environment, limits, preflight, staging, trackers,
)  # fmt: skip
from echelon_rayworker.engines.verl_agent.overrides import Overrides, quoted, unquoted
from echelon_rayworker.engines.verl_agent.prepare import NotStartable, prepare
from echelon_rayworker.engines.verl_agent.settings import Settings, settings_of
from echelon_rayworker.nodes import Look

SIZES = ["data.train_batch_size=16", "data.val_batch_size=128", "trainer.n_gpus_per_node=2", "env.rollout.n=8"]


def settings(directory: Path, *overrides: str, fields: tuple[str, ...] = (), **plan: object) -> Settings:
    return settings_of(verl_agent_launch(directory, *SIZES, *overrides, fields=fields, **plan), {})


def save(directory: Path, step: int, world: int = 2, tracked: bool = True) -> None:
    actor = directory / "checkpoints" / f"global_step_{step}" / "actor"
    actor.mkdir(parents=True)
    for kind in ("model", "optim", "extra_state"):
        for rank in range(world):
            (actor / f"{kind}_world_size_{world}_rank_{rank}.pt").write_bytes(b"x")
    if tracked:
        (directory / "checkpoints" / savedsteps.TRACKER).write_text(str(step))


def test_overrides_are_read_changed_and_written():
    overrides = Overrides(["a.b=1", "+c='it\\'s'", "a.b=2", "d=null", "+ray_init.x.Y=z"])
    assert overrides.number("a.b", 0) == 2 and overrides.text("c") == "it's" and overrides.text("d", "x") == "x"
    overrides.set("a.b", "/p q")
    assert overrides.take("ray_init.") == {"x.Y": "z"}
    assert overrides.arguments() == ["+c='it\\'s'", "a.b='/p q'", "d=null"]
    with pytest.raises(ValueError, match="no-equals"):
        Overrides(["no-equals"])


@pytest.mark.parametrize("text", ["/plain/path-1.x", "with space", "it's", "a=b,c", "{x}"])
def test_a_quoted_text_is_read_back(text: str):
    assert unquoted(quoted(text)) == text


@pytest.mark.parametrize("text", ["${oc.env:X}", "a\\b", "a\nb"])
def test_a_text_that_hydra_would_resolve_is_refused(text: str):
    with pytest.raises(ValueError):
        quoted(text)


def test_cpus_follow_the_trainers_arithmetic(tmp_path: Path):
    made = settings(tmp_path, "trainer.total_epochs=160")
    assert (made.steps, made.cpus_wanted, made.evaluates) == (160, 28.6, False)
    made = settings(tmp_path, "trainer.val_only=True", "trainer.total_epochs=160")
    assert (made.steps, made.cpus_wanted, made.evaluates) == (0, 15.8, True)


def test_a_checkout_is_found_or_asked_for(tmp_path: Path):
    with pytest.raises(SpecError, match="no verl-agent checkout"):
        find_home(None, {}, str(tmp_path))
    assert find_home(None, {"VERL_AGENT_HOME": str(STANDIN)}, str(tmp_path)) == str(STANDIN)
    (tmp_path / "verl-agent").mkdir()
    assert find_home(None, {}, str(tmp_path)) == str(tmp_path / "verl-agent")


def test_a_start_from_nothing_from_a_step_and_from_a_path(tmp_path: Path):
    directory = str(tmp_path / "checkpoints")
    assert checkpoints.find_start(Overrides([]), directory, 2).path == ""
    save(tmp_path, 3)
    assert checkpoints.find_start(Overrides([]), directory, 2).step == 3
    assert checkpoints.find_start(Overrides(["trainer.resume_mode=disable"]), directory, 2).path == ""
    save(tmp_path, 2, tracked=False)
    path = ["trainer.resume_mode=resume_path", f"trainer.resume_from_path={directory}/global_step_2"]
    assert checkpoints.find_start(Overrides(path), directory, 2).step == 2


def test_a_start_that_would_silently_be_another_is_refused(tmp_path: Path):
    save(tmp_path, 3, world=4)
    directory = str(tmp_path / "checkpoints")
    with pytest.raises(checkpoints.CheckpointError, match="written by 4 GPUs"):
        checkpoints.find_start(Overrides([]), directory, 2)
    (tmp_path / "checkpoints" / "global_step_3" / "actor" / "optim_world_size_4_rank_3.pt").unlink()
    with pytest.raises(checkpoints.CheckpointError, match="optim_world_size_4_rank_3.pt is missing.*silently start"):
        checkpoints.find_start(Overrides([]), directory, 4)
    path = ["trainer.resume_mode=resume_path", f"trainer.resume_from_path={directory}/global_step_3"]
    with pytest.raises(checkpoints.CheckpointError, match="missing or empty: evaluate or resume another step"):
        checkpoints.find_start(Overrides(path), directory, 4)


def tear(directory: Path, damage: str) -> None:
    """Damages the step of the tracker file, or that file."""
    place = directory / "checkpoints"
    if damage == "no actor":
        shutil.rmtree(place / "global_step_3" / "actor")
    elif damage == "a torn shard":
        (place / "global_step_3" / "actor" / "extra_state_world_size_2_rank_1.pt").write_bytes(b"")
    elif damage == "no folder":
        shutil.rmtree(place / "global_step_3")
    else:
        (place / savedsteps.TRACKER).write_text("")


@pytest.mark.parametrize("damage", ["no actor", "a torn shard", "no folder", "an empty tracker"])
def test_a_damaged_checkpoint_is_replaced_by_the_newest_complete_one(tmp_path: Path, damage: str):
    save(tmp_path, 1)
    save(tmp_path, 2)
    save(tmp_path, 3)
    if damage == "an empty tracker":
        shutil.rmtree(tmp_path / "checkpoints" / "global_step_3")
    tear(tmp_path, damage)
    overrides = Overrides([])
    start = checkpoints.find_start(overrides, str(tmp_path / "checkpoints"), 2)
    assert start.step == 2 and start.skipped
    checkpoints.use_start(overrides, start)
    assert overrides.text("trainer.resume_mode") == "resume_path"
    assert overrides.text("trainer.resume_from_path") == start.path


def test_an_empty_tracker_without_checkpoints_does_not_block_a_training(tmp_path: Path):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / savedsteps.TRACKER).write_text("")
    overrides = Overrides([])
    start = checkpoints.find_start(overrides, str(tmp_path / "checkpoints"), 2)
    checkpoints.use_start(overrides, start)
    assert (start.step, start.path, overrides.text("trainer.resume_mode")) == (0, "", "disable")


def test_only_the_stated_contents_are_required(tmp_path: Path):
    save(tmp_path, 3)
    for shard in (tmp_path / "checkpoints" / "global_step_3" / "actor").glob("optim*"):
        shard.unlink()
    kept = Overrides(["actor_rollout_ref.actor.checkpoint.contents=[model,extra]"])
    assert checkpoints.find_start(kept, str(tmp_path / "checkpoints"), 2).step == 3


def test_a_finished_training_is_seen_before_anything_is_written(tmp_path: Path):
    save(tmp_path, 160)
    prepared = prepare(settings(tmp_path, "trainer.total_epochs=160"))
    assert prepared.finished and not (tmp_path / "attempts").exists()


@pytest.mark.parametrize(
    ("overrides", "plan", "words"),
    [
        (["trainer.val_only=True"], {}, "would silently evaluate the base model"),
        (["trainer.val_only=True", "trainer.val_before_train=False"], {}, "needs trainer.val_only=True and"),
        (["data.custom_cls.path=/x/mine.py"], {}, "the capture hook is loaded by this key"),
        ([], {"program": "recipe.other.main"}, "holds no recipe.other.main"),
        ([], {"dataRows": {"train": 16, "validation": 100}}, "no multiple of data.val_batch_size=128"),
        (["data.train_files=/not/there.parquet"], {}, "does not exist"),
    ],
)
def test_what_cannot_work_is_refused_in_a_sentence(tmp_path: Path, overrides: list[str], plan: dict, words: str):
    pytest.importorskip("pyarrow")
    with pytest.raises(NotStartable, match=words):
        prepare(settings(tmp_path, *overrides, **plan))


def test_an_evaluation_of_the_base_model_starts_without_a_checkpoint_and_uses_none(tmp_path: Path):
    pytest.importorskip("pyarrow")
    save(tmp_path, 3)
    made = settings(tmp_path, "trainer.val_only=True", "trainer.resume_mode=disable", fields=("evaluation.base_model=true",))
    assert prepare(made).start == checkpoints.Start()


def test_a_checkpoint_directory_is_one_trainings_at_a_time_and_free_when_its_holders_are_gone(tmp_path: Path):
    """Fails without the lock, and if the lock would outlive a killed holder."""
    directory = str(tmp_path / "checkpoints")
    code = f"""
from echelon_rayworker.engines.verl_agent import directorylock
import subprocess, sys
held = directorylock.take({directory!r}, {{"ECHELON_EXPERIMENT": "exp-1", "ECHELON_ATTEMPT": "2"}}, 0)
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, pass_fds=[held])
print(child.pid, flush=True)
sys.stdin.read()
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", code], cwd=PACKAGE_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    child = int(holder.stdout.readline())
    with pytest.raises(directorylock.DirectoryInUse, match="in use by experiment exp-1, attempt 2, on .*checkpoints.label"):
        directorylock.take(directory, {}, wait_seconds=0)
    assert "experiment exp-1" in directorylock.in_use(directory)
    os.kill(child, signal.SIGKILL)
    holder.kill()
    holder.communicate()
    held = directorylock.take(directory, {}, wait_seconds=20)
    assert held is not None and directorylock.in_use(directory)
    os.close(held)
    assert not directorylock.in_use(directory)


def test_a_training_does_not_start_in_a_directory_that_another_one_has(tmp_path: Path):
    """Fails where the driver does not take the directory before it prepares."""
    made = settings(tmp_path, waitSeconds=0)
    held = directorylock.take(made.checkpoint_dir, {"ECHELON_EXPERIMENT": "exp-1", "ECHELON_ATTEMPT": "2"}, 0)
    assert held is not None
    with pytest.raises(NotStartable, match="in use by experiment exp-1, attempt 2"):
        driver.run(made, None)
    os.close(held)
    assert not (tmp_path / "attempts").exists()


def test_a_file_system_without_locks_is_said_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    def refuse(*_arguments: object) -> int:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(directorylock, "lock_file", refuse)
    assert directorylock.take(str(tmp_path), {}, 0) is None
    assert "knows no locks" in capsys.readouterr().err


def test_the_data_files_are_the_recipes(tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    made = settings(tmp_path, dataRows={"train": 16, "validation": 256})
    prepare(made)
    train, val = (parquet.read_table(made.overrides.text(f"data.{key}_files")).to_pylist() for key in ("train", "val"))
    assert (len(train), len(val)) == (16, 256)
    assert val[255] == {
        "data_source": "text", "prompt": [{"role": "user", "content": ""}], "ability": "agent",
        "extra_info": {"split": "test", "index": 255},
    }  # fmt: skip
    assert made.overrides.text("data.custom_cls.path").startswith(str(tmp_path / "attempts" / "1" / "hook"))


def test_the_staged_hook_can_be_imported_by_itself(tmp_path: Path):
    path = Path(staging.stage_hook(str(tmp_path)))
    code = "import echelon_rayworker.engines.verl_agent.hook as t; print(t.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd="/", env={"PYTHONPATH": str(tmp_path / "hook")}, capture_output=True, text=True
    )
    assert done.stdout.strip() == str(path.parent / "hook.py"), done.stderr


def test_secrets_and_places_are_handed_on_and_nothing_else():
    given = {"WANDB_API_KEY": "k", "HF_HOME": "/h", "CUDA_VISIBLE_DEVICES": "0", "PATH": "/bin", "ECHELON_SPOOL": "/s",
             "PYTHONPATH": "/p", "WANDB_DIR": "", "ECHELON_HIDDEN_VARIABLES": "MY_KEY", "MY_KEY": "m"}  # fmt: skip
    variables = environment.runtime_variables(given, "/home/v", "digests")
    assert variables == {
        "WANDB_API_KEY": "k", "HF_HOME": "/h", "ECHELON_SPOOL": "/s", "PYTHONPATH": "/home/v:/p",
        "ECHELON_OBSERVATIONS": "digests", "ECHELON_HIDDEN_VARIABLES": "MY_KEY",
        "MY_KEY": "m",
    }  # fmt: skip


def test_the_free_space_is_held_against_the_checkpoints_less_those_that_are_there(tmp_path: Path):
    free = shutil.disk_usage(tmp_path).free
    assert preflight.check_disk(settings(tmp_path)) == []
    enough = settings(tmp_path, diskBytes=free // 2)
    assert [one.ok for one in preflight.check_disk(enough)] == [True]
    [short] = preflight.check_disk(settings(tmp_path, diskBytes=free * 2))
    assert not short.ok and short.severity == "error" and "keepCheckpoints" in short.remedy
    save(tmp_path, 40)
    [there] = preflight.check_disk(settings(tmp_path, diskBytes=6))
    assert there.ok and "already" in there.message


def test_every_variable_of_the_plan_is_handed_on_whatever_its_name():
    given = {"ECHELON_VARIABLES": "MY_SETTING,TENSORBOARD_DIR", "MY_SETTING": "1", "TENSORBOARD_DIR": "/t", "OTHER": "2"}
    variables = environment.runtime_variables(given, "/v", "digests")
    assert variables["MY_SETTING"] == "1" and variables["TENSORBOARD_DIR"] == "/t" and "OTHER" not in variables


def test_unset_places_are_below_the_shared_root_if_they_are_there(tmp_path: Path):
    run = replace(settings(tmp_path), shared_root=str(tmp_path / "shared"))
    boards = {"TENSORBOARD_DIR": f"{tmp_path}/tensorboard"}
    assert environment.default_places({}, run) == boards
    for name in ("huggingface", "alfworld"):
        (tmp_path / "shared" / name).mkdir(parents=True)
    shared = tmp_path / "shared"
    assert environment.default_places({}, run) == {
        **boards, "HF_HOME": f"{shared}/huggingface", "ALFWORLD_DATA": f"{shared}/alfworld",
    }  # fmt: skip
    assert environment.default_places({"HF_HOME": "/h", "ALFWORLD_DATA": "/a", "TENSORBOARD_DIR": "/t"}, run) == {}


def test_a_further_attempt_continues_the_trackers_run():
    given = {"ECHELON_EXPERIMENT": "exp-1"}
    variables = environment.runtime_variables(given, "/v", "digests")
    assert (variables["WANDB_RUN_ID"], variables["WANDB_RESUME"]) == ("exp-1", "allow")
    chosen = environment.runtime_variables({**given, "WANDB_RUN_ID": "mine"}, "/v", "digests")
    assert chosen["WANDB_RUN_ID"] == "mine" and "WANDB_RESUME" not in chosen


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(datafiles.DataError, match="pyarrow is missing"):
        datafiles.write_rows(str(tmp_path / "x.parquet"), datafiles.rows_of(2, "train"))
    assert not list(tmp_path.iterdir())


def answers(directory: Path, *overrides: str, **env: str) -> tuple[int, dict[str, dict]]:
    given = [*SIZES, f"trainer.default_local_dir={directory}/checkpoints", *overrides]
    arguments = arguments_in(directory / "attempt", verl_agent_content(*given), directory, directory)
    done = subprocess.run(
        [sys.executable, "-m", "echelon_rayworker.engines.verl_agent.preflight", "ray=false", *arguments, "--", *given],
        cwd=PACKAGE_ROOT, env={**os.environ, **env}, capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, {one["check"]: one for one in json.loads(done.stdout)}


def test_preflight_says_what_is_missing_and_the_remedy(tmp_path: Path):
    games = tmp_path / "alfworld" / "json_2.1.1" / "valid_seen" / "a" / "b"
    games.mkdir(parents=True)
    (games / "game.tw-pddl").touch()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").touch()
    code, said = answers(tmp_path, f"actor_rollout_ref.model.path={tmp_path}/model", ALFWORLD_DATA=f"{tmp_path}/alfworld")
    assert code == 1 and said["checkout"]["ok"] and said["model"]["ok"] and said["start"]["ok"]
    assert "0 of 3553 games in train" in said["AlfWorld train"]["message"]
    assert (said["AlfWorld train"]["severity"], said["AlfWorld valid_seen"]["severity"]) == ("error", "warning")
    assert "alfworld-download" in said["AlfWorld logic"]["remedy"]
    assert all(one["ok"] or one["remedy"] for one in said.values())


def test_preflight_looks_for_webshops_files_and_the_model_in_the_cache(tmp_path: Path):
    hub = tmp_path / "hub" / "models--Qwen--Q" / "snapshots" / "1"
    hub.mkdir(parents=True)
    given = ["env.env_name=Webshop", "actor_rollout_ref.model.path=Qwen/Q"]
    _, said = answers(tmp_path, *given, HF_HOME=str(tmp_path))
    assert said["model"]["ok"] and not said["WebShop data"]["ok"]
    _, said = answers(tmp_path, *given, HF_HOME=str(tmp_path / "none"), HF_HUB_OFFLINE="1")
    assert not said["model"]["ok"] and said["model"]["severity"] == "error"


@pytest.mark.parametrize(
    ("logger", "variables", "expected"),
    [
        ("[console]", {}, None),
        ("[console,mlflow,tensorboard]", {}, None),
        ("[console,wandb]", {}, "error"),
        ("['console','wandb']", {}, "error"),
        ("[console,wandb]", {"WANDB_API_KEY": "k"}, "ok"),
        ("[console,wandb]", {"ECHELON_HIDDEN_VARIABLES": "HF_TOKEN,WANDB_API_KEY"}, "ok"),
        ("[console,wandb]", {"WANDB_MODE": "offline"}, "ok"),
        ("[console,wandb]", {"WANDB_MODE": "online"}, "error"),
        ("[swanlab]", {"WANDB_API_KEY": "k"}, "error"),
        ("[swanlab]", {"SWANLAB_MODE": "local"}, "ok"),
        ("[clearml]", {"CLEARML_API_ACCESS_KEY": "k"}, "error"),
        ("[clearml]", {"CLEARML_API_ACCESS_KEY": "k", "CLEARML_API_SECRET_KEY": "s"}, "ok"),
        ("[vemlp_wandb]", {"VOLC_ACCESS_KEY_ID": "k", "VOLC_SECRET_ACCESS_KEY": "s"}, "error"),
    ],
)
def test_a_tracker_without_a_key_is_an_error(tmp_path: Path, logger: str, variables: dict[str, str], expected: str | None):
    chosen = Overrides([f"trainer.logger={logger}"])
    found = trackers.check_trackers(chosen, {"HOME": str(tmp_path), **variables})
    assert [("ok" if one.ok else one.severity) for one in found] == ([expected] if expected else [])


def test_a_tracker_with_a_login_file_alone_is_a_warning(tmp_path: Path):
    (tmp_path / ".netrc").touch()
    [answer] = trackers.check_trackers(Overrides(["trainer.logger=[wandb]"]), {"HOME": str(tmp_path)})
    assert (answer.ok, answer.severity) == (False, "warning") and ".netrc" in answer.message


def test_the_preflight_program_looks_at_trackers(tmp_path: Path):
    _, said = answers(tmp_path, "trainer.logger=[console,wandb]", HOME=str(tmp_path), WANDB_API_KEY="", WANDB_MODE="")
    assert said["tracker"]["severity"] == "error" and "WANDB_API_KEY" in said["tracker"]["remedy"]


def test_preflight_compares_gpus_and_cpus(tmp_path: Path):
    made = settings(tmp_path)
    gpus, cpus = preflight.check_resources(made, {"cpusTotal": 16.0}, {"10.0.0.1": 1.0, "10.0.0.2": 4.0})
    assert gpus.ok and not cpus.ok and "28.6 CPUs are wanted" in cpus.message
    gpus, cpus = preflight.check_resources(made, {"cpusTotal": 64.0}, {"10.0.0.1": 1.0})
    assert not gpus.ok and cpus.ok and "1 on 10.0.0.1" in gpus.message


def test_versions_are_compared_by_their_numbers():
    assert preflight.numbers_of("2.13.0+cpu") == (2, 13, 0)
    assert preflight.numbers_of("0.9.dev1") == (0, 9) < preflight.numbers_of("0.10.1")


def test_webshop_needs_the_index_of_all_products_the_human_goals_and_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = tmp_path / "home"
    data = home / datasets.WEBSHOP
    (data.parent / "search_engine" / "indexes_1k").mkdir(parents=True)
    (data.parent / "search_engine" / "indexes_1k" / "x").touch()
    data.mkdir()
    for name in datasets.WEBSHOP_FILES[True]:
        (data / name).touch()
    run = replace(settings(tmp_path, "env.env_name=Webshop"), home=str(home))

    def said() -> dict[str, tuple[bool, str]]:
        return {one.check: (one.ok, one.message) for one in datasets.check_data(run, preflight.Answer)}

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert not said()["WebShop index"][0] and "items_human_ins.json" in said()["WebShop data"][1] and not said()["Java"][0]
    (data / "items_human_ins.json").touch()
    (data.parent / "search_engine" / "indexes").mkdir()
    (data.parent / "search_engine" / "indexes" / "x").touch()
    (tmp_path / "jdk" / "bin").mkdir(parents=True)
    (tmp_path / "jdk" / "bin" / "java").touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert all(ok for ok, _ in said().values())
    assert datasets.data_paths(run) == [str(data)]


def test_the_packages_of_environment_engine_and_trackers_are_asked_for(tmp_path: Path):
    def named(*overrides: str) -> set[str]:
        return {name for name, _, _ in preflight.packages_of(settings(tmp_path, *overrides))}

    assert {"flash-attn", "vllm", "alfworld", "textworld", "gymnasium"} <= named("env.env_name=alfworld/AlfredTWEnv")
    assert {"pyserini", "gym", "wandb"} <= named("env.env_name=Webshop", "trainer.logger=[console,wandb]")
    assert not {"alfworld", "wandb"} & named("env.env_name=Webshop", "trainer.logger=[console]")


def test_a_node_with_few_processes_little_memory_or_a_small_dev_shm_is_named(tmp_path: Path):
    def checks(**values: int) -> list[str]:
        look = Look("node-a", 2, limits=values)
        return [one.check for one in limits.check_limits(settings(tmp_path), [look]) if not one.ok]

    assert checks() == [] and checks(processes=65536, memory=10**12, shm=2**36) == []
    assert checks(processes=4096, memory=10**10, shm=2**26) == ["processes", "host memory", "/dev/shm"]
    assert limits.check_limits(settings(tmp_path), [Look("b", 2, trouble="away", limits={"shm": 1})])[0].ok


@pytest.mark.parametrize("backend", ["attention/backends/xformers.py", "v1/attention/backends/xformers.py", "attention/none.py"])
def test_the_backend_of_the_recipes_is_dropped_if_the_installed_vllm_has_it_not(tmp_path: Path, monkeypatch, backend: str):
    for file in ("vllm/__init__.py", f"vllm/{backend}"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    override = "+ray_init.runtime_env.env_vars.VLLM_ATTENTION_BACKEND=XFORMERS"
    overrides, variables = Overrides([override]), {"VLLM_ATTENTION_BACKEND": "XFORMERS"}
    dropped = environment.drop_missing_backend(overrides, variables)
    assert dropped == (backend == "attention/none.py")
    assert (overrides.arguments(), variables) == (([], {}) if dropped else ([override], {"VLLM_ATTENTION_BACKEND": "XFORMERS"}))
    assert not environment.drop_missing_backend(overrides, {"VLLM_ATTENTION_BACKEND": "FLASHINFER"})
