"""Captures the optimizer steps of verl-agent's actor, without a change to verl-agent.

    actor_rollout_ref.model.external_lib=echelon_capture.external_lib

Call `follow_steps` in the process of each actor; verl-agent imports the library named above there. Wrapped are `compute_policy_loss`,
`compute_policy_loss_gspo` and `kl_penalty` of the actor's module, and two methods of its actor.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from .ranks import Rank
from .steps import Steps
from .verl_steps import kl_estimator

ACTOR_MODULE = "verl.workers.actor.dp_actor"
_MARK = "_echelon_steps"


def follow_steps(every: int = 10, profile: str = "minimal") -> None:
    """Captures the optimizer steps of every actor of this process from now on: the tokens of every `every`-th step, the layout
    of the others. ImportError or AttributeError if verl-agent's actor is not as expected."""
    module = importlib.import_module(ACTOR_MODULE)
    if hasattr(module, _MARK):
        return
    actor, window = module.DataParallelPPOActor, _Window(Steps(every, profile))
    forward, update, penalty = actor._forward_micro_batch, actor._optimizer_step, module.kl_penalty
    losses = {"ppo-clip": module.compute_policy_loss, "gspo": module.compute_policy_loss_gspo}

    @functools.wraps(forward)
    def _forward_micro_batch(self: Any, micro_batch: Any, *arguments: Any, **keywords: Any) -> Any:
        window.actor, window.micro_batch = self, micro_batch
        return forward(self, micro_batch, *arguments, **keywords)

    @functools.wraps(penalty)
    def kl_penalty(*arguments: Any, **keywords: Any) -> Any:
        window.steps.add("referenceLogProb", keywords.get("ref_logprob"))
        return penalty(*arguments, **keywords)

    @functools.wraps(update)
    def _optimizer_step(self: Any, *arguments: Any, **keywords: Any) -> Any:
        result = update(self, *arguments, **keywords)
        window.end()
        return result

    def followed(name: str, policy_loss: Any) -> Any:
        @functools.wraps(policy_loss)
        def seen(**keywords: Any) -> Any:
            window.take(name, keywords)
            return policy_loss(**keywords)

        return seen

    module.compute_policy_loss = followed("ppo-clip", losses["ppo-clip"])
    module.compute_policy_loss_gspo = followed("gspo", losses["gspo"])
    module.kl_penalty = kl_penalty
    actor._forward_micro_batch, actor._optimizer_step = _forward_micro_batch, _optimizer_step
    setattr(module, _MARK, True)


class _Window:
    """The optimizer step that is under way. No method raises."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.actor: Any = None
        self.micro_batch: Any = None
        self._number = 1
        self._settings: dict[str, Any] = {}

    def take(self, name: str, call: dict[str, Any]) -> None:
        """A micro-batch, before its loss is computed: the arguments of the policy loss."""
        with self.steps.guarded():
            rank = rank_of(self.actor)
            if rank is None:
                return
            self.steps.rank = rank
            config, mask = self.actor.config, call["response_mask"]
            rows = len(self.micro_batch)
            is_share = config.use_dynamic_bsz
            facts = {
                "gradientScale": rows / config.ppo_mini_batch_size if is_share else None,
                "width": mask.shape[1],
            }
            columns = {
                "mask": mask,
                "id": self.micro_batch["responses"],
                "logProb": call["log_prob"],
                "oldLogProb": call["old_log_prob"],
            }
            self._settings = _settings(name, call, config)
            self.steps.take(self._number, columns, advantage=call["advantages"], facts=facts)

    def end(self) -> None:
        """The weights are updated."""
        self.steps.end(self._number, self._settings)
        self._number += 1


def rank_of(actor: Any) -> Rank | None:
    """None for a process that shares the rows of another one."""
    import torch.distributed as dist

    if not dist.is_initialized():
        return Rank()
    shared = int(getattr(actor, "ulysses_sequence_parallel_size", 1))
    if dist.get_rank() % shared != 0:
        return None
    return Rank(dist.get_rank() // shared, dist.get_world_size() // shared)


def _settings(name: str, call: dict[str, Any], config: Any) -> dict[str, Any]:
    low, high = (call["cliprange"] if call[key] is None else call[key] for key in ("cliprange_low", "cliprange_high"))
    dual = {"dualClip": call["clip_ratio_c"]} if name == "ppo-clip" else {}
    own = _aggregation(call["loss_agg_mode"])
    settings = {
        "trainer": "verl-agent",
        "policyLoss": {"name": name, "clipLow": low, "clipHigh": high, **dual},
        # GSPO has a mode of its own, whatever is set.
        "aggregation": own if name == "ppo-clip" else _aggregation("seq-mean-token-mean"),
    }
    if config.use_kl_loss:
        kl = {**kl_estimator(config.kl_loss_type), "coefficient": config.kl_loss_coef, "aggregation": own}
        kl.pop("inputClamp", None)
        settings["kl"] = kl
    return settings


def _aggregation(mode: str) -> dict[str, Any]:
    """verl-agent divides the mode with a norm by the width alone, not by the rows."""
    return {"mode": mode, "scope": "micro-batch", **({"rowCount": 1} if mode.endswith("norm") else {})}
