"""One call of the recipe's compute_advantage, copied as the columns of an advantage batch.

`data` is the recipe's DataProto: `data.batch` a mapping of tensors, `data.non_tensor_batch` one of object arrays, one
entry a row in both. Nothing here imports torch: the tensors bring their own operations.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict, deque
from typing import Any, Mapping

from echelon_rayworker import __version__
from echelon_rayworker.batch import build_batch, uses_returns

PRODUCER = f"echelon-capture/{__version__}"
# Why the others' advantages cannot be recomputed from one number a row.
NOT_VERIFIABLE = {
    "gae": "gae computes an advantage for each token from the critic's values, which a batch of rows does not hold",
    "reinforce_plus_plus": "reinforce_plus_plus discounts over tokens and whitens over the whole batch",
    "reinforce_plus_plus_baseline": "reinforce_plus_plus_baseline whitens over the tokens of the whole batch",
    "remax": "remax compares with a greedy rollout that the batch does not hold",
    "grpo_passk": "grpo_passk rewards only the best row of each group; there is no kernel for it",
}


# What a copy holds beside the columns of a batch.
_NOT_COLUMNS = ("lengths", "marks", "responses")
MAX_ACTION_CHARACTERS = 2000


def not_verifiable(name: str) -> str:
    """The reason, in words, for an estimator without a kernel."""
    return NOT_VERIFIABLE.get(name, f"there is no kernel for the estimator {name!r}")


def forms_of(name: str, data: Any) -> str:
    """Which forms of the formula were evaluated: those of the recipe on a CPU, any on another device, where torch takes
    means by a product with 1/n and deviations by running updates. The other estimators take means and deviations on the
    CPU, wherever their tensors are."""
    return "any" if name == "hgpo" and data.batch["advantages"].device.type != "cpu" else "recipe"


def estimator_name(value: Any) -> str:
    """The name of an estimator that may be an Enum of the recipe's."""
    return str(getattr(value, "value", value))


def estimator_facts(name: str, call: Mapping[str, Any], config: Any) -> dict[str, Any]:
    """The fingerprint: `call` holds compute_advantage's arguments, `config` the trainer's configuration."""
    actor = config.actor_rollout_ref.actor
    penalty = float(actor.invalid_action_penalty_coef) if actor.get("use_invalid_action_penalty", True) else 0.0
    facts: dict[str, Any] = {
        "name": name,
        "gamma": float(config.algorithm.gamma),
        "invalid_action_penalty": penalty,
        "epsilon": 1e-6,
    }
    return {**facts, **VERIFIABLE[name](call)}


def _hgpo_facts(call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "history_length": int(call.get("history_length", 2)),
        "mode": str(call.get("hgpo_mode", "mean_std_norm")),
        "length_weight_alpha": float(call.get("hgpo_length_weight_alpha", 1.0)),
        "base_group": bool(call.get("hgpo_base_group", False)),
    }


def _gigpo_facts(call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "mode": str(call.get("gigpo_mode", "mean_std_norm")),
        "step_advantage_weight": float(call.get("step_advantage_w", 1.0)),
    }


# Estimator → its parameters from the arguments of compute_advantage. One that is not here is a visible gap: a kernel
# of its name says nothing about what verl-agent computes under it.
VERIFIABLE = {
    "hgpo": _hgpo_facts,
    "gigpo": _gigpo_facts,
    "grpo": lambda call: {"normalize_by_std": bool(call.get("norm_adv_by_std_in_grpo", True))},
    "rloo": lambda call: {},
}


def provenance_facts(config: Any, step: int, experiment: str, attempt: int) -> dict[str, Any]:
    """What the configuration states of a step's batch. Dynamic sampling decides for itself how many groups it keeps."""
    filtered = bool(config.algorithm.get("filter_groups", {}).get("enable", False))
    return {
        "experiment": experiment,
        "attempt": attempt,
        "training_step": step,
        "group_size": int(config.env.rollout.n),
        "groups": 0 if filtered else int(config.data.train_batch_size),
        "producer": PRODUCER,
    }


def copy_inputs(data: Any, name: str) -> dict[str, Any]:
    """The columns that exist before the advantages, as copies: what the trainer changes later does not show."""
    tensors, objects = data.batch, data.non_tensor_batch
    keys = set(tensors.keys())
    columns: dict[str, Any] = {
        "group": objects["uid"].copy(),
        "trajectory": objects["traj_uid"].copy(),
        "observation": objects["anchor_obs"].copy() if "anchor_obs" in objects else None,
        "reward": objects["rewards"].astype("float64") if "rewards" in objects else None,
        "action_valid": objects["is_action_valid"].astype(bool) if "is_action_valid" in objects else None,
    }
    if "token_level_rewards" in keys:
        columns["token_level_reward_sum"] = _numbers(tensors["token_level_rewards"].double().sum(-1))
    if "response_mask" in keys:
        columns["response_length"] = _numbers(tensors["response_mask"].sum(-1).int())
    if uses_returns(name) and "step_rewards" in keys:
        columns["step_reward"] = _numbers(tensors["step_rewards"].float())
    columns["lengths"] = objects["episode_lengths"].copy() if "episode_lengths" in objects else None
    columns["marks"] = checksums(tensors["responses"]) if "responses" in keys else None
    return columns


def copy_responses(data: Any, tokenizer: Any) -> Any:
    """What makes the actions' texts, on the reporter's thread: a copy of the response tokens. None without a tokenizer."""
    if tokenizer is None or "responses" not in set(data.batch.keys()):
        return None
    responses = _numbers(data.batch["responses"])
    return lambda: [action_text(text) for text in tokenizer.batch_decode(responses, skip_special_tokens=True)]


def action_text(response: str) -> str:
    """The last `<action>` of a response, as the recipe's prompts ask for; without one, the response, cut."""
    actions = re.findall(r"<action>(.*?)</action>", response, re.DOTALL)
    text = (actions[-1] if actions else response).strip()
    return text if len(text) <= MAX_ACTION_CHARACTERS else f"{text[:MAX_ACTION_CHARACTERS]} …"


def copy_advantages(data: Any) -> Any:
    """One advantage a row: the recipe's are constant over a row's response tokens."""
    return _numbers(data.batch["advantages"][:, 0].float())


def checksums(responses: Any) -> Any:
    """A 64-bit mark of each row's response tokens, to know the row by."""
    whole = responses.long()
    return _numbers((whole * whole.new_tensor(_weights(whole.shape[-1]))).sum(-1))


@functools.lru_cache(maxsize=4)
def _weights(width: int) -> list[int]:
    return [(place * 0x5851F42D4C957F2D + 0x14057B7EF767814F) % (1 << 62) for place in range(width)]


class Source:
    """The rows as the rollout collected them: for each trajectory, its steps' marks in the order of time."""

    def __init__(self) -> None:
        self.rows = 0
        self._steps: dict[Any, list[tuple]] = defaultdict(list)

    @staticmethod
    def of(collected: Any) -> "Source":
        """From the rollout's lists of steps, one list an environment; finished environments' idle steps are left
        out, as the recipe leaves them out."""
        source = Source()
        steps = [step for trajectory in collected for step in trajectory if step["active_masks"]]
        if not steps:
            return source
        stacked = steps[0]["responses"].new_empty((len(steps), steps[0]["responses"].shape[-1]))
        for row, step in enumerate(steps):
            stacked[row] = step["responses"]
        for step, mark in zip(steps, checksums(stacked).tolist()):
            source._steps[step["traj_uid"]].append(_mark(mark, step["rewards"], step.get("anchor_obs")))
        source.rows = len(steps)
        return source

    def numbers(self, columns: Mapping[str, Any]) -> list[int] | None:
        """Each row's step number at its source; -1 for a row that is not from there. None where the batch is of
        another rollout, or has no marks."""
        trajectories, marks = columns["trajectory"].tolist(), columns["marks"]
        if marks is None or columns["reward"] is None or not self._steps.keys() >= set(trajectories):
            return None
        left: dict[Any, dict[tuple, deque[int]]] = {}
        for trajectory, steps in self._steps.items():
            places = left[trajectory] = defaultdict(deque)
            for number, mark in enumerate(steps):
                places[mark].append(number)
        observations = columns["observation"] if columns["observation"] is not None else [None] * len(trajectories)
        numbers = []
        for trajectory, mark, reward, observation in zip(trajectories, marks.tolist(), columns["reward"], observations):
            places = left[trajectory].get(_mark(mark, reward, observation))
            numbers.append(places.popleft() if places else -1)
        return numbers


def _mark(checksum: int, reward: Any, observation: Any) -> tuple:
    return checksum, float(reward), hash(observation) if isinstance(observation, str) else None


def positions(trajectories: Any) -> list[int]:
    """Each row's place among the rows of its trajectory: its step number, since the recipe's rollout orders rows by
    environment, then by time."""
    seen: dict[Any, int] = defaultdict(int)
    numbers = []
    for trajectory in trajectories.tolist():
        numbers.append(seen[trajectory])
        seen[trajectory] += 1
    return numbers


def rows_collected(columns: Mapping[str, Any], source: Source | None) -> int:
    """How many rows the rollout collected: counted at the source, else from the lengths of the episodes."""
    if source is not None and source.rows:
        return source.rows
    lengths = columns["lengths"]
    if lengths is None:
        return len(columns["group"])
    per_trajectory = dict(zip(columns["trajectory"].tolist(), lengths.tolist()))
    return int(sum(per_trajectory.values()))


def serialize(
    columns: Mapping[str, Any],
    facts: Mapping[str, Any],
    provenance: Mapping[str, Any],
    source: Source | None = None,
    texts: bool = False,
) -> bytes:
    """The batch of one call, as bytes for the spool."""
    steps = source.numbers(columns) if source is not None else None
    if steps is None:
        steps, source = positions(columns["trajectory"]), None
    given = {key: value for key, value in columns.items() if key not in _NOT_COLUMNS and value is not None}
    responses = columns.get("responses") if texts else None
    return build_batch(
        **given,
        action=responses and responses(),
        step=steps,
        estimator=facts,
        provenance={**provenance, "rows_collected": rows_collected(columns, source)},
        name=f"step {provenance['training_step']}",
        texts=texts,
        incomplete=True,
    )


def _numbers(tensor: Any) -> Any:
    return tensor.detach().cpu().clone().numpy()
