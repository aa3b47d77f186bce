"""Trains with TRL's own GRPOTrainer in the settings that decide which rows, columns and configuration of a dump count.

    python scripts/golden/trl_contexts.py DIRECTORY [NAME…]

Works with every TRL from 0.28 on; a run with settings that a version does not know is skipped. Model, tokenizer and the plain runs are those of
trl_run.py.
"""

import inspect
import os
import shutil
import subprocess
import sys
import tempfile

import torch
from datasets import Dataset
from transformers import set_seed
from trl import GRPOConfig, GRPOTrainer
from trl_run import PROMPTS, RUNS as PLAIN, SEED, decimal, even, model, sometimes, tokenizer, words


def partly(completions, **_):
    """None for completions of an even number of words."""
    return [0.5 * len(set(words(c))) if len(words(c)) % 2 else None for c in completions]


def infinite(completions, **_):
    return [float("inf") if "w3" in words(c) else float(len(set(words(c)))) for c in completions]


def logged(completions, log_extra, **_):
    """As `even`, with columns of its own in the dump: whole numbers, halves and decimals."""
    log_extra("words", [len(words(c)) for c in completions])
    log_extra("halves", [0.5 * len(set(words(c))) for c in completions])
    log_extra("tenths", [0.1 * len(set(words(c))) for c in completions])
    return even(completions)


def another_even():
    def even(completions, **_):
        return [0.25 * len(set(words(c))) for c in completions]

    return even


EVALUATES = dict(per_device_eval_batch_size=4, num_generations_eval=2)
RUNS = {
    "evaluated-pairs": dict(rewards=[decimal], config=dict(eval_strategy="steps", eval_steps=2, **EVALUATES)),
    "evaluated-share": dict(rewards=[decimal], config=dict(eval_strategy="steps", eval_steps=0.5, max_steps=4, **EVALUATES)),
    "evaluated-epoch": dict(
        rewards=[decimal],
        config=dict(eval_strategy="epoch", num_train_epochs=2, max_steps=-1, save_strategy="epoch", **EVALUATES),
    ),
    "evaluated-epoch-unrecorded": dict(
        rewards=[decimal], config=dict(eval_strategy="epoch", num_train_epochs=2, max_steps=-1, **EVALUATES)
    ),
    "evaluated-first": dict(rewards=[decimal], config=dict(eval_strategy="steps", eval_steps=9, eval_on_start=True, **EVALUATES)),
    "evaluated-batch": dict(
        rewards=[decimal], config=dict(eval_strategy="steps", eval_steps=1, scale_rewards="batch", per_device_eval_batch_size=4)
    ),
    "evaluated-reused": dict(
        rewards=[decimal], config=dict(eval_strategy="steps", eval_steps=3, num_iterations=2, max_steps=5, **EVALUATES)
    ),
    "evaluated-by-hand": dict(rewards=[decimal], config=EVALUATES, by_hand=True),
    "extra": dict(rewards=[logged], config={}, since="log_extra"),
    "extra-beside-two": dict(rewards=[decimal, logged], config={}, since="log_extra"),
    "extra-weights": dict(rewards=[decimal, logged], config=dict(reward_weights=[1.0, 0.5]), since="log_extra"),
    "extra-saved": dict(rewards=[decimal, logged], config=dict(save_strategy="steps", save_steps=3), since="log_extra"),
    "partly": dict(rewards=[even, partly], config={}),
    "partly-gdpo": dict(rewards=[even, partly], config=dict(multi_objective_aggregation="normalize_then_sum")),
    "unscorable-none": dict(rewards=[sometimes], config=dict(scale_rewards="none")),
    "unscorable-batch": dict(rewards=[sometimes], config=dict(scale_rewards="batch")),
    "unscorable-gdpo": dict(rewards=[sometimes, partly], config=dict(multi_objective_aggregation="normalize_then_sum")),
    # One step: the advantages of some versions and settings are no numbers, and end the model.
    "infinite": dict(rewards=[infinite], config=dict(max_steps=1)),
    "infinite-none": dict(rewards=[infinite], config=dict(max_steps=1, scale_rewards="none")),
    "infinite-batch": dict(rewards=[infinite], config=dict(max_steps=1, scale_rewards="batch")),
    "same-name": dict(rewards=[even, another_even()], config={}),
    "same-name-weights": dict(rewards=[even, another_even()], config=dict(reward_weights=[1.0, 0.5])),
    "accumulated": dict(rewards=[decimal], config=dict(per_device_train_batch_size=4, gradient_accumulation_steps=4)),
    "longer-generation": dict(
        rewards=[decimal], config=dict(per_device_train_batch_size=8, steps_per_generation=4, max_steps=6)
    ),
    "processes": dict(rewards=[decimal, even], config=dict(per_device_train_batch_size=8), processes=2),
    "resumed": dict(
        rewards=[decimal], config=dict(save_strategy="steps", save_steps=2, max_steps=2), resumed=dict(scale_rewards="none", max_steps=4)
    ),
}


def options(run, **more):
    return GRPOConfig(**{
        **dict(
            output_dir="run", seed=SEED, use_cpu=True, bf16=False, report_to="none", logging_steps=1, max_steps=3, log_completions=True,
            num_completions_to_print=0, per_device_train_batch_size=16, num_generations=4, max_completion_length=6,
            save_strategy="no", disable_tqdm=True, gradient_checkpointing=False,
        ),
        **run["config"], **more,
    })  # fmt: skip


def trainer_of(run, **more):
    set_seed(SEED)
    data = Dataset.from_dict({"prompt": PROMPTS})
    args = options(run, **more)
    given = dict(eval_dataset=data.select(range(2))) if args.do_eval or run.get("by_hand") else {}
    return GRPOTrainer(
        model=model(), reward_funcs=run["rewards"], args=args, train_dataset=data, processing_class=tokenizer(), **given
    )


def train(run):
    trainer = trainer_of(run)
    trainer.train()
    if run.get("by_hand"):
        trainer.evaluate()
    if "resumed" in run:
        trainer = trainer_of(run, **run["resumed"])
        trainer.train(resume_from_checkpoint=True)
    if trainer.accelerator.is_main_process:
        torch.save(trainer.args, "run/training_args.bin")


def is_known(run):
    if run.get("since") == "log_extra" and not hasattr(GRPOTrainer, "_log_completion_extra"):
        return False
    known = inspect.signature(GRPOConfig).parameters
    return all(key in known for key in run["config"])


def keep(to, name):
    """What a run leaves: completions, arguments and the state of its checkpoints, without the weights."""
    shutil.rmtree(os.path.join(to, name), ignore_errors=True)
    for folder, _, files in os.walk("run"):
        for file in files:
            if file.endswith(".parquet") or file in ("training_args.bin", "trainer_state.json"):
                place = os.path.join(to, name, os.path.relpath(folder, "run"))
                os.makedirs(place, exist_ok=True)
                shutil.copy(os.path.join(folder, file), place)


def main(to, names):
    runs = {**PLAIN, **RUNS}
    here = os.path.abspath(__file__)
    for name in names or runs:
        run = runs[name]
        if not is_known(run):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            if run.get("processes", 1) > 1 and "LOCAL_RANK" not in os.environ:
                command = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={run['processes']}", here]
                subprocess.run([*command, "--worker", name], check=True)
            else:
                train(run)
            keep(to, name)
            os.chdir(to)
        print("trained", name, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        train({**PLAIN, **RUNS}[sys.argv[2]])
    else:
        os.makedirs(sys.argv[1], exist_ok=True)
        main(os.path.abspath(sys.argv[1]), sys.argv[2:])
