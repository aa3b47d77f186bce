"""Trainings with TRL's GRPOTrainer as one of several ranks, the hook on, with what is planted into the trainer."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from echelon_capture import trl, trl_steps

GOLDEN = Path(__file__).parents[3] / "scripts" / "golden"
MICRO_BATCHES = 3
SMALL = dict(
    max_steps=2, per_device_train_batch_size=4, gradient_accumulation_steps=MICRO_BATCHES, num_generations=4, learning_rate=1e-2,
    logging_strategy="no", log_completions=False, ddp_timeout=120,
)  # fmt: skip


def trains(plant=None, every=1, **settings):
    """A case of `run_ranks`: a training, with what is planted into the trainer. `every`: see `follow_steps`."""

    def case(rank, size):
        import trl_run
        from transformers import Qwen2ForCausalLM

        folder = Path(os.environ["ECHELON_CAPTURE_DIR"]) / f"work-{rank}"
        (folder / "run").mkdir(parents=True)
        os.chdir(folder)
        own, make = trl_run.GRPOTrainer.train, trl_run.model

        def followed(trainer):
            with plant(trainer, size) if plant else contextlib.nullcontext():
                trl.follow(trainer)
                trl_steps.follow_steps(trainer, every=every)
                own(trainer)

        # The reference policy is loaded by the name of the model.
        trl_run.GRPOTrainer.train, trl_run.model = followed, lambda: Qwen2ForCausalLM.from_pretrained(folder.parents[2] / "model")
        try:
            trl_run.train("ranks", dict(rewards=[trl_run.decimal], config={**SMALL, **settings}))
        finally:
            trl_run.GRPOTrainer.train, trl_run.model = own, make

    return case


def items(change):
    """Plants another `num_items_in_batch`: `change(inputs, count, size)`."""

    @contextlib.contextmanager
    def plant(trainer, size):
        own = trainer._compute_loss

        def faulty(model, inputs):
            return own(model, {**inputs, "num_items_in_batch": change(inputs, inputs["num_items_in_batch"], size)})

        trainer._compute_loss = faulty
        yield

    return plant


def scaled(factor):
    """The right loss times a factor of the ranks."""

    @contextlib.contextmanager
    def plant(trainer, size):
        own = trainer._compute_loss
        trainer._compute_loss = lambda model, inputs: own(model, inputs) * factor(size)
        yield

    return plant


@contextlib.contextmanager
def full_window(trainer, _size):
    """The last, shorter window is divided as if it were full."""
    own = trainer._compute_loss

    def faulty(model, inputs):
        given, trainer.current_gradient_accumulation_steps = trainer.current_gradient_accumulation_steps, 2 * MICRO_BATCHES
        try:
            return own(model, inputs)
        finally:
            trainer.current_gradient_accumulation_steps = given

    trainer._compute_loss = faulty
    yield


def generated(change):
    """Plants a change of what the generation of a process returns: `change(result, rank)`."""

    @contextlib.contextmanager
    def plant(trainer, _size):
        own = trainer._generate_and_score_completions

        def faulty(inputs):
            result = own(inputs)
            change(result, trainer.accelerator.process_index)
            return result

        trainer._generate_and_score_completions = faulty
        yield

    return plant
