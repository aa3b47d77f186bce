"""The capture hook's parts without Ray: what is copied, what happens if it fails, and the float64 estimator."""

import importlib
import sys
import threading
import types

import numpy as np
import pytest
from conftest import until
from verl_agent_support import STANDIN, verify, verify_arguments

from echelon_rayworker.engines.verl_agent import capture, exact_hgpo, hook
from echelon_rayworker.engines.verl_agent.reporter import Reporter
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


class Mapping(dict):
    __getattr__ = dict.__getitem__


CONFIG = Mapping(
    algorithm=Mapping(gamma=0.5, filter_groups=Mapping(enable=False)),
    actor_rollout_ref=Mapping(actor=Mapping(invalid_action_penalty_coef=0.1)),
    env=Mapping(rollout=Mapping(n=2)),
    data=Mapping(train_batch_size=1),
)


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


def columns(seed: int) -> dict:
    chance = np.random.default_rng(seed)
    group, trajectory, observation, reward = [], [], [], []
    for t in range(24):
        length, won = int(chance.integers(1, 12)), chance.random() < 0.5
        for step in range(length):
            group.append(f"g{t // 8}")
            trajectory.append(f"t{t}")
            observation.append(f"room {chance.integers(0, 3)}")
            reward.append(10.0 if won and step == length - 1 else 0.0)
    valid = chance.random(len(group)) > 0.2
    return dict(group=group, trajectory=trajectory, observation=observation, reward=reward, action_valid=valid)


@pytest.mark.parametrize("mode", ["mean_std_norm", "mean_norm"])
@pytest.mark.parametrize("base_group", [False, True])
def test_float64_hgpo_is_exact_for_the_verifier(tmp_path, mode: str, base_group: bool):
    facts = dict(name="hgpo", history_length=2, mode=mode, length_weight_alpha=1.5, base_group=base_group, gamma=0.95,
                 invalid_action_penalty=0.1, precision="float64")  # fmt: skip
    batches = []
    for seed in range(4):
        given = columns(seed)
        returns = exact_hgpo.step_returns(
            np.array(given["reward"]), given["trajectory"], given["action_valid"], 0.95, 0.1
        )
        total = {name: 0.0 for name in given["trajectory"]}
        for name, one in zip(given["trajectory"], given["reward"]):
            total[name] += one
        score = np.array([total[name] for name in given["trajectory"]]) - 0.1 * ~given["action_valid"]
        values = exact_hgpo.hgpo(returns, score, given["group"], given["trajectory"], given["observation"], facts)
        step = capture.positions(np.array(given["trajectory"], dtype=object))
        batches.append(dict(**given, estimator=facts, step=step, token_level_reward_sum=score, step_reward=returns.astype("f"), advantage=values.astype("f")))  # fmt: skip
    for report in verify_arguments(batches, tmp_path / "exact.json")["batches"]:
        assert report["rows"] == report["exact"] > 0, report
        assert not [one for one in report["findings"] if one["severity"] == "error"], report["findings"]


def test_a_cluster_of_equal_returns_gives_nothing_in_float64():
    facts = dict(history_length=0, mode="mean_std_norm", length_weight_alpha=1.0, base_group=False)
    value = np.full(3, 10 * 0.95**12)
    names = ["g", "g", "g"]
    assert exact_hgpo.hgpo(value, value, names, ["a", "b", "c"], ["x", "x", "x"], facts).tolist() == [0, 0, 0]
    # A NaN reaches the rows it is compared with, as in the recipe.
    value = np.array([1.0, np.nan, 3.0])
    assert np.isnan(exact_hgpo.hgpo(value, value, names, ["a", "b", "c"], ["x", "x", "x"], facts)).all()


def test_tensors_are_copied_and_rows_numbered_at_their_source():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    responses = torch.arange(12).reshape(4, 3)
    steps = [
        {"responses": responses[row], "rewards": float(row), "anchor_obs": "o", "traj_uid": "t", "active_masks": row < 3}
        for row in range(4)
    ]
    source = capture.Source.of([steps])
    assert source.rows == 3
    order = [2, 0, 1]
    data = types.SimpleNamespace(
        batch={"responses": responses[order], "step_rewards": torch.ones(3), "token_level_rewards": torch.ones(3, 2),
               "response_mask": torch.ones(3, 3, dtype=torch.int64)},
        non_tensor_batch={key: np.array([steps[row][name] for row in order], dtype=object) for key, name in
                          (("uid", "traj_uid"), ("traj_uid", "traj_uid"), ("anchor_obs", "anchor_obs"), ("rewards", "rewards"))},
    )  # fmt: skip
    taken = capture.copy_inputs(data, "hgpo")
    data.batch["step_rewards"] += 1
    data.non_tensor_batch["anchor_obs"][0] = "changed"
    assert taken["step_reward"].tolist() == [1, 1, 1] and taken["observation"].tolist() == ["o", "o", "o"]
    assert taken["response_length"].tolist() == [3, 3, 3] and taken["token_level_reward_sum"].tolist() == [2, 2, 2]
    assert source.numbers(taken) == order
    taken["marks"] = taken["marks"] + 1
    assert source.numbers(taken) == [-1, -1, -1]
    taken["trajectory"] = np.array(["another"] * 3, dtype=object)
    assert source.numbers(taken) is None
    facts = capture.estimator_facts("hgpo", {}, CONFIG)
    message = batch_pb2.AdvantageBatch.FromString(
        capture.serialize({**taken, "advantage": [0, 0, 0]}, facts, capture.provenance_facts(CONFIG, 9, "e", 2))
    )
    assert np.frombuffer(message.step, "<i4").tolist() == [0, 1, 2] and message.provenance.training_step == 9


class Tokenizer:
    """Decodes as Hugging Face's tokenizers do: one text per row of token ids."""

    WORDS = ["<pad>", "<think>left?</think>", "<action>go left</action>", "<action>go right</action>", "no tags"]

    def batch_decode(self, rows, skip_special_tokens):
        return ["".join(self.WORDS[token] for token in row if not (skip_special_tokens and token == 0)) for row in rows]


@pytest.mark.parametrize("texts", [True, False])
def test_texts_of_actions_are_recorded_where_texts_are(texts: bool):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    responses = torch.tensor([[1, 2, 0], [2, 3, 0], [4, 0, 0]])
    data = types.SimpleNamespace(batch={"responses": responses})
    names = np.array(["a", "b", "c"], dtype=object)
    columns = {"group": names, "trajectory": names, "lengths": None, "reward": None, "marks": None}
    columns["responses"] = capture.copy_responses(data, Tokenizer())
    responses.zero_()
    facts = {"name": "grpo", "normalize_by_std": True, "gamma": 1.0, "invalid_action_penalty": 0.0}
    provenance = capture.provenance_facts(CONFIG, 9, "e", 2)
    message = batch_pb2.AdvantageBatch.FromString(capture.serialize(columns, facts, provenance, texts=texts))
    assert list(message.action_texts) == (["go left", "go right", "no tags"] if texts else [])
    assert capture.copy_responses(data, None) is None
    assert capture.action_text("x" * 3000) == "x" * 2000 + " …"


SIZE = (12, 6)


def token_data(torch, seed: int):
    """Three groups of four responses of several lengths, padded; the critic's value of the first padding counts."""
    chance = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, SIZE[1] + 1, (SIZE[0],), generator=chance)
    places = torch.arange(SIZE[1]).expand(SIZE)
    rewards = torch.rand(SIZE, generator=chance) * (places == lengths.unsqueeze(-1) - 1)
    batch = {
        "token_level_rewards": rewards,
        "response_mask": (places < lengths.unsqueeze(-1)).long(),
        "values": torch.randn(SIZE, generator=chance) * (places <= lengths.unsqueeze(-1)),
    }
    objects = {"uid": np.array([f"g{row // 4}" for row in range(SIZE[0])], dtype=object)}
    objects["traj_uid"] = np.array([f"t{row}" for row in range(SIZE[0])], dtype=object)
    return types.SimpleNamespace(batch=batch, non_tensor_batch=objects)


def standin_trainer():
    """The stand-in's trainer module."""
    sys.path.insert(0, str(STANDIN))
    try:
        return importlib.import_module(hook.TRAINER_MODULE)
    finally:
        sys.path.remove(str(STANDIN))


@pytest.mark.parametrize(
    ("estimator", "settings", "fingerprint"),
    [
        ("gae", {"gamma": 1.0, "lam": 0.95}, "gae(discount=1,lambda=0.95,masked=include,"),
        ("gae", {"gamma": 0.99, "lam": 1.0}, "gae(discount=0.99,lambda=1,masked=include,"),
        ("reinforce_plus_plus", {"gamma": 0.9, "lam": 1.0}, "reinforce_plus_plus_token(discount=0.9,masked=reset,"),
        ("reinforce_plus_plus_baseline", {}, "reinforce_plus_plus(baseline=group,"),
        ("grpo_passk", {}, "grpo_passk(std=sample,"),
        ("grpo_passk", {"norm_adv_by_std_in_grpo": False}, "grpo_passk(std=none)"),
    ],
)
def test_advantages_of_tokens_and_of_the_best_row_verify(tmp_path, estimator: str, settings: dict, fingerprint: str):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    data = token_data(torch, 7)
    call = {"data": data, "adv_estimator": estimator, **settings}
    columns = capture.copy_inputs(data, estimator)
    result = standin_trainer().compute_advantage(**call)
    assert capture.not_verifiable(call) is None
    capture.copy_advantages(result, columns)
    facts = {**capture.estimator_facts(estimator, call, CONFIG), "forms": capture.forms_of(estimator, result)}
    row = int(result.batch["advantages"].abs().sum(-1).argmax())

    def report_of():
        message = capture.serialize(columns, facts, {"training_step": 9, "group_size": 4, "groups": 3})
        (report,) = verify([batch_pb2.AdvantageBatch.FromString(message)], tmp_path / "batch.json")["batches"]
        return report

    report = report_of()
    assert report["ok"] and report["rows"] == report["exact"] + report["rounding"] == SIZE[0], report
    assert report["fingerprint"].startswith(fingerprint), report["fingerprint"]
    if capture.not_verifiable(call) is None and "tokens" not in columns:
        # One planted fault: a single token of a row.
        given = result.batch["advantages"][row].clone()
        result.batch["advantages"][row, int(result.batch["response_mask"][row].sum()) - 1] += 0.5
        capture.copy_advantages(result, columns)
        assert report_of()["wrongRows"] == [row] and [len(one) for one in columns.pop("tokens")["mask"]]
        result.batch["advantages"][row] = given
    # One planted fault: a row's advantages are too large by a hundredth.
    result.batch["advantages"][row] *= 1.01
    capture.copy_advantages(result, columns)
    assert report_of()["wrongRows"] == [row]


def test_what_cannot_be_verified_has_a_reason():
    for call, reason in (
        ({"adv_estimator": "remax", "data": types.SimpleNamespace(batch={})}, "greedy rollout"),
        ({"adv_estimator": "odd"}, "no kernel for the estimator 'odd'"),
        ({"adv_estimator": "gae", "use_pf_ppo": True}, "use_pf_ppo"),
    ):
        assert reason in capture.not_verifiable(call)
    assert capture.not_verifiable({"adv_estimator": "gae", "use_pf_ppo": False}) is None


@pytest.mark.parametrize(
    ("estimator", "device", "forms"),
    [("hgpo", "cpu", "recipe"), ("hgpo", "meta", "any"), ("gigpo", "meta", "recipe"), ("gae", "meta", "any")],
)
def test_hgpo_on_another_device_than_the_cpu_is_verified_against_all_forms(estimator: str, device: str, forms: str):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    # A device without a real GPU: all that counts is that it is not the CPU.
    result = types.SimpleNamespace(batch={"advantages": torch.zeros(2, 3, device=device)})
    assert capture.forms_of(estimator, result) == forms


def test_a_reporters_thread_is_started_by_the_first_report_only():
    reporter = Reporter(Spool())
    before = threading.active_count()
    reporter.metrics(1, {})
    assert until(lambda: threading.active_count() == before + 1)


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
