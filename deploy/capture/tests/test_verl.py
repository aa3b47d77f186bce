# needs: torch
"""The hook for verl, with a module that has the names and signatures of verl's trainer."""

from __future__ import annotations

import enum
import functools
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import echelon_capture as capture
from echelon_capture import verl as hook

torch = pytest.importorskip("torch")


class Estimator(str, enum.Enum):
    GRPO = "grpo"
    RLOO = "rloo"
    GAE = "gae"
    PLUS = "reinforce_plus_plus"
    REMAX = "remax"
    OTB = "optimal_token_baseline"
    TIR = "tir_optimal_token_baseline"
    ODD = "odd"


def data():
    """Three groups of two rows; the last row's first token is not a response token."""
    mask = torch.ones(6, 4)
    mask[:, 3] = 0
    mask[5, 0] = 0
    rewards = torch.zeros(6, 4)
    rewards[:, 2] = torch.tensor([0.0, 1.0, 0.35, 0.7, 1.0, 0.1])
    values = torch.arange(24.0).view(6, 4) / 10
    log_probs = -torch.linspace(0.1, 2, 24).view(6, 4)
    probabilities = log_probs.exp()
    batch = {
        "token_level_rewards": rewards,
        "response_mask": mask,
        "values": values,
        "reward_baselines": torch.tensor([0.5, 0.5, 0.1, 0.1, 0.25, 0.25]),
        "old_log_probs": log_probs,
        "sum_pi_squared": probabilities**2 + 0.3 * (1 - probabilities) ** 2,
    }
    return SimpleNamespace(batch=batch, non_tensor_batch={"uid": ["a", "a", "b", "b", "c", "c"]})


def compute_advantage(data, adv_estimator, gamma=1.0, lam=1.0, num_repeat=1, norm_adv_by_std_in_grpo=True, config=None):
    """The formulas of verl's core_algos for groups of two rows."""
    if adv_estimator not in (Estimator.GRPO, Estimator.RLOO):
        estimate = of_tokens if adv_estimator in (Estimator.GAE, Estimator.PLUS) else less_baselines
        data.batch["advantages"] = estimate(data.batch, adv_estimator, gamma, lam)
        data.batch["advantages"][4, 1] *= config["factors"].pop(0)
        return data
    scores = data.batch["token_level_rewards"].sum(dim=-1).view(-1, 2)
    if adv_estimator == Estimator.GRPO:
        values = scores - scores.mean(1, keepdim=True)
        if norm_adv_by_std_in_grpo:
            values = values / (scores.std(1, keepdim=True) + 1e-6)
    else:
        values = scores - scores.flip(1)
    data.batch["advantages"] = values.view(-1, 1) * data.batch["response_mask"]
    return data


def of_tokens(batch, adv_estimator, gamma, lam):
    """Sums over the tokens of the mask from the last to the first, whitened over the mask."""
    rewards, mask, values = batch["token_level_rewards"], batch["response_mask"], batch["values"]
    sums, running, after = torch.zeros_like(rewards), torch.zeros(6), torch.zeros(6)
    for token in reversed(range(4)):
        if adv_estimator == Estimator.GAE:
            next_sum = rewards[:, token] + gamma * after - values[:, token] + gamma * lam * running
        else:
            next_sum = rewards[:, token] + gamma * running
        running = torch.where(mask[:, token] == 1, next_sum, running)
        after = torch.where(mask[:, token] == 1, values[:, token], after)
        sums[:, token] = running
    mean = (sums * mask).sum() / mask.sum()
    variance = ((sums - mean) ** 2 * mask).sum() / (mask.sum() - 1)
    return (sums - mean) * torch.rsqrt(variance + 1e-8) * mask


def less_baselines(batch, adv_estimator, gamma, lam):
    """Returns less the reward of a greedy response, or less the weighted mean of the returns of the group's tokens."""
    mask = batch["response_mask"]
    returns = (batch["token_level_rewards"] * mask).flip(-1).cumsum(-1).flip(-1)
    if adv_estimator == Estimator.REMAX:
        return returns - batch["reward_baselines"].unsqueeze(-1) * mask
    weights = 1 - 2 * batch["old_log_probs"].exp() + batch["sum_pi_squared"]
    if "rollout_is_weights" in batch:
        weights = weights * batch["rollout_is_weights"] ** 2
    weights = (weights * mask).cumsum(-1) * mask
    if adv_estimator == Estimator.TIR:
        # The only row with a token outside the mask before one of it: its tokens move up.
        returns[5], weights[5] = returns[5].roll(-1), weights[5].roll(-1)
    sums = [(x.view(-1, 2, 4).sum(1, keepdim=True)) for x in (returns * weights, weights)]
    baselines = (sums[0] / (sums[1] + 1e-8)).expand(-1, 2, -1).reshape(6, 4).clone()
    # Row 4 is one token longer than the other of its group.
    baselines[4, 2:] = 0
    advantages = returns - baselines
    if adv_estimator == Estimator.TIR:
        advantages[5] = advantages[5].roll(1)
    return advantages * mask


@pytest.fixture
def trainers(monkeypatch):
    """Modules by the names of verl's."""
    module, tracking = ModuleType("verl.trainer.ppo.ray_trainer"), ModuleType("verl.utils.tracking")

    class RayPPOTrainer:
        config = SimpleNamespace(actor_rollout_ref=SimpleNamespace(rollout=SimpleNamespace(n=2)))

        def fit(self, estimators, **settings):
            for self.global_steps, estimator in enumerate(estimators, 1):
                module.compute_advantage(data(), adv_estimator=estimator, **{"gamma": 1.0, "lam": 1.0, **settings})
                tracking.Tracking().log(data={"loss": 0.5}, step=self.global_steps)
            return "done"

    module.compute_advantage, module.RayPPOTrainer = compute_advantage, RayPPOTrainer
    tracking.Tracking = type("Tracking", (), {"log": lambda self, data, step, backend=None: None})
    for one in (module, tracking):
        monkeypatch.setitem(sys.modules, one.__name__, one)
    for parent in ("verl", "verl.trainer", "verl.trainer.ppo", "verl.utils"):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    for real in hook.V1_MODULES:
        # An installed verl would be followed as well, and stay so for other tests of this process.
        monkeypatch.setitem(sys.modules, real, None)
    return module


@pytest.mark.parametrize("settings", [{}, {"norm_adv_by_std_in_grpo": False}])
def test_every_advantage_of_a_training_is_captured_and_exact(folder, verify, trainers, read_lines, settings):
    hook.follow()
    hook.follow()
    assert trainers.RayPPOTrainer().fit([Estimator.GRPO, "grpo", Estimator.RLOO], **settings) == "done"
    status, reports = verify(folder)
    assert status == 0
    assert [report["name"] for report in reports] == ["step 1", "step 2", "step 3"]
    assert all(report["exact"] + report["rounding"] == 6 for report in reports)
    assert [line["values"] for line in read_lines(folder / "metrics.jsonl")] == [{"loss": 0.5}] * 3


@pytest.mark.parametrize("estimator", [Estimator.GAE, Estimator.PLUS])
@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 1.0), (0.99, 0.95)])
def test_advantages_of_tokens_are_captured_and_exact_and_a_changed_one_is_wrong(folder, verify, trainers, estimator, gamma, lam):
    hook.follow()
    settings = {"gamma": gamma, "lam": lam, "config": {"factors": [1.0, 1.01]}}
    trainers.RayPPOTrainer().fit([estimator, estimator], **settings)
    status, (clean, faulty) = verify(folder)
    assert (status, clean["wrong"], clean["exact"] + clean["rounding"]) == (1, 0, 6)
    assert (faulty["wrong"], faulty["wrongRows"]) == (1, [4])


@pytest.mark.parametrize("weights", [None, torch.linspace(0.5, 1.5, 24).view(6, 4)])
@pytest.mark.parametrize("estimator", [Estimator.REMAX, Estimator.OTB, Estimator.TIR])
def test_advantages_against_a_baseline_are_captured_and_exact_and_a_changed_one_is_wrong(
    folder, verify, trainers, monkeypatch, estimator, weights
):
    if weights is not None:
        given = data

        def weighted():
            one = given()
            one.batch["rollout_is_weights"] = weights
            return one

        monkeypatch.setitem(globals(), "data", weighted)
    hook.follow()
    trainers.RayPPOTrainer().fit([estimator, estimator], config={"factors": [1.0, 1.01]})
    status, (clean, faulty) = verify(folder)
    assert (status, clean["wrong"], clean["exact"] + clean["rounding"]) == (1, 0, 6), clean
    assert (faulty["wrong"], faulty["wrongRows"]) == (1, [4])
    assert ("rollout-squared" in clean["fingerprint"]) == (weights is not None and estimator != Estimator.REMAX)


def test_the_trainer_of_v1_is_followed_once_a_batch(folder, verify, trainers, monkeypatch):
    utils, base = (ModuleType(name) for name in hook.V1_MODULES)
    utils.compute_advantage = trainers.compute_advantage

    class PPOTrainer:
        config = trainers.RayPPOTrainer.config

        def fit(self, manager):
            for self.global_steps in (1, 2):
                utils.compute_advantage(data(), adv_estimator=manager)
                sys.modules["verl.utils.tracking"].Tracking().log(data={"actor/pg_loss": 0.5}, step=self.global_steps)

    base.PPOTrainer = PPOTrainer
    for one in (utils, base, ModuleType("verl.trainer.ppo.v1")):
        monkeypatch.setitem(sys.modules, one.__name__, one)
    hook.follow()
    PPOTrainer().fit(Estimator.GRPO)
    status, reports = verify(folder)
    assert (status, [report["name"] for report in reports]) == (0, ["step 1", "step 2"])
    assert not (folder / "gaps.jsonl").exists()


def test_an_update_from_advantages_that_were_not_seen_is_a_gap(folder, trainers, read_lines):
    hook.follow()
    log = sys.modules["verl.utils.tracking"].Tracking().log
    log(data={"val/reward": 0.1}, step=0)
    log(data={"actor/pg_loss": 0.5}, step=1)
    capture.close()
    (gap,) = read_lines(folder / "gaps.jsonl")
    assert (gap["step"], gap["rows"]) == (1, 0)
    assert "without a function that the capture follows" in gap["reason"]


def test_a_single_token_with_another_advantage_than_its_row_is_wrong(folder, verify, trainers):
    @functools.wraps(compute_advantage)
    def faulty(data, *arguments, **settings):
        compute_advantage(data, *arguments, **settings).batch["advantages"][5, 2] += 0.5
        return data

    trainers.compute_advantage = faulty
    hook.follow()
    trainers.RayPPOTrainer().fit([Estimator.GRPO])
    status, (report,) = verify(folder)
    assert (status, report["wrongRows"], report["exact"] + report["rounding"]) == (1, [5], 5)


def test_a_batch_that_is_not_verifiable_is_a_gap_with_the_reason(folder, trainers, read_lines):
    hook.follow()
    config = {"use_pf_ppo": True, "factors": [1.0, 1.0]}
    trainers.RayPPOTrainer().fit([Estimator.ODD, Estimator.GAE], config=config)
    unknown, drawn = read_lines(folder / "gaps.jsonl")
    assert (unknown["step"], unknown["rows"]) == (1, 6)
    assert "'odd'" in unknown["reason"]
    assert "use_pf_ppo" in drawn["reason"]


def steps(seed: int):
    """Two groups of two trajectories of one to three steps: rows as verl-agent's rollouts collect them, one list an environment."""
    chance = torch.Generator().manual_seed(seed)
    return [
        [
            {
                "active_masks": True,
                "uid": f"g{trajectory // 2}",
                "traj_uid": f"t{trajectory}",
                "anchor_obs": f"room {step}",
                "is_action_valid": np.bool_(True),
                "rewards": np.float32(trajectory % 2 if step == trajectory % 3 else 0),
                "responses": torch.randint(1, 1000, (4,), generator=chance),
            }
            for step in range(trajectory % 3 + 1)
        ]
        for trajectory in range(4)
    ]


class Data:
    """The part of a DataProto that the hook reads."""

    def __len__(self):
        return len(self.rows)

    def __init__(self, rows):
        columns = ("uid", "traj_uid", "anchor_obs", "is_action_valid", "rewards")
        self.rows = rows
        self.non_tensor_batch = {key: np.array([row[key] for row in rows], dtype=object) for key in columns}
        wins = {row["traj_uid"]: float(row["rewards"]) for row in rows if row["rewards"]}
        rewards = torch.zeros(len(rows), 4)
        rewards[:, 3] = torch.tensor([wins.get(row["traj_uid"], 0.0) for row in rows])
        responses = torch.stack([row["responses"] for row in rows])
        self.batch = {"responses": responses, "response_mask": torch.ones(len(rows), 4), "token_level_rewards": rewards}


def settings_of(**changes):
    """The parts of verl-agent's configuration that the hook reads."""
    actor = {"invalid_action_penalty_coef": 0.1}
    given = SimpleNamespace(get=actor.get, **actor)
    rollout = SimpleNamespace(n=2)
    return SimpleNamespace(
        actor_rollout_ref=SimpleNamespace(actor=given, rollout=rollout), algorithm=SimpleNamespace(gamma=0.95),
        env=SimpleNamespace(rollout=rollout), **changes,
    )  # fmt: skip


@pytest.fixture
def agent(trainers):
    """The module as verl-agent has it."""

    class TrajectoryCollector:
        def gather_rollout_data(self, total_batch_list):
            return Data([step for trajectory in total_batch_list for step in trajectory])

    def adjust_batch(config, data):
        return Data([*data.rows, data.rows[1], data.rows[4]])

    def estimated(data, adv_estimator, gamma=1.0, lam=1.0, **kwargs):
        """GRPO over all rows of a group."""
        scores = data.batch["token_level_rewards"].sum(-1)
        values = torch.zeros_like(scores)
        for group in set(data.non_tensor_batch["uid"]):
            own = torch.tensor(data.non_tensor_batch["uid"] == group)
            values[own] = (scores[own] - scores[own].mean()) / (scores[own].std() + 1e-6)
        data.batch["advantages"] = values.view(-1, 1) * data.batch["response_mask"]
        return data

    def fit(self, prepare=lambda self, data: data):
        collector = trainers.TrajectoryCollector()
        for self.global_steps in (1, 2):
            data = prepare(self, collector.gather_rollout_data(steps(self.global_steps)))
            trainers.compute_advantage(data, Estimator.GRPO, gamma=0.95, step_advantage_w=1.0, use_pf_ppo=False)

    trainers.TrajectoryCollector, trainers.adjust_batch, trainers.compute_advantage = TrajectoryCollector, adjust_batch, estimated
    trainers.RayPPOTrainer.config = settings_of()
    trainers.RayPPOTrainer.fit = fit
    trainers.RayPPOTrainer._balance_batch = lambda self, data: data.__init__(data.rows[::-1])
    return trainers


def padded_and_balanced(trainers):
    def prepare(trainer, data):
        data = trainers.adjust_batch(trainer.config, data)
        trainer._balance_batch(data)
        return data

    return prepare


def test_rows_that_verl_agent_pads_and_balances_first_are_verified_with_their_copies(folder, verify, agent):
    hook.follow()
    agent.RayPPOTrainer().fit(padded_and_balanced(agent))
    status, reports = verify(folder)
    assert status == 0, reports
    assert [report["rows"] for report in reports] == [9, 9]
    assert all(report["fingerprint"].endswith("rows=padded-balanced)") for report in reports)


def test_rows_of_verl_agent_that_are_as_collected_say_so_and_a_shuffle_is_found(folder, verify, agent):
    hook.follow()
    agent.RayPPOTrainer().fit()
    status, (first, _second) = verify(folder)
    assert status == 0 and "rows=" not in first["fingerprint"]
    agent.RayPPOTrainer().fit(lambda trainer, data: Data(data.rows[::-1]))
    status, reports = verify(folder)
    assert status == 1
    assert "steps-out-of-order" in [one["code"] for one in reports[-1]["findings"]], reports[-1]["findings"]


def test_a_copy_that_verl_agent_does_not_make_itself_is_found(folder, verify, agent):
    hook.follow()
    for rows in (lambda data: agent.adjust_batch(None, data).rows, lambda data: data.rows):
        agent.RayPPOTrainer().fit(lambda trainer, data: Data([*rows(data), data.rows[0]]))
        _status, reports = verify(folder)
        assert "row-duplicated" in [one["code"] for one in reports[-1]["findings"]], reports[-1]["findings"]


def test_each_row_gets_its_place_which_reaches_the_actor_with_it(folder, trainers, monkeypatch):
    from echelon_capture.row_marks import ROW, STEP

    results, own = [], trainers.compute_advantage
    monkeypatch.setattr(trainers, "compute_advantage", lambda *given, **named: results.append(own(*given, **named)) or results[-1])
    hook.follow()
    trainers.RayPPOTrainer().fit([Estimator.GRPO, Estimator.GRPO])
    assert [result.batch[ROW].tolist() for result in results] == [[step * STEP + row for row in range(6)] for step in (1, 2)]
