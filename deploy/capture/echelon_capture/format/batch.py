"""Advantage batches from a trainer's arrays, as bytes for the spool or as a file for `echelon verify`.

    columns = dict(
        estimator=dict(name="hgpo", history_length=2, mode="mean_std_norm", gamma=0.95, invalid_action_penalty=0.1),
        group=uid, trajectory=traj_uid, observation=anchor_obs, reward=rewards, action_valid=is_action_valid,
        step_reward=step_rewards, advantage=advantages[:, 0],
    )
    spool.batch(step, build_batch(**columns, provenance=dict(training_step=step, group_size=8)), rows=len(uid))
    write_batch_file("step-12.json.gz", [columns])

One entry a row in every column, rows in the order in which the trainer computed. The message's definition is
proto/echelon/batch/v1/batch.proto.
"""

from __future__ import annotations

import struct
from array import array
from typing import Any, Hashable, Mapping, Sequence

from .columns import REPORTED, TOKEN_COLUMNS, check_lengths, checked, column_arrays, distinct, named, reward_columns, token_arrays
from .estimator_table import ESTIMATORS
from .estimators import OF_BATCH, complete_estimator
from .message import encode_message, little_endian, varint
from .names import camel
from .observations import digest, observation_columns
from .rules import Parameter

FORMAT = "echelon-batch/1"
# A batch with tokens.
TOKEN_FORMAT = "echelon-batch/2"
_BATCH_FIELDS = {
    "format": 1, "name": 2, "provenance": 3, "estimator": 4, "rows": 5, "group": 6, "group_names": 7,
    "trajectory": 8, "trajectory_names": 9, "step": 10, "observation": 11, "observation_digests": 12,
    "observation_texts": 13, "reward": 14, "action_valid": 15, "token_level_reward_sum": 16,
    "response_length": 17, "reported_step_reward": 18, "reported_advantage": 19, "action": 30, "action_texts": 31,
    "rewards": 32, "next_observation": 33, "reward_baseline": 34,
    "token_offset": 40, "token_mask": 41, "token_reward": 42, "token_value": 43, "reported_token_advantage": 44,
    "token_log_prob": 45, "token_squared_probabilities": 46, "token_rollout_weight": 47,
}  # fmt: skip
PROVENANCE_FIELDS = {
    "experiment": 1, "attempt": 2, "training_step": 3, "group_size": 4, "groups": 5, "rows_collected": 6,
    "producer": 7, "preparation": 8,
}  # fmt: skip
_ESTIMATOR_FIELDS = {"name": 1, "gamma": 8, "invalid_action_penalty": 9, "precision": 12, "forms": 14, "parameters": 15}
_REWARD_FIELDS = {"name": 1, "weight": 2, "value": 3}


def build_batch(
    *,
    estimator: Mapping[str, Any],
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable],
    observation: Sequence[Any] | None = None,
    next_observation: Sequence[Any] | None = None,
    action: Sequence[str] | None = None,
    rewards: Mapping[str, Sequence[float]] | None = None,
    reward_weights: Mapping[str, float] | None = None,
    provenance: Mapping[str, Any] | None = None,
    tokens: Mapping[str, Any] | None = None,
    name: str = "",
    texts: bool = False,
    incomplete: bool = False,
    **columns: Any,
) -> bytes:
    """A serialized `AdvantageBatch`.

    `columns` are step, reward, action_valid, token_level_reward_sum, reward_baseline, response_length, step_reward and
    advantage, as lists, arrays or tensors; omit a field that the trainer does not have (`step` too: give it only from what
    numbers the steps, never from the rows' order). `observation` holds the anchor observations, equal as in Python;
    with `texts` they are part of the batch, else only their digests. `next_observation` holds the observations after the
    steps, None for a step that reached the goal. `action` holds the actions as people read them; they
    are part of the batch with `texts`, else ignored. `rewards` holds the column of each reward function by its name, with
    NaN in rows that it did not score; `reward_weights` holds the functions' factors, 1 if omitted. `tokens` holds mask,
    reward, value, log_prob, squared_probabilities, rollout_weight and advantage of each token, each a list of rows or a
    tensor of two dimensions; padding has mask 0.
    `estimator` and `provenance` have the fields of the messages of these names. Raises ValueError or TypeError, naming the
    field; also where a column is missing that the estimator needs, unless `incomplete` says that the trainer does not have
    it: then the rows are unverifiable.
    """
    stated = complete_estimator(
        estimator, {**columns, "observation": observation, "next_observation": next_observation, "rewards": rewards, "tokens": tokens}, incomplete
    )
    groups, group_names = named(group)
    trajectories, trajectory_names = named(trajectory)
    arrays = {"group": groups, "trajectory": trajectories, **column_arrays(columns)}
    observed, dictionary = observation_columns(observation, next_observation)
    arrays.update(observed)
    if "next_observation" in arrays:
        arrays["next_observation"] = array("i", (at + 1 for at in arrays["next_observation"]))
    action_texts = []
    if action is not None and texts:
        arrays["action"], action_texts = distinct(action)
    functions = reward_columns(rewards, reward_weights)
    check_lengths({**arrays, **{f"rewards.{key}": values for key, (_weight, values) in functions.items()}})
    fields: dict[str, Any] = {
        "format": FORMAT if tokens is None else TOKEN_FORMAT,
        "name": name,
        "provenance": encode_message(checked("provenance", provenance or {}, PROVENANCE_FIELDS), PROVENANCE_FIELDS),
        "estimator": _estimator_message(stated),
        "rows": len(groups),
        "group_names": group_names,
        "trajectory_names": trajectory_names,
        "observation_digests": b"".join(digest(text) for text in dictionary),
        "observation_texts": dictionary if texts else [],
        "action_texts": action_texts,
        "rewards": [_reward_message(key, *function) for key, function in functions.items()],
    }
    for column, values in arrays.items():
        fields[f"reported_{column}" if column in REPORTED else column] = little_endian(values)
    if tokens is not None:
        offset, of_tokens = token_arrays(tokens, len(groups))
        fields["token_offset"] = little_endian(offset)
        for column, values in of_tokens.items():
            fields[TOKEN_COLUMNS[column][2]] = little_endian(values)
    return encode_message(fields, _BATCH_FIELDS)


def _estimator_message(stated: Mapping[str, Any]) -> bytes:
    """Every parameter by its name."""
    own = ESTIMATORS[stated["name"]].parameters
    parameters = [_parameter_message(key, value, own) for key, value in stated.items() if key not in OF_BATCH]
    return encode_message({**stated, "parameters": parameters}, _ESTIMATOR_FIELDS)


def _parameter_message(key: str, given: Any, own: Mapping[str, Parameter]) -> bytes:
    """One of `number`, `flag` and `text` is there, zero or not."""
    value = (own[key].kind if key in own else type(given) if isinstance(given, (bool, str)) else float)(given)
    name = encode_message({"name": camel(key)}, {"name": 1})
    if isinstance(value, bool):
        return name + varint(3 << 3) + varint(int(value))
    if isinstance(value, float):
        return name + varint(2 << 3 | 1) + struct.pack("<d", value)
    data = value.encode("utf-8", "replace")
    return name + varint(4 << 3 | 2) + varint(len(data)) + data


def _reward_message(name: str, weight: float, values: array) -> bytes:
    """The weight is there, zero or not."""
    fields = {"name": name, "value": little_endian(values)}
    return varint(2 << 3 | 1) + struct.pack("<d", weight) + encode_message(fields, _REWARD_FIELDS)
