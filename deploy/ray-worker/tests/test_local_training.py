"""Training without Ray: the same curve after a resume, reports, checkpoints."""

import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from spec_support import content_of

from echelon_rayworker.engines.local import checkpoints
from echelon_rayworker.engines.local.pools import InProcessPool
from echelon_rayworker.engines.local.settings import Settings, settings_of
from echelon_rayworker.engines.local.trainer import Trainer
from echelon_rayworker.gen import batch_pb2

ECHELON = Path(__file__).parents[3] / "bin" / "echelon"
SMALL = ["rollout.groups=3", "rollout.group_size=4", "environment.max_steps=15", "evaluation.games=6"]


class Kept:
    """A spool that keeps what is reported."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int, int]] = []
        self.values: dict[int, dict[str, float]] = {}
        self.batches: dict[int, tuple[bytes, int]] = {}
        self.updates: dict[int, bytes] = {}
        self.checkpoints: list[tuple[int, str]] = []
        self.evaluations: list[tuple] = []

    def stage(self, name: str, step: int = 0, steps: int = 0) -> None:
        self.stages.append((name, step, steps))

    def metrics(self, step: int, values: dict[str, float]) -> None:
        self.values[step] = dict(values)

    def batch(self, step: int, batch: bytes, rows: int) -> None:
        if step in self.batches:
            self.updates[step] = batch
        else:
            self.batches[step] = (batch, rows)

    def checkpoint(self, step: int, path: str) -> None:
        self.checkpoints.append((step, path))

    def evaluation(self, *arguments) -> None:
        self.evaluations.append(arguments)

    def curve(self) -> dict[int, dict[str, float]]:
        return {
            step: {name: value for name, value in values.items() if not name.startswith("timing_s/")}
            for step, values in self.values.items()
        }


def settings(*arguments: str) -> Settings:
    given = dict(one.split("=", 1) for one in (*SMALL, *arguments))
    experiment_dir = given.pop("experiment_dir", "")
    return settings_of(content_of("local", *(f"{key}={value}" for key, value in given.items()))["spec"], experiment_dir)


def train(*arguments: str, actors: int = 2) -> tuple[Kept, Trainer]:
    given = settings(*arguments)
    kept = Kept()
    trainer = Trainer(given, InProcessPool(given.rollout, given.groups, given.evaluation_games, actors), kept)
    trainer.run()
    return kept, trainer


@pytest.mark.parametrize("estimator", ["hgpo", "gigpo", "grpo"])
def test_a_resumed_run_continues_the_same_curve_to_the_bit(tmp_path, estimator):
    name = f"estimator.name={estimator}"
    whole, trained = train(name, "training.steps=4", f"experiment_dir={tmp_path / 'whole'}", "training.save_every=2")
    cut = (name, f"experiment_dir={tmp_path / 'cut'}", "training.save_every=2")
    train(*cut, "training.steps=2")
    rest, resumed = train(*cut, "training.steps=4")
    assert sorted(rest.curve()) == [3, 4]
    assert rest.curve() == {step: whole.curve()[step] for step in (3, 4)}
    assert {step: rest.batches[step] for step in (3, 4)} == {step: whole.batches[step] for step in (3, 4)}
    for array in ("weights", "first_moment", "second_moment"):
        assert (getattr(trained._learner, array) == getattr(resumed._learner, array)).all()


def test_a_finished_run_takes_no_further_step(tmp_path):
    given = ("training.steps=2", f"experiment_dir={tmp_path}")
    first, _ = train(*given)
    again, _ = train(*given)
    assert again.batches == {} and sorted(again.values) == [2]
    assert again.values[2]["val/success_rate"] == first.values[2]["val/success_rate"]


def test_the_seed_decides_the_curve():
    one, _ = train("training.steps=1")
    same, _ = train("training.steps=1")
    other, _ = train("training.steps=1", "training.seed=9")
    assert one.curve() == same.curve() != other.curve()


def test_what_is_played_does_not_depend_on_how_many_play():
    two, _ = train("training.steps=1", actors=2)
    three, _ = train("training.steps=1", actors=3)
    assert two.batches == three.batches


def test_each_game_of_the_panel_is_reported_once_per_replicate_under_one_digest():
    kept, _ = train("training.steps=1", "evaluation.replicates=2", "training.seed=9")
    (_, games, panel, digest, _), (step, *_) = kept.evaluations
    assert (step, panel, len(digest)) == (1, "local-rooms", 64)
    cells = [(one["game"], one["replicate"]) for one in games]
    assert sorted(cells) == [(f"room-{number}", replicate) for number in range(6) for replicate in (1, 2)]
    assert kept.values[0]["val/success_rate"] == np.mean([one["success"] for one in games])
    # Another training seed and number of actors play the same panel; other games have another digest.
    assert train("training.steps=1", actors=3)[0].evaluations[0][3] == digest
    assert train("training.steps=1", "environment.seed=2")[0].evaluations[0][3] != digest


def test_each_step_reports_its_batch(monkeypatch):
    monkeypatch.setenv("ECHELON_EXPERIMENT", "exp-7")
    monkeypatch.setenv("ECHELON_ATTEMPT", "3")
    kept, _ = train("training.steps=2")
    assert sorted(kept.batches) == [1, 2]
    data, rows = kept.batches[2]
    message = batch_pb2.AdvantageBatch.FromString(data)
    assert message.rows == rows == len(np.frombuffer(message.reported_advantage, "<f4")) > 0
    stated = message.provenance
    assert (stated.experiment, stated.attempt, stated.training_step) == ("exp-7", 3, 2)
    assert (stated.groups, stated.group_size, stated.rows_collected) == (3, 4, rows)
    assert stated.producer.startswith("echelon-local/")
    assert len(message.group_names) == 3 and len(message.trajectory_names) == 12
    assert message.estimator.name == "hgpo"
    assert {one.name: one.number for one in message.estimator.parameters}["historyLength"] == 2
    assert list(message.observation_texts) == []
    trajectory, step = np.frombuffer(message.trajectory, "<i4"), np.frombuffer(message.step, "<i4")
    assert (np.diff(step)[np.diff(trajectory) == 0] == 1).all() and (step[1:][np.diff(trajectory) != 0] == 0).all()


def test_texts_travel_only_when_asked_for():
    kept, _ = train("training.steps=1", "observations=texts")
    texts = batch_pb2.AdvantageBatch.FromString(kept.batches[1][0]).observation_texts
    assert any("Your task is to" in text for text in texts)


def test_metrics_have_the_recipes_names_and_evaluations_stand_at_both_ends():
    kept, _ = train("training.steps=3", "training.evaluate_every=2")
    assert sorted(kept.values) == [0, 1, 2, 3]
    assert [step for step, values in kept.values.items() if "val/success_rate" in values] == [0, 2, 3]
    wanted = """episode/success_rate episode/reward/mean episode/length/mean episode/valid_action_ratio actor/pg_loss
    actor/ppo_kl actor/kl_loss actor/grad_norm actor/entropy_loss actor/pg_clipfrac critic/advantages/mean
    timing_s/step timing_s/gen timing_s/adv timing_s/update_actor training/global_step""".split()
    for step in (1, 2, 3):
        assert set(wanted) <= set(kept.values[step])
        assert kept.values[step]["training/global_step"] == step
        assert all(np.isfinite(value) for value in kept.values[step].values())


def test_stages_and_checkpoints(tmp_path):
    kept, _ = train("training.steps=3", "training.save_every=2", f"experiment_dir={tmp_path}")
    assert ("step 2 of 3", 2, 3) in kept.stages
    assert {"evaluating", "saving"} <= {name for name, _, _ in kept.stages}
    assert kept.checkpoints == [(2, "checkpoints/step-000002.npz"), (3, "checkpoints/step-000003.npz")]
    assert all((tmp_path / path).exists() for _, path in kept.checkpoints)


def test_old_checkpoints_go_and_no_temporary_file_stays(tmp_path):
    train("training.steps=4", "training.save_every=1", f"experiment_dir={tmp_path}")
    assert sorted(os.listdir(tmp_path / "checkpoints")) == [f"step-{step:06}.npz" for step in (2, 3, 4)]
    assert checkpoints.KEPT == 3


def test_a_damaged_checkpoint_is_skipped(tmp_path, capsys):
    whole, _ = train("training.steps=2", "training.save_every=1", f"experiment_dir={tmp_path}")
    last = tmp_path / "checkpoints" / "step-000002.npz"
    last.write_bytes(last.read_bytes()[:5000])
    rest, _ = train("training.steps=2", "training.save_every=1", f"experiment_dir={tmp_path}")
    assert "step-000002.npz" in capsys.readouterr().err
    assert sorted(rest.values) == [2] and rest.curve()[2] == whole.curve()[2]


def test_checkpoints_of_other_settings_are_refused(tmp_path):
    train("training.steps=1", f"experiment_dir={tmp_path}")
    with pytest.raises(checkpoints.OtherSettings, match="training.learning_rate=0.03 there, 0.5 here"):
        train("training.steps=2", "training.learning_rate=0.5", f"experiment_dir={tmp_path}")


def test_the_console_line_is_the_recipes(capsys):
    train("training.steps=1")
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("step:1 - ")]
    assert len(lines) == 1 and re.search(r" - episode/success_rate:\d\.\d{3}( - |$)", lines[0])


def reports(kept: Kept, folder) -> list[dict]:
    """What `echelon verify` says of the optimizer steps of a training, and what `identify` says of the last one."""
    paths = [folder / f"{step}.pb" for step in kept.updates]
    for path, update in zip(paths, kept.updates.values()):
        path.write_bytes(update)
    done = subprocess.run([ECHELON, "verify", "--json", *paths], capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout)["steps"]


def test_every_action_of_the_captured_optimizer_steps_is_verified_and_capturing_changes_no_bit(tmp_path):
    kept, trained = train("training.steps=3", "training.capture_every=1", "observations=texts")
    plain, same = train("training.steps=3", "training.capture_every=0", "observations=texts")
    assert plain.updates == {} and (trained._learner.weights == same._learner.weights).all()
    for report in reports(kept, tmp_path):
        assert report["ok"] and report["findings"] == [] and report["trained"] > 20, report
        assert {stage["stage"] for stage in report["stages"]} == {"once", "gradient", "denominator", "reported"}
        assert all(stage["unverifiable"] == 0 for stage in report["stages"])


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ("token-mean-per-micro-batch", "token-mean per micro-batch; you said token-mean over all"),
        ("kl-without-gradient", "the KL term has no gradient"),
        ("old-log-probs-unused", "the ratio is 1 for every token"),
    ],
)
def test_a_planted_bug_of_the_update_is_found_and_named(tmp_path, fault, named):
    kept, _ = train("training.steps=1", "training.capture_every=1", "training.kl_coefficient=0.05", f"training.fault={fault}")
    (report,) = reports(kept, tmp_path)
    assert not report["consistent"] and any(stage["stage"] == "gradient" and stage["wrong"] for stage in report["stages"])
    command = [ECHELON, "identify", tmp_path / "1.pb"]
    assert named in subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
