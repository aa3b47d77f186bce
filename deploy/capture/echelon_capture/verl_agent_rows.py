"""The rows of verl-agent's rollouts: what the trainer holds of them, and which step of its trajectory each is.

`data` is the trainer's DataProto: `data.batch` a mapping of tensors, `data.non_tensor_batch` one of object arrays, one
entry a row in both. Nothing here imports torch or another module of this package, so that echelon-capture has this file too.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Any, Callable, Mapping


def follow_rollouts(collector: Any, collected: Callable[[Any], None]) -> None:
    """Calls `collected` with the steps of each rollout, one list an environment, before anything could reorder them."""
    original = collector.gather_rollout_data

    @functools.wraps(original)
    def gather_rollout_data(self: Any, *arguments: Any, **keywords: Any) -> Any:
        steps = keywords.get("total_batch_list", arguments[0] if arguments else None)
        if steps is not None:
            collected(steps)
        return original(self, *arguments, **keywords)

    collector.gather_rollout_data = gather_rollout_data


def costs_of(config: Any) -> dict[str, float]:
    """The discount of steps and the penalty of an invalid action."""
    actor = config.actor_rollout_ref.actor
    penalised = actor.get("use_invalid_action_penalty", True)
    return {
        "gamma": float(config.algorithm.gamma),
        "invalid_action_penalty": float(actor.invalid_action_penalty_coef) if penalised else 0.0,
    }


def copy_rows(data: Any) -> dict[str, Any]:
    """The columns of the rows as copies: what the trainer changes later does not show."""
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
        columns["token_level_reward_sum"] = numbers(tensors["token_level_rewards"].double().sum(-1))
    if "reward_baselines" in keys:
        columns["reward_baseline"] = numbers(tensors["reward_baselines"])
    if "response_mask" in keys:
        columns["response_length"] = numbers(tensors["response_mask"].sum(-1).int())
    columns["lengths"] = objects["episode_lengths"].copy() if "episode_lengths" in objects else None
    columns["marks"] = checksums(tensors["responses"]) if "responses" in keys else None
    return columns


def checksums(responses: Any) -> Any:
    """A 64-bit mark of each row's response tokens, to know the row by."""
    whole = responses.long()
    return numbers((whole * whole.new_tensor(_weights(whole.shape[-1]))).sum(-1))


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
        """Each row's step number at its source, which a copy has too; -1 for a row that is not from there. None where the batch is
        of another rollout, or has no marks."""
        trajectories, marks = columns["trajectory"].tolist(), columns["marks"]
        if marks is None or columns["reward"] is None or not self._steps.keys() >= set(trajectories):
            return None
        places: dict[tuple, list[int]] = defaultdict(list)
        for trajectory, steps in self._steps.items():
            for number, mark in enumerate(steps):
                places[(trajectory, *mark)].append(number)
        observations = columns["observation"] if columns["observation"] is not None else [None] * len(trajectories)
        found = []
        for trajectory, mark, reward, observation in zip(trajectories, marks.tolist(), columns["reward"], observations):
            own = places.get((trajectory, *_mark(mark, reward, observation)), [-1])
            # Each of several steps that look alike once, before a copy has the first of them again.
            own.append(own.pop(0))
            found.append(own[-1])
        return found


def _mark(checksum: int, reward: Any, observation: Any) -> tuple:
    return checksum, float(reward), hash(observation) if isinstance(observation, str) else None


def positions(trajectories: Any) -> list[int]:
    """Each row's place among the rows of its trajectory: its step number, since the recipe's rollout orders rows by
    environment, then by time."""
    seen: dict[Any, int] = defaultdict(int)
    found = []
    for trajectory in trajectories.tolist():
        found.append(seen[trajectory])
        seen[trajectory] += 1
    return found


def rows_collected(columns: Mapping[str, Any], source: Source | None) -> int:
    """How many rows the rollout collected: counted at the source, else from the lengths of the episodes."""
    if source is not None and source.rows:
        return source.rows
    lengths = columns["lengths"]
    if lengths is None:
        return len(columns["group"])
    per_trajectory = dict(zip(columns["trajectory"].tolist(), lengths.tolist()))
    return int(sum(per_trajectory.values()))


def numbers(tensor: Any) -> Any:
    """A tensor's copy on the CPU, as an array."""
    return tensor.detach().cpu().clone().numpy()
