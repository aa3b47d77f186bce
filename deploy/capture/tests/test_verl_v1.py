# needs: verl
"""The hook for the trainer of verl's `trainer.use_v1`, with verl's own functions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
utils = pytest.importorskip("verl.trainer.ppo.v1.utils")

from tensordict import TensorDict  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.trainer.config import AlgoConfig  # noqa: E402
from verl.trainer.ppo.v1 import PPOTrainerSync, trainer_base  # noqa: E402

from echelon_capture import verl as hook  # noqa: E402

GROUPS, SIZE, TOKENS = 4, 4, 6


def rollout(seed: int, outputs: int) -> tuple[DataProto, list[str]]:
    """`outputs` outputs of each session, with verl's keys of them; only the last one of a session has a reward."""
    torch.manual_seed(seed)
    keys = [f"{uid}_{session}_{index}" for uid in range(GROUPS) for session in range(SIZE) for index in range(outputs)]
    rows = len(keys)
    mask = (torch.arange(TOKENS) < torch.randint(2, TOKENS + 1, (rows, 1))).long()
    rewards = torch.zeros(rows, TOKENS)
    rewards[torch.arange(rows), mask.sum(-1) - 1] = torch.rand(rows)
    log_probs = -torch.rand(rows, TOKENS)
    tensors = {
        "response_mask": mask, "token_level_rewards": rewards, "token_level_scores": rewards,
        "values": torch.rand(rows, TOKENS), "old_log_probs": log_probs, "ref_log_prob": log_probs,
    }  # fmt: skip
    data = DataProto(batch=TensorDict(tensors, batch_size=rows))
    data.non_tensor_batch["uid"] = np.array([key.split("_")[0] for key in keys], dtype=object)
    return data, keys


@pytest.fixture
def trainer(monkeypatch):
    """A PPOTrainer whose `fit` only computes advantages, as its own step does: of these estimators, one a step."""

    def fit(self, estimators, outputs):
        for self.global_steps, estimator in enumerate(estimators, 1):
            data, keys = rollout(self.global_steps, outputs)
            utils.compute_advantage_for_multi_trajectories(
                data, batch_keys=keys, adv_estimator=estimator, gamma=1.0, lam=0.95, num_repeat=SIZE, config=AlgoConfig()
            )

    from verl.trainer.ppo import ray_trainer
    from verl.utils.tracking import Tracking

    for owner, name in ((utils, "compute_advantage"), (ray_trainer, "compute_advantage"), (Tracking, "log")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(ray_trainer.RayPPOTrainer, "fit", ray_trainer.RayPPOTrainer.fit)
    monkeypatch.setattr(trainer_base.PPOTrainer, "fit", fit)
    hook.follow()
    made = object.__new__(PPOTrainerSync)
    made.config = SimpleNamespace(actor_rollout_ref=SimpleNamespace(rollout=SimpleNamespace(n=SIZE)))
    yield made
    for module in (utils, ray_trainer):
        delattr(module, hook._MARK)


@pytest.mark.parametrize("outputs", [1, 2])
def test_batches_of_the_trainer_are_captured_once_and_exact(folder, verify, trainer, outputs):
    estimators = ["grpo", "rloo", "gae", "reinforce_plus_plus"]
    trainer.fit(estimators, outputs)
    status, reports = verify(folder)
    assert (status, len(reports)) == (0, len(estimators)), reports
    # Of GRPO, verl compares the last output of each session.
    rows = GROUPS * SIZE
    assert [report["rows"] for report in reports] == [rows, *[rows * outputs] * 3]


def test_a_wrong_advantage_of_the_trainer_is_found(folder, verify, trainer, monkeypatch):
    original = utils.core_algos.compute_grpo_outcome_advantage

    def faulty(*arguments, **keywords):
        advantages, returns = original(*arguments, **keywords)
        advantages[3] *= 1.5
        return advantages, returns

    monkeypatch.setitem(utils.core_algos.ADV_ESTIMATOR_REGISTRY, "grpo", faulty)
    monkeypatch.setattr(utils.core_algos, "compute_grpo_outcome_advantage", faulty)
    trainer.fit(["grpo"], 1)
    status, (report,) = verify(folder)
    assert (status, report["wrongRows"]) == (1, [3])
