"""Batches from a trainer's arrays: the message, its equality of observations, the file."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from echelon_capture.format import batch as module
from echelon_capture.format import build_batch, read_batch_file, write_batch_file
from echelon_capture.format.observations import canonical_text
from echelon_rayworker.gen import batch_pb2

ESTIMATOR = {"name": "hgpo", "history_length": 2, "mode": "mean_norm", "gamma": 0.95, "invalid_action_penalty": 0.1}
COLUMNS = {
    "estimator": ESTIMATOR,
    "group": ["g0", "g0", "g1"],
    "trajectory": np.array([7, 7, 9]),
    "observation": ["a", 'b "quoted"\n', "a"],
    "action": ["left", "right", "left"],
    "step": [0, 1, 0],
    "reward": np.array([0.0, 10.0, 0.1]),
    "action_valid": [True, False, np.bool_(True)],
    "token_level_reward_sum": [10.0, 9.899999618530273, 0.1],
    "response_length": [4, 3, 2],
    "step_reward": np.array([9.5, 9.9, 0.1], np.float32),
    "advantage": [0.25, math.nan, -1.0],
    "provenance": {"experiment": "e", "attempt": 2, "training_step": 12, "group_size": 2, "rows_collected": 3},
    "name": "step 12",
    "rewards": {"format": [1.0, 0.0, math.nan], "answer": np.float32([0.1, 0, 2])},
    "reward_weights": {"answer": 0.0},
}
GOLDEN = Path(__file__).parents[3] / "test" / "golden"


def parsed(**columns) -> batch_pb2.AdvantageBatch:
    return batch_pb2.AdvantageBatch.FromString(build_batch(**{**COLUMNS, **columns}))


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("AdvantageBatch", module._BATCH_FIELDS),
        ("Provenance", module.PROVENANCE_FIELDS),
        ("Estimator", module._ESTIMATOR_FIELDS),
        ("Reward", module._REWARD_FIELDS),
    ],
)
def test_field_numbers_are_those_of_the_definition(message, fields):
    assert fields == {field.name: field.number for field in batch_pb2.DESCRIPTOR.message_types_by_name[message].fields}


def test_every_field_is_read_back_by_protobuf():
    message = parsed(texts=True)
    assert (message.format, message.name, message.rows) == ("echelon-batch/1", "step 12", 3)
    assert list(message.group_names) == ["g0", "g1"]
    assert list(message.trajectory_names) == ["7", "9"]
    assert np.frombuffer(message.group, "<i4").tolist() == [0, 0, 1]
    assert np.frombuffer(message.trajectory, "<i4").tolist() == [0, 0, 1]
    assert np.frombuffer(message.step, "<i4").tolist() == [0, 1, 0]
    assert np.frombuffer(message.observation, "<i4").tolist() == [0, 1, 0]
    assert list(message.observation_texts) == ['"a"', '"b \\"quoted\\"\\n"']
    assert message.observation_digests[:16] == hashlib.sha256(b'"a"').digest()[:16]
    assert np.frombuffer(message.action, "<i4").tolist() == [0, 1, 0]
    assert list(message.action_texts) == ["left", "right"]
    assert np.frombuffer(message.reward, "<f8").tolist() == [0.0, 10.0, 0.1]
    assert list(message.action_valid) == [1, 0, 1]
    assert np.frombuffer(message.token_level_reward_sum, "<f8").tolist() == [10.0, 9.899999618530273, 0.1]
    assert np.frombuffer(message.response_length, "<i4").tolist() == [4, 3, 2]
    assert np.frombuffer(message.reported_step_reward, "<f4").tolist() == np.float32([9.5, 9.9, 0.1]).tolist()
    advantage = np.frombuffer(message.reported_advantage, "<f4")
    assert advantage[[0, 2]].tolist() == [0.25, -1.0] and np.isnan(advantage[1])
    rewards = {one.name: (one.weight, np.frombuffer(one.value, "<f8").tolist()) for one in message.rewards}
    assert rewards["answer"] == (0.0, np.float32([0.1, 0, 2]).tolist())
    assert rewards["format"][0] == 1 and rewards["format"][1][:2] == [1.0, 0.0] and math.isnan(rewards["format"][1][2])
    assert message.provenance.experiment == "e" and message.provenance.rows_collected == 3
    assert message.estimator.name == "hgpo"
    parameters = {one.name: getattr(one, one.WhichOneof("value")) for one in message.estimator.parameters}
    assert parameters == {
        "historyLength": 2, "mode": "mean_norm", "lengthWeightAlpha": 1, "baseGroup": False, "epsilon": 1e-6,
        "epsilonPlace": "added", "deviation": "population", "singleton": "drop", "zero": "drop", "weightOffset": 2,
        "weightEpsilon": 1e-6, "baseDeviation": "sample", "baseSingleton": "raw", "baseStatistics": "rows",
    }  # fmt: skip


ROW = {"group": ["g"], "trajectory": ["t"], "advantage": [0.0]}
NEEDED = {
    "hgpo": {"observation": ["s"], "step_reward": [1.0]},
    "gigpo": {"observation": ["s"], "step_reward": [1.0], "token_level_reward_sum": [1.0]},
    "grpo": {"token_level_reward_sum": [1.0]},
    "rloo": {"token_level_reward_sum": [1.0]},
    "gdpo": {"rewards": {"r": [1.0]}},
    "gae": {"tokens": {"mask": [[1]], "reward": [[1.0]], "value": [[0.5]]}},
}
PARAMETERS = {"hgpo": {"history_length": 2, "mode": "mean_norm"}, "gigpo": {"mode": "mean_norm"}}


@pytest.mark.parametrize("name", NEEDED)
def test_an_estimator_demands_its_own_columns_and_parameters_and_no_other(name, tmp_path):
    estimator = {"name": name, **PARAMETERS.get(name, {})}
    complete = {**ROW, **NEEDED[name], "estimator": estimator}
    write = [build_batch, lambda **columns: write_batch_file(tmp_path / "batch.json", [columns])]
    for written in write:
        written(**complete)
        for column in NEEDED[name]:
            without = {key: value for key, value in complete.items() if key != column}
            with pytest.raises(ValueError, match=f"the column {column}.* is missing: {name} needs it"):
                written(**without)
            written(**without, incomplete=True)
        for key in PARAMETERS.get(name, {}):
            fewer = {k: value for k, value in estimator.items() if k != key}
            with pytest.raises(ValueError, match=f"estimator.{key} is missing: {name} needs it"):
                written(**{**complete, "estimator": fewer})


@pytest.mark.parametrize("name", ["hgpo", "gigpo"])
def test_gamma_and_the_penalty_are_needed_where_returns_are_made_of_rewards(name):
    estimator = {"name": name, **PARAMETERS[name]}
    with pytest.raises(ValueError, match=f"estimator.gamma is missing: {name} needs it"):
        build_batch(**ROW, **NEEDED[name], reward=[1.0], estimator=estimator)


def test_the_base_group_needs_scores_and_an_unknown_estimator_is_named():
    estimator = {"name": "hgpo", **PARAMETERS["hgpo"], "base_group": True}
    with pytest.raises(ValueError, match="token_level_reward_sum is missing"):
        build_batch(**ROW, **NEEDED["hgpo"], estimator=estimator)
    with pytest.raises(ValueError, match="'ppo', not one of hgpo, gigpo, graphgpo, g2po, grpo, rloo"):
        build_batch(**ROW, estimator={"name": "ppo"})


def test_texts_stay_home_unless_asked_for():
    assert list(parsed().observation_texts) == list(parsed().action_texts) == []
    assert parsed().action == b""
    assert b"quoted" not in build_batch(**COLUMNS)


def test_what_a_trainer_does_not_have_is_empty():
    message = batch_pb2.AdvantageBatch.FromString(
        build_batch(estimator=ESTIMATOR, group=["a"], trajectory=["t"], advantage=None, incomplete=True)
    )
    assert message.observation == message.step == message.reported_advantage == message.reward == b""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0), (1, True), (0, -0.0), (0.5, np.float32(0.5)), ([1, 2], (1, 2)), (np.zeros((2, 2)), np.zeros(4)),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}), ({"a": 1}, [("a", 1)]), (10**22, 1e22), (np.int64(3), 3),
        (2**53, float(2**53)),
    ],
)  # fmt: skip
def test_equal_in_python_is_one_observation(one, other):
    assert canonical_text(one) == canonical_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"), ("a", "a "), ([1, [2]], [1, 2]), (0.1, 0.1000001), (2**53 + 1, float(2**53)), ([], ""),
        (10**400, math.inf),
    ],
)  # fmt: skip
def test_different_in_python_is_two_observations(one, other):
    assert canonical_text(one) != canonical_text(other)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e21, "1e+21"), (1e-7, "1e-7"), (1.5e-5, "0.000015"), (123456789012345680000.0, "123456789012345680000"),
     (-2.5, "-2.5"), (5e-324, "5e-324"), (-1.25e-6, "-0.00000125"), (1e16, "10000000000000000"),
     ("\ud800", '"\\ud800"')],
)  # fmt: skip
def test_canonical_text_is_as_javascript_writes_it(value, text):
    assert canonical_text(value) == text


def test_an_observation_with_nan_is_equal_to_none():
    message = parsed(observation=[[math.nan], [math.nan], [1.0]])
    assert np.frombuffer(message.observation, "<i4").tolist() == [0, 1, 2]
    assert len({message.observation_digests[i * 16 : i * 16 + 16] for i in range(3)}) == 3


def test_what_cannot_be_grouped_by_is_refused():
    with pytest.raises(TypeError, match="set"):
        parsed(observation=[{1}, {2}, {3}])


TOKENS = {
    "mask": [[0, 1], [1], [1, 1, 1]],
    "reward": [[0.0, 1.0], [0.1], [0.0, 0.0, -0.5]],
    "value": [[0.5, 0.25], [0.0], [0.1, 0.2, 0.3]],
    "advantage": [[math.nan, 0.75], [0.1], [1.0, -1.0, 0.0]],
}


def test_tokens_are_in_version_2_of_the_message_one_row_after_the_other():
    message = parsed(tokens=TOKENS)
    assert message.format == "echelon-batch/2"
    assert np.frombuffer(message.token_offset, "<i4").tolist() == [0, 2, 3, 6]
    assert list(message.token_mask) == [0, 1, 1, 1, 1, 1]
    assert np.frombuffer(message.token_reward, "<f4").tolist() == np.float32([0, 1, 0.1, 0, 0, -0.5]).tolist()
    assert np.frombuffer(message.token_value, "<f4").tolist() == np.float32([0.5, 0.25, 0, 0.1, 0.2, 0.3]).tolist()
    assert np.frombuffer(message.reported_token_advantage, "<f4")[1:].tolist() == np.float32([0.75, 0.1, 1, -1, 0]).tolist()


def test_tokens_of_a_file_are_read_back_and_give_the_same_message(tmp_path):
    columns = {**COLUMNS, "tokens": {**TOKENS, "mask": np.array([[0, 1, 0]] * 3), "reward": None, "value": None, "advantage": None}}
    for one in (columns, {**COLUMNS, "tokens": TOKENS}):
        write_batch_file(tmp_path / "batch.json", [one])
        assert json.loads((tmp_path / "batch.json").read_text())["format"] == "echelon-batch/2"
        [back] = read_batch_file(tmp_path / "batch.json")
        tokens = batch_pb2.AdvantageBatch.FromString(build_batch(**{**one, **back}))
        same = batch_pb2.AdvantageBatch.FromString(build_batch(**one))
        assert (tokens.format, tokens.token_offset, tokens.token_reward) == (same.format, same.token_offset, same.token_reward)
        assert tokens.reported_token_advantage[4:] == same.reported_token_advantage[4:]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"tokens": {"mask": [[1]]}}, "tokens.mask has 1 rows, group has 3"),
        ({"tokens": {**TOKENS, "reward": [[0.0], [0.1], [0.0]]}}, "tokens.reward has other numbers of tokens than tokens.mask"),
        ({"tokens": {"masks": []}}, "did you mean 'mask'"),
        ({"reward": [1.0]}, "reward has 1 entries, group has 3"),
        ({"observation": ["a"]}, "observation has 1"),
        ({"rewards": {"format": [1.0], "answer": [1.0]}}, "rewards.format has 1"),
        ({"reward_weights": {"formats": 1.0}}, "reward_weights has no 'formats' .did you mean 'format'"),
        ({"advantages": [1.0]}, "did you mean 'advantage'"),
        ({"provenance": {"trainingstep": 1}}, "did you mean 'training_step'"),
        ({"estimator": {"name": "hgpo"}}, "estimator.history_length is missing"),
        ({"estimator": {**ESTIMATOR, "alpha": 1}}, "estimator has no 'alpha'"),
        ({"provenance": {"attempt": -1}}, "attempt is negative"),
    ],
)
def test_mistakes_are_named(columns, said):
    with pytest.raises(ValueError, match=said.replace("(", "\\(")):
        build_batch(**{**COLUMNS, **columns})


def test_ids_that_are_written_alike_stay_apart():
    message = parsed(group=[1, "1", 1])
    assert np.frombuffer(message.group, "<i4").tolist() == [0, 1, 0]
    assert len(set(message.group_names)) == 2


@pytest.mark.parametrize("name", ["batch.json", "batch.json.gz"])
@pytest.mark.parametrize("texts", [True, False])
def test_a_file_gives_the_same_message(tmp_path, name, texts):
    write_batch_file(tmp_path / name, [{**COLUMNS, "texts": texts}], source="a test")
    (read,) = read_batch_file(tmp_path / name)
    ours, back = parsed(texts=texts), batch_pb2.AdvantageBatch.FromString(build_batch(**read, texts=texts))
    if not texts:  # the file holds the digests' digits in the observations' place
        ours.observation_digests = back.observation_digests = b""
    assert back == ours or back.SerializeToString() == ours.SerializeToString()


def test_a_file_holds_the_shortest_digits(tmp_path):
    write_batch_file(tmp_path / "b.json", [COLUMNS])
    reported = json.loads((tmp_path / "b.json").read_bytes())["batches"][0]["reported"]
    assert reported == {"stepReward": [9.5, 9.9, 0.1], "advantage": [0.25, None, -1.0]}
    assert struct.pack("<f", reported["stepReward"][1]) == np.float32(9.9).tobytes()


def test_a_file_holds_null_for_what_json_has_no_number_for(tmp_path):
    rewards = [0.5, math.nan, math.inf]
    write_batch_file(tmp_path / "b.json", [{**COLUMNS, "reward": rewards, "token_level_reward_sum": rewards}])
    strict = json.loads((tmp_path / "b.json").read_bytes(), parse_constant=pytest.fail)
    assert strict["batches"][0]["reward"] == strict["batches"][0]["tokenLevelRewardSum"] == [0.5, None, None]
    (read,) = read_batch_file(tmp_path / "b.json")
    assert read["reward"][0] == 0.5 and math.isnan(read["reward"][1])


def test_golden_batches_can_be_read_and_built():
    for path in GOLDEN.glob("*.json*"):
        for columns in read_batch_file(path):
            message = batch_pb2.AdvantageBatch.FromString(build_batch(**columns))
            assert message.rows == len(columns["group"]) > 0 or message.rows == 0


def test_other_files_are_refused(tmp_path):
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b'{"format": "else"}'))
    with pytest.raises(ValueError, match="echelon-batch/1"):
        read_batch_file(tmp_path / "x.json.gz")


def test_the_documented_lines_work(tmp_path, monkeypatch):
    page = (GOLDEN.parents[1] / "docs" / "guides" / "batch-from-a-trainer.md").read_text(encoding="utf-8")
    lines = page.split("```python\nfrom echelon_capture.format")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    ones = np.ones((3, 2), np.float32)
    keys = dict(uid=["g", "g", "h"], traj_uid=["s", "t", "u"], anchor_obs=["a", "a", "b"], rewards=[0, 1, 2])
    data = SimpleNamespace(
        non_tensor_batch={**keys, "is_action_valid": np.array([True, False, True])},
        batch=dict(token_level_rewards=ones, response_mask=ones.astype(int), step_rewards=ones[:, 0], advantages=ones),
    )
    exec(compile(f"from echelon_capture.format{lines}", "page", "exec"), {"data": data, "step": 3})
    (columns,) = read_batch_file(tmp_path / "step-3.json.gz")
    assert columns["group"] == ["g", "g", "h"] and columns["response_length"] == [2, 2, 2]
    assert columns["provenance"]["training_step"] == 3
