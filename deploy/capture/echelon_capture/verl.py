"""Captures what the RayPPOTrainer of verl or of verl-agent computes, without a change to either.

    from echelon_capture.verl import follow

    follow()
    trainer.fit()

Call it in the process that runs `fit`, which is the Ray task of verl's TaskRunner. Wrapped are `compute_advantage` of
the trainer's module, `fit` of the trainer (to know the step) and `Tracking.log` (every metric).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any, Callable, Iterable, Mapping

import echelon_capture as capture

from . import verl_rows
from .calls import bound
from .format.tensors import row_advantages, without_padding
from .forms import Form, form_of
from .row_marks import ROW, STEP
from .steps import reason_of
from .verl_agent import Rollouts

TRAINER_MODULE = "verl.trainer.ppo.ray_trainer"
# Of `trainer.use_v1`: the module that computes advantages, and the one of the trainer.
V1_MODULES = ("verl.trainer.ppo.v1.utils", "verl.trainer.ppo.v1.trainer_base")
_MARK = "_echelon_capture"


class _Running:
    """The trainer whose `fit` runs, and whether it has computed advantages since it last logged an update."""

    trainer: Any = None
    has_advantages = False


def follow(module: str = TRAINER_MODULE) -> None:
    """Captures the batches and metrics of every PPO trainer of this process from now on. `module`: name of the module
    whose `compute_advantage` and `RayPPOTrainer` are used. ImportError or AttributeError if they are not there."""
    trainers = importlib.import_module(module)
    if hasattr(trainers, _MARK):
        return
    # Imported before the first is wrapped: the module of V1 has the same function under its own name.
    v1 = _imported(V1_MODULES) if module == TRAINER_MODULE else None
    running = _Running()
    is_agent = hasattr(trainers, "TrajectoryCollector")
    _wrap(running, trainers, trainers.RayPPOTrainer, Rollouts(trainers) if is_agent else _Responses())
    if v1 is not None:
        _wrap(running, v1[0], v1[1].PPOTrainer, _Outputs())
    _wrap_log(running, importlib.import_module("verl.utils.tracking").Tracking)


def _imported(names: Iterable[str]) -> list[Any] | None:
    """The modules; None if this verl lacks one, or what one imports."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError:
        return None


class _Responses:
    """The rows of verl's own trainer: one response each, without trajectories."""

    trainer = "verl"

    def mark(self, step: int, result: Any) -> None:
        """Gives each row its place, which reaches the actor with it."""
        tensors = result.batch
        advantages = tensors["advantages"]
        tensors[ROW] = advantages.new_tensor(range(len(advantages)), dtype=_int64()) + step * STEP

    def state(self, config: Any, result: Any) -> None:
        """Gives the batch the limits of its rollout weights, which reach the actor with it."""
        result.meta_info[verl_rows.CORRECTION] = verl_rows.correction_of(config)

    def columns(self, result: Any) -> dict[str, Any]:
        """See `Rollouts.columns`."""
        return {"group": result.non_tensor_batch["uid"], "trajectory": range(len(result.batch["response_mask"]))}

    def costs(self, trainer: Any) -> dict[str, float]:
        """There are no steps."""
        return {}

    def provenance(self, trainer: Any, result: Any) -> dict[str, Any]:
        """See `Rollouts.provenance`."""
        return {"group_size": int(trainer.config.actor_rollout_ref.rollout.n)}


class _Outputs(_Responses):
    """The rows of the trainer of `trainer.use_v1`, of which a session gives any number."""

    def mark(self, step: int, result: Any) -> None:
        """Its actor reads the rows from a queue."""

    def state(self, config: Any, result: Any) -> None:
        """As `mark`."""

    def provenance(self, trainer: Any, result: Any) -> dict[str, Any]:
        """The size of a group is not known."""
        return {}


def _wrap(running: _Running, module: Any, trainer_class: Any, rows: Rollouts | _Responses) -> None:
    original, fit = module.compute_advantage, trainer_class.fit

    @functools.wraps(original)
    def compute_advantage(*arguments: Any, **keywords: Any) -> Any:
        result = original(*arguments, **keywords)
        running.has_advantages = True
        _mark(running.trainer, rows, result)
        _capture(running.trainer, rows, lambda: bound(original, arguments, keywords), result)
        return result

    @functools.wraps(fit)
    def remembered(self: Any, *arguments: Any, **keywords: Any) -> Any:
        running.trainer = self
        try:
            return fit(self, *arguments, **keywords)
        finally:
            running.trainer = None
            # Ray may end the process without Python's exit functions.
            capture.close()

    module.compute_advantage = compute_advantage
    trainer_class.fit = remembered
    if type(rows) is _Responses:
        _wrap_old_log_probs(trainer_class)
    setattr(module, _MARK, True)


def _wrap_old_log_probs(trainer_class: Any) -> None:
    """Gives the rows their digests. Without them the rows of the loss are not compared with those of the rollout."""
    compute = getattr(trainer_class, "_compute_old_log_prob", None)
    if compute is None:
        return

    @functools.wraps(compute)
    def _compute_old_log_prob(self: Any, batch: Any, *arguments: Any, **keywords: Any) -> Any:
        result = compute(self, batch, *arguments, **keywords)
        with contextlib.suppress(Exception):
            verl_rows.mark(batch, result[0] if isinstance(result, tuple) else result)
        return result

    trainer_class._compute_old_log_prob = _compute_old_log_prob


def _wrap_log(running: _Running, tracking: Any) -> None:
    log = tracking.log

    @functools.wraps(log)
    def logged(self: Any, data: Any, step: Any, *arguments: Any, **keywords: Any) -> Any:
        capture.metrics(step, data)
        if isinstance(data, Mapping) and any(str(name).startswith("actor/") for name in data):
            if not running.has_advantages:
                capture.gap(step, 0, "the trainer updated the policy without a function that the capture follows")
            running.has_advantages = False
        return log(self, data, step, *arguments, **keywords)

    tracking.log = logged


def _mark(trainer: Any, rows: Rollouts | _Responses, result: Any) -> None:
    """Without their places, rows are not found again in the actor's steps, and nothing else is missing."""
    if isinstance(rows, _Responses):
        with contextlib.suppress(Exception):
            rows.mark(int(trainer.global_steps), result)
        with contextlib.suppress(Exception):
            rows.state(trainer.config, result)


def _capture(trainer: Any, rows: Rollouts | _Responses, called: Callable[[], dict[str, Any]], result: Any) -> None:
    step, count = 0, 0
    try:
        call = called()
        step, count = int(trainer.global_steps), len(result.batch["advantages"])
        columns = _columns(call, result, rows, rows.costs(trainer))
        capture.batch(step, **columns, provenance=rows.provenance(trainer, result))
    except Exception as error:  # noqa: BLE001 - the capture must never fail a training
        capture.gap(step, count, reason_of(error))


def _int64() -> Any:
    import torch

    return torch.int64


def _columns(
    call: dict[str, Any], result: Any, rows: Rollouts | _Responses, costs: dict[str, float]
) -> dict[str, Any]:
    name = str(getattr(call["adv_estimator"], "value", call["adv_estimator"]))
    tensors, mask = result.batch, result.batch["response_mask"]
    weighted = "rollout_is_weights" in tensors.keys()
    settings = {**call, "adv_estimator": name, "tokens": True, "rollout_is_weights": weighted}
    form = form_of(rows.trainer, settings)
    if form is None:
        raise ValueError(f"not verifiable: the capture does not know the estimator {name!r}")
    if name == "gae" and (call.get("use_pf_ppo") or (call.get("config") or {}).get("use_pf_ppo")):
        raise ValueError("not verifiable: use_pf_ppo draws the rows again after the advantages")
    if name == "gigpo" and call.get("gigpo_enable_similarity"):
        raise ValueError("not verifiable: gigpo_enable_similarity merges states that only look alike")
    return {
        "estimator": {**costs, **form.of(settings)},
        **rows.columns(result),
        # As the trainer computes it, so that it has the same bits.
        "token_level_reward_sum": tensors["token_level_rewards"].sum(-1),
        "reward_baseline": tensors["reward_baselines"] if name == "remax" else None,
        "response_length": mask.sum(-1).long(),
        **(_of_tokens(form, tensors, mask) if form.tokens else _of_rows(tensors, mask)),
    }


def _of_rows(tensors: Any, mask: Any) -> dict[str, Any]:
    """One advantage for all response tokens of a row, and the tokens if they differ."""
    found = row_advantages(tensors["advantages"], mask)
    return {**found, "tokens": _trimmed(found["tokens"])} if "tokens" in found else found


# Column of the tokens → verl's tensor.
_TENSORS = {
    "reward": "token_level_rewards",
    "value": "values",
    "log_prob": "old_log_probs",
    "squared_probabilities": "sum_pi_squared",
    "rollout_weight": "rollout_is_weights",
}


def _of_tokens(form: Form, tensors: Any, mask: Any) -> dict[str, Any]:
    """What the estimator starts from and gives, token by token."""
    columns = {"mask": mask.bool(), **{column: tensors[_TENSORS[column]].float() for column in form.tokens}}
    columns["advantage"] = tensors["advantages"].float()
    return {"tokens": _trimmed(columns)}


def _trimmed(columns: dict[str, Any]) -> dict[str, Any]:
    # Clones, because the trainer may change its tensors in place.
    return without_padding({column: values.detach().cpu().clone().numpy() for column, values in columns.items()})
