"""The capture hook's parts without Ray: what is copied, what happens if it fails, and the float64 estimator."""

import sys
import threading
import types

import numpy as np
import pytest
from conftest import until
from verl_agent_support import CONFIG, Mapping

from echelon_capture.reporter import Reporter
from echelon_rayworker.engines.verl_agent import capture, hook
from echelon_rayworker.gen import batch_pb2


class Spool:
    """Keeps what is reported."""

    def __init__(self) -> None:
        self.batches, self.gaps, self.values = [], [], {}

    def batch(self, step: int, data: bytes, rows: int) -> None:
        self.batches.append((step, data, rows))

    def gap(self, step: int, rows: int, reason: str) -> None:
        self.gaps.append((step, rows, reason))

    def metrics(self, step: int, values: dict) -> None:
        self.values[step] = values


def test_a_reporter_that_is_too_slow_drops_batches_and_keeps_the_rest():
    spool, held = Spool(), threading.Event()
    reporter = Reporter(spool, batch_capacity=2)

    def slow() -> bytes:
        assert held.wait(30)
        return b"late"

    reporter.batch(1, 10, slow)
    for step in (2, 3, 4):
        reporter.batch(step, 10, lambda: b"x")
        reporter.metrics(step, {"a": step})
    assert not reporter.flush(0.01)
    held.set()
    assert reporter.flush(30)
    assert [step for step, _, _ in spool.batches] == [1, 2]
    assert [(step, rows) for step, rows, _ in spool.gaps] == [(3, 10), (4, 10)] and "too slow" in spool.gaps[0][2]
    assert sorted(spool.values) == [2, 3, 4] and reporter.dropped == 2


def test_a_batch_that_cannot_be_built_is_a_gap_with_the_reason():
    spool = Spool()
    reporter = Reporter(spool)
    reporter.batch(7, 3, lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    assert reporter.flush(30)
    assert spool.gaps == [(7, 3, "the batch could not be built: ZeroDivisionError: division by zero")]
    assert reporter.failures == 1


def test_a_spool_that_raises_does_not_stop_the_reporter():
    spool = Spool()
    reporter = Reporter(spool)
    spool.metrics = lambda *_: 1 / 0  # type: ignore[method-assign]
    reporter.metrics(1, {})
    reporter.gap(2, 1, "still there")
    assert reporter.flush(30) and spool.gaps == [(2, 1, "still there")] and reporter.failures == 1


def recipe(monkeypatch: pytest.MonkeyPatch, compute) -> tuple:
    """Modules where the recipe's are, with a compute_advantage and a trainer of ours."""
    trainer = types.ModuleType(hook.TRAINER_MODULE)
    tracking = types.ModuleType("verl.utils.tracking")

    class RayPPOTrainer:
        config, global_steps = CONFIG, 5

        def fit(self, work):
            return work()

    class Tracking:
        logged: list = []

        def log(self, data, step, backend=None):
            self.logged.append((dict(data), step))

    trainer.compute_advantage, trainer.RayPPOTrainer, tracking.Tracking = compute, RayPPOTrainer, Tracking
    monkeypatch.setitem(__import__("sys").modules, hook.TRAINER_MODULE, trainer)
    monkeypatch.setitem(__import__("sys").modules, "verl.utils.tracking", tracking)
    for name in ("recipe", "recipe.hgpo", "verl", "verl.utils"):
        monkeypatch.setitem(__import__("sys").modules, name, types.ModuleType(name))
    return trainer, tracking


@pytest.mark.parametrize("data", [None, object(), {"batch": 1}])
def test_whatever_the_trainer_hands_over_it_gets_its_own_result(monkeypatch, capsys, data):
    """A capture hook that understands nothing of its input says so, and returns the very object."""
    result = [1, 2, 3]
    trainer, _ = recipe(monkeypatch, lambda data, adv_estimator, **kwargs: result)
    spool = Spool()
    installed = hook.install({}, spool)
    got = trainer.RayPPOTrainer().fit(lambda: trainer.compute_advantage(data, adv_estimator="hgpo", gamma=1))
    assert got is result and installed.failures > 0
    assert "the training continues" in capsys.readouterr().out
    assert spool.gaps == [(5, 3, "the batch could not be copied")]


def test_the_hook_of_graphgpo_records_the_next_observations_with_the_goal_and_states_its_settings(monkeypatch):
    objects = {
        "uid": np.array(["g", "g"], dtype=object),
        "traj_uid": np.array(["t", "t"], dtype=object),
        "anchor_obs": np.array(["A", "B"], dtype=object),
        "next_obs": np.array(["B", "success"], dtype=object),
        "rewards": np.array([0.0, 10.0]),
        "is_action_valid": np.array([True, False]),
    }
    columns = capture.copy_inputs(types.SimpleNamespace(batch={}, non_tensor_batch=objects), "graphgpo")
    call = {"adv_estimator": "graphgpo", "gigpo_mode": "mean_norm", "step_advantage_w": 0.5, "episode_advantage_w": 2.0}
    graph = Mapping(normalize_distance=True, enable_similarity=False)
    config = Mapping(CONFIG, algorithm=Mapping(gamma=0.1, graphgpo=graph))
    facts = capture.estimator_facts("graphgpo", call, config)
    assert facts == {
        "name": "graphgpo", "mode": "mean_norm", "distance": "progress", "gamma": 0.1, "invalid_action_penalty": 0.1,
        "step_advantage_weight": 0.5, "episode_advantage_weight": 2.0, "merged_states": False,
    }  # fmt: skip
    message = batch_pb2.AdvantageBatch.FromString(capture.serialize(columns, facts, {"training_step": 1}))
    assert np.frombuffer(message.observation, "<i4").tolist() == [0, 1]
    assert np.frombuffer(message.next_observation, "<i4").tolist() == [2, 0]
    monkeypatch.setitem(sys.modules, "recipe.GraphGPO.graphgpo_ray_trainer", types.ModuleType("trainer"))
    assert hook._trainer_module() == "recipe.GraphGPO.graphgpo_ray_trainer"


def test_an_error_of_the_recipe_is_the_recipes(monkeypatch):
    def compute(data, adv_estimator):
        raise NotImplementedError(adv_estimator)

    trainer, _ = recipe(monkeypatch, compute)
    hook.install({}, Spool())
    with pytest.raises(NotImplementedError, match="odd"):
        trainer.RayPPOTrainer().fit(lambda: trainer.compute_advantage(None, adv_estimator="odd"))


def test_it_is_installed_once_and_metrics_are_taken_at_full_precision(monkeypatch):
    trainer, tracking = recipe(monkeypatch, lambda data, adv_estimator: data)
    spool = Spool()
    installed = hook.install({}, spool)
    wrapped = trainer.compute_advantage
    assert hook.install({}, Spool()) is installed and trainer.compute_advantage is wrapped and hook.current() is installed
    given = {"a b (c)": np.float32(0.1), "flag": np.bool_(True), "word": "1", "whole": 3, "none": None}
    tracking.Tracking().log(given, 4)
    assert installed.reporter.flush(30)
    assert spool.values[4]["a b (c)"] == float(np.float32(0.1)) and spool.values[4]["flag"] == 1.0
    assert set(spool.values[4]) == {"a b (c)", "flag", "whole", "echelon/capture_s"}
    assert tracking.Tracking.logged == [(given, 4)]


def test_a_recipe_of_another_shape_is_not_half_wrapped(monkeypatch):
    trainer, _ = recipe(monkeypatch, lambda data: data)
    before = trainer.compute_advantage
    del trainer.RayPPOTrainer
    with pytest.raises(AttributeError):
        hook.install({}, Spool())
    assert trainer.compute_advantage is before and hook.current() is None


def test_the_rows_that_the_recipe_copies_are_drawn_again_in_the_same_step(monkeypatch):
    trainer, _ = recipe(monkeypatch, lambda data, adv_estimator: data)
    trainer.adjust_batch = lambda config, data: np.random.choice(data, 5, replace=False).tolist()
    hook.install({}, Spool())
    run = trainer.RayPPOTrainer()

    def drawn(step: int, seed: int) -> list[int]:
        run.global_steps = step
        config = Mapping(env=Mapping(seed=seed))
        return run.fit(lambda: trainer.adjust_batch(config, 1000))

    assert drawn(1, 0) == drawn(1, 0)
    assert len({tuple(drawn(step, seed)) for step in (1, 2) for seed in (0, 1)}) == 4


def test_what_cannot_be_verified_has_a_reason():
    for call, reason in (
        ({"adv_estimator": "remax", "data": types.SimpleNamespace(batch={})}, "greedy rollout"),
        ({"adv_estimator": "odd"}, "no kernel for the estimator 'odd'"),
        ({"adv_estimator": "gae", "use_pf_ppo": True}, "use_pf_ppo"),
    ):
        assert reason in capture.not_verifiable(call)
    assert capture.not_verifiable({"adv_estimator": "gae", "use_pf_ppo": False}) is None


def test_a_reporters_thread_is_started_by_the_first_report_only():
    before = set(threading.enumerate())
    reporter = Reporter(Spool())
    assert not set(threading.enumerate()) - before
    reporter.metrics(1, {})
    assert until(lambda: set(threading.enumerate()) - before)


def test_a_critic_of_several_gpus_gets_rows_that_divide_and_the_trainer_gets_its_own_rows_back(monkeypatch: pytest.MonkeyPatch):
    protocol = types.SimpleNamespace(
        pad_dataproto_to_divisor=lambda data, size: (data + data[: -len(data) % size], -len(data) % size),
        unpad_dataproto=lambda data, pad_size: data[:-pad_size] if pad_size else data,
    )
    monkeypatch.setattr(hook.importlib, "import_module", {"verl.protocol": protocol}.__getitem__)

    class Critic:
        def __init__(self, world_size: int) -> None:
            self.world_size, self.asked = world_size, []

        def compute_values(self, data: list[int]) -> list[int]:
            self.asked.append(len(data))
            return [2 * one for one in data]

    for size, rows, asked in ((4, 10, 12), (4, 8, 8), (1, 7, 7)):
        critic = Critic(size)
        hook._pad_values(types.SimpleNamespace(critic_wg=critic))
        assert critic.compute_values(list(range(rows))) == [2 * one for one in range(rows)]
        assert critic.asked == [asked]
    hook._pad_values(types.SimpleNamespace())
