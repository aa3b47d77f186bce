"""One call of the recipe's compute_advantage, copied as the columns of an advantage batch.

`data` is the recipe's DataProto: `data.batch` a mapping of tensors, `data.non_tensor_batch` one of object arrays, one
entry a row in both. Nothing here imports torch: the tensors bring their own operations.
"""

from __future__ import annotations

import re
from typing import Any, Mapping

from echelon_rayworker import __version__
from echelon_capture.format import build_batch
from echelon_capture.format.estimators import uses_returns
from echelon_capture.format.tensors import row_advantages, without_padding
from echelon_capture.forms import Form, form_of

from echelon_capture.verl_agent_rows import Source, copy_rows, costs_of, numbers, positions, rows_collected

PRODUCER = f"echelon-capture/{__version__}"
# What a copy holds beside the columns of a batch.
_NOT_COLUMNS = ("lengths", "marks", "responses")
MAX_ACTION_CHARACTERS = 2000
# Estimators that take means and deviations on the CPU, wherever their tensors are.
_STATISTICS_ON_CPU = ("gigpo", "graphgpo", "grpo", "rloo")


def not_verifiable(call: Mapping[str, Any]) -> str | None:
    """Why the batch of a call of compute_advantage cannot be verified, in words; None if it can."""
    name = estimator_name(call["adv_estimator"])
    if name == "remax" and "reward_baselines" not in set(call["data"].batch.keys()):
        return "remax compares with a greedy rollout whose reward the batch does not hold"
    if _form(name, call) is None:
        return f"there is no kernel for the estimator {name!r}"
    if name == "gae" and call.get("use_pf_ppo"):
        return "use_pf_ppo draws the rows again after the advantages"
    return None


def forms_of(name: str, data: Any) -> str:
    """Which forms of the formula were evaluated: those of the recipe on a CPU, any on another device, where torch takes
    means by a product with 1/n and deviations by running updates."""
    on_device = name not in _STATISTICS_ON_CPU and data.batch["advantages"].device.type != "cpu"
    return "any" if on_device else "recipe"


def estimator_name(value: Any) -> str:
    """The name of an estimator that may be an Enum of the recipe's."""
    return str(getattr(value, "value", value))


def estimator_facts(name: str, call: Mapping[str, Any], config: Any) -> dict[str, Any]:
    """The fingerprint: `call` holds compute_advantage's arguments, `config` the trainer's configuration."""
    if name == "graphgpo":
        graph = config.algorithm.get("graphgpo", {})
        distance = "progress" if graph.get("normalize_distance", False) else "absolute"
        call = {**call, "distance": distance, "enable_similarity": bool(graph.get("enable_similarity", False))}
    return {**costs_of(config), **_form(name, call).of(call)}


def _form(name: str, call: Mapping[str, Any]) -> Form | None:
    """None for an estimator without a known form: a kernel of its name says nothing about what verl-agent computes under it."""
    return form_of("verl-agent", {**call, "adv_estimator": name})


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
    columns = {**copy_rows(data), "next_observation": _next_observations(objects) if name == "graphgpo" else None}
    if uses_returns(name) and "step_rewards" in set(tensors.keys()):
        columns["step_reward"] = numbers(tensors["step_rewards"].float())
    form = _form(name, {})
    if form is not None and form.tokens:
        columns["tokens"] = _copy_tokens(tensors, form.tokens)
    return columns


def _next_observations(objects: Any) -> list[Any] | None:
    """The observations after the steps; None for the goal, which the rollout names `success`."""
    if "next_obs" not in objects:
        return None
    return [None if isinstance(one, str) and one == "success" else one for one in objects["next_obs"]]


def copy_responses(data: Any, tokenizer: Any) -> Any:
    """What makes the actions' texts, on the reporter's thread: a copy of the response tokens. None without a tokenizer."""
    if tokenizer is None or "responses" not in set(data.batch.keys()):
        return None
    responses = numbers(data.batch["responses"])
    return lambda: [action_text(text) for text in tokenizer.batch_decode(responses, skip_special_tokens=True)]


def action_text(response: str) -> str:
    """The last `<action>` of a response, as the recipe's prompts ask for; without one, the response, cut."""
    actions = re.findall(r"<action>(.*?)</action>", response, re.DOTALL)
    text = (actions[-1] if actions else response).strip()
    return text if len(text) <= MAX_ACTION_CHARACTERS else f"{text[:MAX_ACTION_CHARACTERS]} …"


# Column of the tokens → the recipe's tensor.
_TOKEN_TENSORS = {"reward": "token_level_rewards", "value": "values"}


def _copy_tokens(tensors: Any, columns: tuple[str, ...]) -> dict[str, Any]:
    given = {column: numbers(tensors[_TOKEN_TENSORS[column]].float()) for column in columns}
    return {"mask": numbers(tensors["response_mask"].bool()), **given}


def copy_advantages(data: Any, columns: dict[str, Any]) -> None:
    """Adds the advantages to the columns: one a token if the estimator has them, else one a row, and those of the tokens if they
    differ within a row."""
    advantages = data.batch["advantages"]
    if "tokens" in columns:
        columns["tokens"]["advantage"] = numbers(advantages.float())
    else:
        found = row_advantages(advantages, data.batch["response_mask"])
        columns["advantage"] = numbers(found["advantage"])
        if "tokens" in found:
            columns["tokens"] = {column: numbers(values) for column, values in found["tokens"].items()}


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
    if "tokens" in given:
        given["tokens"] = without_padding(given["tokens"])
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
