# needs: verl
"""What verl's driver gives its actors with the batch: digests of the rows as their old log-probs were computed, and the limits of the
rollout weights. On two ranks, with verl's own engine, losses and weights."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from echelon_capture import verl, verl_rows
from ranks_support import run_ranks
from steps_support import by_case
from test_verl_ranks import counts_of, own_places
from verl_ranks_support import mark_rows, trains


def driver(threshold=None, level="token", used=None, after=None):
    """What happens to a batch in the driver. `threshold` of the configuration, `used`: of the weights. `after` changes the rows that have
    their digests."""

    def prepare(data):
        import torch
        from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights

        old, mask = data["old_log_probs"], data["response_mask"]
        if threshold is not None:
            data["rollout_log_probs"] = old + 0.3 * torch.randn(old.shape)
            ratios = old - data["rollout_log_probs"]
            data["rollout_is_weights"], _ = compute_rollout_correction_weights(ratios, mask, level, used or threshold)
            correction = dict(rollout_is=level, rollout_is_threshold=threshold)
            text = verl_rows.correction_of(SimpleNamespace(algorithm=dict(rollout_correction=correction)))
            from verl.utils import tensordict_utils as tu

            tu.assign_non_tensor(data, **{verl_rows.CORRECTION: text})
        mark_rows(data)
        if after:
            after(data)

    return dict(places=own_places, received=prepare)


def tools_trained(data):
    """The mask of the loss holds every token of a response."""
    data["response_mask"] = data["loss_mask"] = data["attention_mask"][:, 4:]


def rolled(key):
    def change(data):
        data[key] = data[key].roll(1, dims=0)

    return change


RIGHT = {
    "digests": driver(),
    "tokens of tools": dict(**driver(), rows=dict(tools=True)),
    "a cap of tokens": driver(1.2),
    "a mask of tokens": driver("0.8_1.2"),
    "a cap of sequences": driver(1.3, "sequence"),
    "a mask of sequences": driver("0.7_1.4", "sequence"),
}
PLANTED = {
    "old log-probs that moved by a row": driver(after=rolled("old_log_probs")),
    "ids that moved by a row": driver(after=rolled("responses")),
    "a mask with tokens of tools": dict(**driver(after=tools_trained), rows=dict(tools=True)),
    "another cap than the configured one": driver(1.2, used=2.0),
    "a cap where a mask is configured": driver("0.8_1.2", used=1.2),
    "weights of tokens where those of sequences are configured": driver(1.3, "sequence", after=lambda data: of_tokens(data)),
}


def of_tokens(data):
    from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights

    ratios = data["old_log_probs"] - data["rollout_log_probs"]
    data["rollout_is_weights"], _ = compute_rollout_correction_weights(ratios, data["response_mask"], "token", 1.3)


CASES = {
    **{f"right/{name}": trains(**settings) for name, settings in RIGHT.items()},
    **{f"planted/{name}": trains(**settings, updates=1) for name, settings in PLANTED.items()},
}


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """The folder in which all cases captured."""
    pytest.importorskip("verl.workers.engine_workers")
    folder = tmp_path_factory.mktemp("rows")
    run_ranks(2, CASES, folder)
    return folder


def test_rows_and_rollout_weights_of_right_steps_are_verified(captured):
    _, found = by_case(captured / "right")
    assert set(found) == set(RIGHT)
    for name, reports in found.items():
        for report in reports:
            assert report["consistent"], (name, report)
            assert counts_of(report, "rows") == [0, 0], (name, report)
            assert "mask" in report["coverage"]["verified"], (name, report)
            if name not in ("digests", "tokens of tools"):
                assert counts_of(report, "weight") == [0, 0], (name, report)
                assert counts_of(report, "gradient") == [0, 0], (name, report)


def test_rows_and_rollout_weights_that_are_not_the_drivers_are_found(captured):
    _, found = by_case(captured / "planted")
    assert set(found) == set(PLANTED)
    assert [name for name, reports in found.items() if all(report["consistent"] for report in reports)] == []


@pytest.mark.parametrize(
    "stated, limits",
    [
        (None, {"action": "unknown"}),
        (dict(rollout_is=None), {"action": "unknown"}),
        (dict(rollout_is="token"), {"action": "truncate", "high": 2.0}),
        (dict(rollout_is="token", rollout_is_threshold="0.5_5"), {"action": "mask", "low": 0.5, "high": 5.0}),
        (dict(rollout_is="token", rollout_is_batch_normalize=True), {"action": "unknown"}),
        (dict(rollout_is="sequence", rollout_rs="seq_sum_k1"), {"action": "unknown"}),
    ],
)
def test_the_limits_are_those_of_the_configuration(stated, limits):
    text = verl_rows.correction_of(SimpleNamespace(algorithm=dict(rollout_correction=stated)))
    found = verl_rows.correction_in({verl_rows.CORRECTION: text})
    assert {key: found[key] for key in ("action", "low", "high") if key in found} == limits


def test_the_old_log_probs_of_a_followed_trainer_have_digests_and_its_batch_has_the_limits(folder, monkeypatch):
    import torch
    from verl import DataProto
    from verl.trainer.ppo import ray_trainer

    monkeypatch.setattr(ray_trainer, "compute_advantage", lambda data, **_: data)
    old = DataProto.from_dict(tensors=dict(old_log_probs=torch.randn(3, 4)))
    monkeypatch.setattr(ray_trainer.RayPPOTrainer, "_compute_old_log_prob", lambda self, batch: (old, 0.5))
    monkeypatch.setattr(ray_trainer.RayPPOTrainer, "fit", ray_trainer.RayPPOTrainer.fit)
    monkeypatch.delattr(ray_trainer, verl._MARK, raising=False)
    running = verl._Running()
    verl._wrap(running, ray_trainer, ray_trainer.RayPPOTrainer, verl._Responses())
    mask = torch.tensor([[1] * 6, [1] * 5 + [0], [1] * 4 + [0] * 2])
    ids = torch.randint(3, 9, (3, 4))
    tensors = dict(responses=ids, attention_mask=mask, response_mask=mask[:, 2:].clone(), advantages=torch.randn(3, 4))
    batch = DataProto.from_dict(tensors=tensors)
    trainer = object.__new__(ray_trainer.RayPPOTrainer)
    computed, utilisation = trainer._compute_old_log_prob(batch)
    assert utilisation == 0.5
    batch = batch.union(computed)
    digests, lengths = verl_rows.marked(batch.batch[verl_rows.DIGEST])
    assert lengths == [4, 3, 2]
    assert (batch.batch[verl_rows.SAMPLED] == mask[:, 2:].bool()).all()
    assert digests == verl_rows.digests(ids, old.batch["old_log_probs"], lengths)
    correction = dict(rollout_is="token", rollout_is_threshold=3.0)
    running.trainer = SimpleNamespace(global_steps=2, config=SimpleNamespace(algorithm=dict(rollout_correction=correction)))
    result = ray_trainer.compute_advantage(batch)
    assert verl_rows.correction_in(result.to_tensordict())["high"] == 3.0
