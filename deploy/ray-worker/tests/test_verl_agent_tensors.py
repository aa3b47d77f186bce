# needs: torch
"""The hook's copies of tensors."""

import importlib
import sys
import types

import numpy as np
import pytest
from verl_agent_support import CONFIG, STANDIN, verify

from echelon_rayworker.engines.verl_agent import capture, hook
from echelon_rayworker.gen import batch_pb2

torch = pytest.importorskip("torch")


def test_tensors_are_copied_and_rows_numbered_at_their_source():
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


def token_data(seed: int):
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
        ("grpo", {}, "grpo("),
        ("rloo", {}, "rloo("),
        ("grpo_passk", {}, "grpo_passk(std=sample,"),
        ("grpo_passk", {"norm_adv_by_std_in_grpo": False}, "grpo_passk(std=none)"),
    ],
)
def test_advantages_of_tokens_and_of_the_best_row_verify(tmp_path, estimator: str, settings: dict, fingerprint: str):
    data = token_data(7)
    call = {"data": data, "adv_estimator": estimator, **settings}
    columns = capture.copy_inputs(data, estimator)
    result = standin_trainer().compute_advantage(**call)
    assert capture.not_verifiable(call) is None
    facts = {**capture.estimator_facts(estimator, call, CONFIG), "forms": capture.forms_of(estimator, result)}
    row = int(result.batch["advantages"].abs().sum(-1).argmax())
    messages = []

    def record() -> None:
        """The batch as it is now, for one call of the command line."""
        capture.copy_advantages(result, columns)
        provenance = {"training_step": len(messages) + 1, "group_size": 4, "groups": 3}
        messages.append(batch_pb2.AdvantageBatch.FromString(capture.serialize(columns, facts, provenance)))

    record()
    if "tokens" not in columns:
        # One planted fault: a single token of a row.
        given = result.batch["advantages"][row].clone()
        result.batch["advantages"][row, int(result.batch["response_mask"][row].sum()) - 1] += 0.5
        record()
        assert [len(one) for one in columns.pop("tokens")["mask"]]
        result.batch["advantages"][row] = given
    # One planted fault: a row's advantages are too large by a hundredth.
    result.batch["advantages"][row] *= 1.01
    record()
    report, *planted = verify(messages, tmp_path / "batches.json")["batches"]
    assert report["ok"] and report["rows"] == report["exact"] + report["rounding"] == SIZE[0], report
    assert report["fingerprint"].startswith(fingerprint), report["fingerprint"]
    assert [one["wrongRows"] for one in planted] == [[row]] * (len(messages) - 1)


@pytest.mark.parametrize(
    ("estimator", "device", "forms"),
    [("hgpo", "cpu", "recipe"), ("hgpo", "meta", "any"), ("gigpo", "meta", "recipe"), ("gae", "meta", "any")],
)
def test_hgpo_on_another_device_than_the_cpu_is_verified_against_all_forms(estimator: str, device: str, forms: str):
    # A device without a real GPU: all that counts is that it is not the CPU.
    result = types.SimpleNamespace(batch={"advantages": torch.zeros(2, 3, device=device)})
    assert capture.forms_of(estimator, result) == forms
