"""Updates of verl's own engine and losses as one of several ranks, the hook on, with what is planted into verl's functions."""

from __future__ import annotations

import contextlib
import functools
from types import SimpleNamespace

from echelon_capture import verl_rows, verl_steps
from echelon_capture.row_marks import ROW, STEP
from verl_support import batch_of, config_of, engine_of, model_of

ROWS, MICRO_BATCHES = 6, 3
LOCAL = dict(batch_num_tokens=None, global_batch_size=None, dp_size=1)


def trains(*, plant=None, weights=False, dtype="float32", updates=2, places=None, rows=None, every=1, profile="minimal", mode="vanilla", received=None, followed=False, sure=False, **settings):
    """A case of `run_ranks`: updates of one rank, with what is planted into verl's functions. `rows`: further arguments of `batch_of`;
    `every`, `profile`: see `follow_steps`; `followed`: the driver is followed as well (verl.py); `received`: changes the batch before the actor gets it; `sure`: a policy that is sure of tokens."""

    def case(rank, size):
        import torch
        from verl.workers import engine_workers
        from verl.workers.engine.fsdp import transformer_impl
        from verl.workers.utils import losses

        transformer_impl.get_device_id = lambda: "cpu"
        own = (losses.get_policy_loss_fn, losses.kl_penalty, engine_workers.TrainingWorker.set_loss_fn, losses.agg_loss)
        with plant(rank, size) if plant else contextlib.nullcontext():
            verl_steps.follow_steps(every=every, profile=profile)
            torch.manual_seed(7)
            model = model_of().to(getattr(torch, dtype))
            if sure:
                model.lm_head.weight.data *= 25
            worker = object.__new__(engine_workers.TrainingWorker)
            worker.engine = engine_of(model)
            averaged(worker.engine, size)
            worker.set_loss_fn(functools.partial(losses.ppo_loss, config=config_of(mode, **settings)))
            torch.manual_seed(100 + rank)
            data = batch_of(model, weights, ROWS, size, **(rows or {}))
            if places:
                # As the driver gives them, after the rows were dealt to the ranks in another order.
                data[ROW] = places(rank, size)
            if followed:
                data[ROW] = data.get(ROW, torch.arange(ROWS) + rank * ROWS + 3 * STEP)
                mark_rows(data)
            if received:
                received(data)
            for _ in range(updates):
                worker.engine.train_batch(data.clone(), worker.loss_fn)
        (losses.get_policy_loss_fn, losses.kl_penalty, engine_workers.TrainingWorker.set_loss_fn, losses.agg_loss) = own
        delattr(losses, verl_steps._MARK)

    return case


def mark_rows(data):
    """Gives a batch what the driver gives it when it computed the old log-probs."""
    computed = SimpleNamespace(batch=dict(old_log_probs=data["old_log_probs"]))
    verl_rows.mark(SimpleNamespace(batch={key: data[key] for key in ("responses", "attention_mask", "response_mask")}), computed)
    for key in (verl_rows.DIGEST, verl_rows.SAMPLED):
        data[key] = computed.batch[key]


def averaged(engine, size):
    """As FSDP does, before the update."""
    import torch

    own = engine.optimizer_step

    def optimizer_step():
        for parameter in engine.module.parameters():
            torch.distributed.all_reduce(parameter.grad)
            parameter.grad /= size
        return own()

    engine.optimizer_step = optimizer_step


def aggregates(change):
    """Plants another `agg_loss`: `change(own, loss_mat, loss_mask, mode, info, size)` gives the loss."""

    @contextlib.contextmanager
    def plant(_rank, size):
        from verl.trainer.ppo import core_algos

        own = core_algos.agg_loss

        def agg_loss(loss_mat, loss_mask, loss_agg_mode, **info):
            return change(own, loss_mat, loss_mask, loss_agg_mode, info, size)

        core_algos.agg_loss = agg_loss
        try:
            yield
        finally:
            core_algos.agg_loss = own

    return plant


def scaled(factor):
    """The right loss times a factor of the ranks."""
    return aggregates(lambda own, mat, mask, mode, info, size: own(mat, mask, mode, **info) * factor(size))


def counted(change):
    """Plants another count: `change(info, loss_mat, loss_mask)` gives the arguments that differ."""
    return aggregates(lambda own, mat, mask, mode, info, size: own(mat, mask, mode, **{**info, **change(info, mat, mask)}))


@contextlib.contextmanager
def rejected_after_the_count(_rank, _size):
    """Tokens leave the mask of the loss after verl has counted `loss_mask`."""
    from verl.workers.utils import losses

    own = losses.ppo_loss

    def ppo_loss(config, model_output, data, dp_group=None):
        import torch

        mask = data["response_mask"]
        kept = [row * (torch.arange(len(row)) != 1) for row in mask.unbind()]
        data = data.clone()
        data["response_mask"] = torch.nested.as_nested_tensor(kept, layout=torch.jagged)
        return own(config=config, model_output=model_output, data=data, dp_group=dp_group)

    losses.ppo_loss = ppo_loss
    try:
        yield
    finally:
        losses.ppo_loss = own


@contextlib.contextmanager
def own_count(_rank, size):
    """Each rank divides by its own tokens: the sum over the ranks is left away."""
    import torch

    own = torch.distributed.all_reduce

    def all_reduce(tensor, *arguments, **keywords):
        if tensor.dim() > 0:
            return own(tensor, *arguments, **keywords)
        tensor *= size
        return None

    torch.distributed.all_reduce = all_reduce
    try:
        yield
    finally:
        torch.distributed.all_reduce = own
