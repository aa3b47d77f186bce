"""Captures the optimizer steps of verl's actor, without a change to verl.

    actor_rollout_ref.model.external_lib=echelon_capture.external_lib

Call `follow_steps` in the process of each actor; verl imports the library named above there. Wrapped are `get_policy_loss_fn` and
`kl_penalty` of the module of the losses, and `TrainingWorker.set_loss_fn`. Tested with verl 0.9.1.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, Mapping

from .ranks import Rank
from .row_marks import ROW, STEP
from .steps import Steps, version_of
from .verl_rows import DIGEST, SAMPLED, correction_in, digests, marked

LOSSES_MODULE = "verl.workers.utils.losses"
WORKERS_MODULE = "verl.workers.engine_workers"
_MARK = "_echelon_steps"
# What the trainer divides by, of the whole step, by the mode.
_COUNTS = {
    "token-mean": "batch_num_tokens",
    **dict.fromkeys(("seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm"), "global_batch_size"),
}
_CLAMP = {"logRatioClamp": 20}
# Losses that ignore the configured mode. The KL term keeps it.
_OWN_MODES = dict.fromkeys(("sapo", "geo_mean"), "seq-mean-token-mean")
_KLS = {"kl": "k1", "k1": "k1", "abs": "abs", "mse": "k2", "k2": "k2", "low_var_kl": "k3", "k3": "k3"}


def follow_steps(every: int = 10, profile: str = "minimal") -> None:
    """Captures the optimizer steps of every actor of this process from now on: the tokens of every `every`-th step, the layout
    of the others. ImportError or AttributeError if verl's modules are not as expected."""
    losses, workers = importlib.import_module(LOSSES_MODULE), importlib.import_module(WORKERS_MODULE)
    if hasattr(losses, _MARK):
        return
    # What the loss of the micro-batch that is under way was called with.
    call: dict[str, Any] = {}
    get, penalty, set_loss = losses.get_policy_loss_fn, losses.kl_penalty, workers.TrainingWorker.set_loss_fn

    @functools.wraps(get)
    def get_policy_loss_fn(name: Any) -> Any:
        policy_loss = get(name)

        @functools.wraps(policy_loss)
        def seen(**keywords: Any) -> Any:
            call.update(keywords, name=name)
            return policy_loss(**keywords)

        return seen

    @functools.wraps(penalty)
    def kl_penalty(*arguments: Any, **keywords: Any) -> Any:
        call.update(keywords)
        return penalty(*arguments, **keywords)

    @functools.wraps(set_loss)
    def set_loss_fn(self: Any, loss_fn: Any) -> Any:
        engine = self.engine
        if not engine.is_mp_src_rank_with_outputs():
            # Another rank has the same rows.
            return set_loss(self, loss_fn)
        rank = Rank(engine.get_data_parallel_rank(), engine.get_data_parallel_size())
        return set_loss(self, _followed(loss_fn, engine, call, Steps(every, profile, rank)))

    losses.get_policy_loss_fn, losses.kl_penalty = get_policy_loss_fn, kl_penalty
    workers.TrainingWorker.set_loss_fn = set_loss_fn
    setattr(losses, _MARK, True)


def _followed(loss_fn: Any, engine: Any, call: dict[str, Any], steps: Steps) -> Any:
    """The loss function, which hands each micro-batch to `steps`; the engine's update ends a step."""
    number, settings = 1, {}
    update = engine.optimizer_step

    @functools.wraps(loss_fn)
    def followed(*arguments: Any, **keywords: Any) -> Any:
        call.clear()
        result = loss_fn(*arguments, **keywords)
        if call and result[0].requires_grad:
            with steps.guarded():
                # The engine gives them by name; `data` is the whole micro-batch.
                data = keywords.get("data")
                settings.update(settings_of(call, correction_in(data)))
                _take(steps, number, call, result, engine, data)
        return result

    @functools.wraps(update)
    def optimizer_step(*arguments: Any, **keywords: Any) -> Any:
        nonlocal number
        result = update(*arguments, **keywords)
        steps.end(number, settings)
        number += 1
        return result

    engine.optimizer_step = optimizer_step
    return followed


def _take(steps: Steps, number: int, call: dict[str, Any], result: Any, engine: Any, data: Any) -> None:
    (loss, metrics), mask = result, call["response_mask"]
    columns = {
        "mask": mask,
        "id": _of_response(data, "responses", mask),
        "sampled": _of_response(data, SAMPLED, mask),
        "rolloutLogProb": _of_response(data, "rollout_log_probs", mask),
        "logProb": call["log_prob"],
        "oldLogProb": call["old_log_prob"],
        "referenceLogProb": call.get("ref_logprob"),
        "rolloutWeight": call.get("rollout_is_weights"),
    }
    info, scaler = call["config"].global_batch_info, getattr(engine, "scaler", None)
    counted = _COUNTS.get(_OWN_MODES.get(call["name"], call["loss_agg_mode"])) if call["name"] != "geo_mean" else None
    facts = {
        "lossScale": scaler.get_scale() if scaler is not None else None,
        "reportedDenominator": info[counted] if counted is not None else None,
        "reported": _reported(call["name"], metrics) or None,
        "reportedLoss": loss.detach() if not call["config"].entropy_coeff else None,
        "width": mask.shape[1],
    }
    # A weight is made of the log-probs of both engines.
    weighed = ("rolloutWeight", "rolloutLogProb") if call.get("rollout_is_weights") is not None else ()
    steps.take(
        number, columns, advantage=call["advantages"], facts=facts, needed=("sampled", "referenceLogProb", *weighed),
        rows=_rows(data, columns["id"], call["old_log_prob"]),
    )  # fmt: skip


def _rows(data: Any, ids: Any, old: Any) -> Any:
    """The places of the rows in the batch of the driver, and their digests there and here, if it follows the trainer (verl.py): for the
    thread that writes."""
    places, numbers = _of_rows(data, ROW, len(old)), _of_rows(data, DIGEST, len(old))
    if places is None:
        return None

    def known(_columns: Any) -> dict[str, Any]:
        own = [divmod(int(place), STEP) for place in places.cpu().numpy()]
        rows = {"rows": {"trajectory": [f"{step}/{row}" for step, row in own]}}
        if numbers is None or ids is None:
            return rows
        sources, lengths = marked(numbers)
        return {**rows, "digests": digests(ids, old, lengths), "sources": sources}

    return known


def _of_rows(data: Any, key: str, count: int) -> Any:
    """A tensor of one number a row; None if the micro-batch does not have it."""
    found = data.get(key) if data is not None and key in data.keys() else None
    return None if found is None or found.is_nested or tuple(found.shape) != (count,) else found


def _of_response(data: Any, key: str, mask: Any) -> Any:
    """A tensor of the micro-batch over the tokens of the mask; None if it is not there, or is of other tokens."""
    import torch

    column = data.get(key) if data is not None and key in data.keys() else None
    if column is None:
        return None
    if column.is_nested:
        column = torch.nested.to_padded_tensor(column.detach(), 0)
    rows, width = mask.shape
    if column.dim() != 2 or column.shape[0] != rows:
        return None
    missing = width - column.shape[1]
    return torch.nn.functional.pad(column, (0, missing)) if missing > 0 else column[:, :width]


# verl's metrics of a micro-batch by the keys of the format, with the losses that compute them as the format says.
_WITH_KL = ("vanilla", "gspo", "cispo", "sapo", "dppo_tv", "geo_mean")
_CLIPPED = ("vanilla", "geo_mean")
_METRICS = {
    "actor/pg_loss": ("policyLoss", None), "kl_loss": ("klLoss", None),
    "actor/ppo_kl": ("approxKl", _WITH_KL), "actor/pg_clipfrac": ("clipFraction", _CLIPPED),
    "actor/pg_clipfrac_lower": ("clipFractionLower", _CLIPPED),
}  # fmt: skip


def _reported(loss: str, metrics: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for name, (key, losses) in _METRICS.items():
        values = getattr(metrics.get(name), "values", None)
        if values and (losses is None or loss in losses):
            found[key] = float(values[-1])
    return found


def settings_of(call: dict[str, Any], correction: dict[str, Any]) -> dict[str, Any]:
    """What the actor's configuration says of a step. `correction`: the limits of the rollout weights, which are settings of the driver.
    ValueError for a loss that cannot be verified."""
    config = call["config"]
    settings = {
        "trainer": "verl",
        "trainerVersion": version_of("verl"),
        "backend": str(config.strategy),
        "policyLoss": _policy_loss(call["name"], config),
        "aggregation": _aggregation(call["name"], call["loss_agg_mode"], config),
    }
    if call.get("rollout_is_weights") is not None:
        settings["rolloutCorrection"] = correction
    if config.use_kl_loss:
        settings["kl"] = {"coefficient": config.kl_loss_coef, **kl_estimator(config.kl_loss_type)}
        if call["name"] in _OWN_MODES:
            settings["kl"]["aggregation"] = _aggregation("", call["loss_agg_mode"], config)
    return settings


def _policy_loss(name: str, config: Any) -> dict[str, Any]:
    low = config.clip_ratio if config.clip_ratio_low is None else config.clip_ratio_low
    high = config.clip_ratio if config.clip_ratio_high is None else config.clip_ratio_high
    clip = {"clipLow": low, "clipHigh": high}
    if name == "vanilla":
        return {"name": "ppo-clip", **clip, "dualClip": config.clip_ratio_c, **_CLAMP}
    if name == "cispo":
        return {"name": "cispo", **clip, **_CLAMP}
    if name == "gspo":
        return {"name": "gspo", **clip}
    if name == "dppo_tv":
        return {"name": "dppo-tv", **clip, "cap": config.clip_ratio_c, **_CLAMP}
    if name == "sapo":
        return {"name": "sapo", "tauPositive": config.tau_pos, "tauNegative": config.tau_neg, **_CLAMP}
    if name == "gpg":
        return {"name": "reinforce"}
    if name == "geo_mean":
        return {"name": "gmpo", **clip}
    if name == "dro":
        return {"name": "dro", "beta": config.policy_loss.dro_beta}
    raise ValueError(f"not verifiable: loss_mode={name!r}")


def _aggregation(loss: str, mode: str, config: Any) -> dict[str, Any]:
    """Over all micro-batches and ranks, whatever counts the trainer has: they are checked. `loss`: empty for the KL term."""
    mode, scale = _OWN_MODES.get(loss, mode), config.loss_scale_factor
    if loss == "geo_mean":
        # A plain mean over the rows of a micro-batch; verl adds the micro-batches, and averages over the ranks.
        return {"mode": mode, "scope": "micro-batch", "microBatches": "sum"}
    return {"mode": mode, "scope": "global", **({"scaleFactor": scale} if scale and mode.endswith("norm") else {})}


def kl_estimator(kind: str) -> dict[str, Any]:
    """The estimator of verl's `kl_loss_type`, with its clamps. ValueError if it is not known."""
    name = _KLS.get(kind.removesuffix("+"))
    if name is None:
        raise ValueError(f"not verifiable: kl_loss_type={kind!r}")
    clamps = {"inputClamp": 20, "outputClamp": 10} if name == "k3" else {}
    return {"estimator": name, **clamps, **({"gradientOf": "k2"} if kind.endswith("+") else {})}
