"""Trains with TRL's own GRPOTrainer on the CPU, with a random two-layer model, and keeps what the trainer wrote to disk.

    python scripts/golden/trl_run.py DIRECTORY

Run it in an environment made from trl.txt. The directory gets one folder per run of RUNS, each with the trainer's
`completions/` and its `training_args.bin`. Nothing is downloaded: model and tokenizer are made here.
"""

import os
import shutil
import sys
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

SEED = 20261123
WORDS = ["<pad>", "<eos>", "<unk>", *(f"w{i}" for i in range(29))]
PROMPTS = [f"w{i} w{i + 1} w{i + 2}" for i in range(16)]


def words(completion):
    return completion.split()


def even(completions, **_):
    """Binary: 1 if the first word has an even number."""
    return [float(bool(words(c)) and words(c)[0][1:].isdigit() and int(words(c)[0][1:]) % 2 == 0) for c in completions]


def decimal(completions, **_):
    """Decimal numbers that float32 does not hold exactly."""
    return [0.35 * len(set(words(c))) + 0.1 for c in completions]


def sometimes(completions, **_):
    """None (not scorable) for completions without `w3`."""
    return [1.0 if "w3" in words(c) else None for c in completions]


def constant(completions, **_):
    return [0.7 for _ in completions]


def large(completions, **_):
    return [1e6 + len(set(words(c))) for c in completions]


RUNS = {
    "group": dict(rewards=[even], config={}),
    "decimal": dict(rewards=[decimal], config=dict(num_generations=8)),
    "pair": dict(rewards=[decimal], config=dict(num_generations=2)),
    "none": dict(rewards=[decimal], config=dict(scale_rewards="none")),
    "batch": dict(rewards=[decimal], config=dict(scale_rewards="batch")),
    "weights": dict(rewards=[even, decimal, constant], config=dict(reward_weights=[1.0, 0.3, 0.25])),
    "gdpo": dict(rewards=[even, decimal], config=dict(multi_objective_aggregation="normalize_then_sum")),
    "unscorable": dict(rewards=[sometimes], config={}),
    "large": dict(rewards=[large], config={}),
    "evaluated": dict(rewards=[even], config=dict(eval_strategy="steps", eval_steps=2, per_device_eval_batch_size=4), evaluated=True),
}


def tokenizer():
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>",
        model_input_names=["input_ids", "attention_mask"],
    )


def model():
    config = Qwen2Config(
        vocab_size=len(WORDS), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=None,
    )
    return Qwen2ForCausalLM(config)


def train(name, run):
    set_seed(SEED)
    options = dict(
        output_dir="run", seed=SEED, use_cpu=True, bf16=False, report_to="none", logging_steps=1, max_steps=3,
        log_completions=True, num_completions_to_print=0, per_device_train_batch_size=16, num_generations=4,
        max_completion_length=6, save_strategy="no", disable_tqdm=True, gradient_checkpointing=False,
    )
    data = Dataset.from_dict({"prompt": PROMPTS})
    trainer = GRPOTrainer(
        model=model(), reward_funcs=run["rewards"], args=GRPOConfig(**{**options, **run["config"]}),
        train_dataset=data, processing_class=tokenizer(),
        **(dict(eval_dataset=data.select(range(1))) if run.get("evaluated") else {}),
    )
    trainer.train()
    torch.save(trainer.args, "run/training_args.bin")


def main(to):
    to = os.path.abspath(to)
    for name, run in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            train(name, run)
            shutil.rmtree(os.path.join(to, name), ignore_errors=True)
            shutil.copytree("run/completions", os.path.join(to, name, "completions"))
            shutil.copy("run/training_args.bin", os.path.join(to, name))
            os.chdir(to)


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    main(sys.argv[1])
