"""The export of a checkpoint, with the stand-in checkout's script and real files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PACKAGE_ROOT
from spec_support import arguments_in, content_of, launch_of
from verl_agent_support import STANDIN, Reports

from echelon_rayworker.engines import diskspace, savedsteps
from echelon_rayworker.engines.verl_agent_export import export as exporting
from echelon_rayworker.engines.verl_agent_export import preflight
from echelon_rayworker.engines.verl_agent_export.source import NotExportable, Settings, find_source, settings_of
from echelon_rayworker.files import lock_file
from echelon_rayworker.nodes import Look
from echelon_rayworker.spool import NullSpool


def save(root: Path, step: int, world: int = 2) -> Path:
    """A checkpoint as the trainer leaves it; its policy's directory."""
    actor = root / "checkpoints" / "p" / "run" / f"global_step_{step}" / "actor"
    actor.mkdir(parents=True)
    for kind in ("model", "optim", "extra_state"):
        for rank in range(world):
            (actor / f"{kind}_world_size_{world}_rank_{rank}.pt").write_bytes(f"{kind} {step}.{rank};".encode())
    (actor / "config.json").write_text("{}")
    (actor.parents[1] / savedsteps.TRACKER).write_text(str(step))
    return actor


def content(output: Path | str = "", step: int = 0, cpus: float = 2) -> dict[str, Any]:
    plan = {"checkpointDirectory": "{sharedRoot}/checkpoints/p/run", "output": str(output)}
    return content_of("verl-agent-export", f"resources.cpus={cpus}", *([f"checkpoint.step={step}"] if step else []), plan=plan)


def settings(root: Path, output: Path | str = "", step: int = 0, home: Path = STANDIN) -> Settings:
    return settings_of(launch_of(content(output, step), root), {"VERL_AGENT_HOME": str(home)})


@pytest.fixture
def alone(monkeypatch):
    """The script runs in this process: what it changes is put back."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    yield
    sys.modules.pop("verl", None)


def test_the_newest_complete_checkpoint_is_exported_beside_it_and_reported(tmp_path: Path):
    save(tmp_path, 40)
    torn = save(tmp_path, 80)
    (torn / "model_world_size_2_rank_1.pt").unlink()
    spool = tmp_path / "spool"
    spool.mkdir()
    environment = {**os.environ, "ECHELON_SPOOL": str(spool), "RAY_ADDRESS": "", "VERL_AGENT_HOME": str(STANDIN)}
    command = [sys.executable, "-m", "echelon_rayworker.engines.verl_agent_export", *arguments_in(tmp_path / "attempt", content(), tmp_path / "experiments/e", tmp_path)]
    done = subprocess.run(command, cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    target = tmp_path / "checkpoints" / "p" / "run" / "global_step_40-huggingface"
    assert (target / "model.safetensors").read_bytes() == b"model 40.0;model 40.1;"
    assert sorted(os.listdir(target)) == ["config.json", exporting.RECORD, "model.safetensors"]
    assert json.loads((target / exporting.RECORD).read_text())["worldSize"] == 2
    reports = Reports(spool)
    assert reports.stages == ["merging 2 shards of step 40"]
    assert [(one.step, one.path) for one in reports.of("checkpoint")] == [
        (40, "../../checkpoints/p/run/global_step_40-huggingface")
    ]
    assert reports.metrics[40]["export/bytes"] == diskspace.size_of(str(target)) > 22
    assert "step 40 is exported to" in done.stderr
    # An export is no step of the training.
    assert savedsteps.saved_steps(str(target.parent)) == [40, 80]
    assert not [name for name in os.listdir(target.parent) if "partial" in name]


def test_a_further_attempt_finds_the_export_done_and_clears_what_an_earlier_one_left(tmp_path: Path, alone):
    save(tmp_path, 40)
    output = tmp_path / "exports" / "mine"
    left = tmp_path / "exports" / ".mine.partial" / "model"
    left.mkdir(parents=True)
    (left / "half").write_text("x")
    made = settings(tmp_path, output, 40)
    exporting.export(made, NullSpool())
    assert sorted(os.listdir(output)) == ["config.json", exporting.RECORD, "model.safetensors"]
    assert os.listdir(output.parent) == ["mine"]
    (output / "model.safetensors").write_bytes(b"as it was")
    exporting.export(made, NullSpool())
    assert (output / "model.safetensors").read_bytes() == b"as it was"


def test_what_is_not_its_own_output_is_never_replaced(tmp_path: Path, alone):
    save(tmp_path, 40)
    output = tmp_path / "exports" / "mine"
    output.mkdir(parents=True)
    made = settings(tmp_path, output)
    with pytest.raises(NotExportable, match="exists and is not an export of this checkpoint: remove it"):
        exporting.export(made, NullSpool())
    output.rmdir()
    exporting.export(made, NullSpool())
    save(tmp_path, 80)
    with pytest.raises(NotExportable, match="exists and is not an export of this checkpoint"):
        exporting.export(made, NullSpool())


def damage(actor: Path, how: str) -> None:
    if how == "a missing shard":
        (actor / "model_world_size_2_rank_1.pt").unlink()
    elif how == "an empty shard":
        (actor / "model_world_size_2_rank_0.pt").write_bytes(b"")
    elif how == "two world sizes":
        shutil.copy(actor / "model_world_size_2_rank_0.pt", actor / "model_world_size_4_rank_0.pt")
    elif how == "no configuration":
        (actor / "config.json").unlink()
    elif how == "LoRA":
        (actor / "lora_adapter").mkdir()
    else:
        shutil.rmtree(actor.parent)


@pytest.mark.parametrize(
    "how, message",
    [
        ("a missing shard", "rank_1.pt is missing or empty"),
        ("an empty shard", "rank_0.pt is missing or empty"),
        ("two world sizes", "has shards of 2 and 4 GPUs"),
        ("no configuration", "holds no config.json"),
        ("LoRA", "holds LoRA adapters"),
        ("no folder", "global_step_40/actor is missing"),
    ],
)
def test_an_incomplete_checkpoint_is_refused(tmp_path: Path, how: str, message: str):
    damage(save(tmp_path, 40), how)
    for step in (0, 40):
        with pytest.raises(NotExportable, match=f"{message}.*: export another step"):
            find_source(settings(tmp_path, step=step))


def test_a_directory_without_a_checkpoint_is_refused(tmp_path: Path):
    with pytest.raises(NotExportable, match="run holds no checkpoint: export another step"):
        find_source(settings(tmp_path))


def test_a_full_file_system_and_a_missing_script_are_refused_before_the_merge(tmp_path: Path, monkeypatch):
    save(tmp_path, 40)
    made = settings(tmp_path)
    monkeypatch.setattr(exporting, "free_at", lambda _: 10)
    with pytest.raises(NotExportable, match="takes about 0.0 GB, and 0.0 GB are free at .*: make room"):
        exporting.export(made, NullSpool())
    bare = settings(tmp_path, home=tmp_path)
    with pytest.raises(NotExportable, match="model_merger.py is missing"):
        exporting.export(bare, NullSpool())


def test_a_failed_merge_leaves_no_file(tmp_path: Path, alone):
    actor = save(tmp_path, 40)
    (actor / "model_world_size_2_rank_1.pt").write_bytes(b"torn")
    with pytest.raises(RuntimeError, match="ended with PytorchStreamReader failed"):
        exporting.export(settings(tmp_path), NullSpool())
    assert sorted(os.listdir(actor.parents[1])) == ["global_step_40", savedsteps.TRACKER]


def test_two_exports_to_one_place_are_not_under_way_together(tmp_path: Path):
    save(tmp_path, 40)
    work = tmp_path / "exports" / ".mine.partial"
    work.mkdir(parents=True)
    held = lock_file(str(work / "lock"))
    with pytest.raises(NotExportable, match="is being written by another experiment"):
        exporting.export(settings(tmp_path, tmp_path / "exports/mine"), NullSpool())
    os.close(held)


def test_a_preflight_says_what_the_export_would_refuse_and_what_a_node_lacks(tmp_path: Path):
    actor = save(tmp_path, 40)
    [fine] = preflight.check_source(settings(tmp_path))
    assert fine.ok and "step 40, written by 2 GPUs" in fine.message
    source = find_source(settings(tmp_path))
    node = Look("n1", 0.0, packages={"torch": ""}, missing=("/checkout",), limits={"memory": 3})
    said = [answer.message for answer in preflight.node_answers(node, source)]
    assert said == [
        "node n1 does not see /checkout", "node n1 has no package torch",
        "node n1 has 0.0 GB of memory, and the merge may take 0.0 GB",
    ]
    assert preflight.node_answers(Look("n2", 0.0, packages={"torch": "2.6"}, limits={"memory": 10**9}), source) == []
    damage(actor, "a missing shard")
    [refused] = preflight.check_source(settings(tmp_path))
    assert not refused.ok and refused.severity == "error" and "missing or empty" in refused.message
