"""Trains a random tiny model with TRL's GRPOTrainer on the CPU."""

import argparse
from datasets import Dataset
from echelon_capture.trl import follow
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

options = argparse.ArgumentParser()
options.add_argument("--lr", type=float)
options.add_argument("--steps", type=int)
options.add_argument("--folder")
options.add_argument("--resume")
options = options.parse_args()
set_seed(1)

words = ["<pad>", "<eos>", "<unk>", *(f"w{i}" for i in range(29))]
tokens = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
tokens.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=tokens, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
)
model = Qwen2ForCausalLM(Qwen2Config(
    vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=None,
))

def different_words(completions, **_):
    return [float(len(set(completion.split()))) for completion in completions]

trainer = GRPOTrainer(
    model=model,
    reward_funcs=[different_words],
    args=GRPOConfig(
        output_dir=options.folder, learning_rate=options.lr, max_steps=options.steps, save_steps=2, logging_steps=1,
        per_device_train_batch_size=16, num_generations=4, max_completion_length=6, use_cpu=True, bf16=False,
        report_to="none", disable_tqdm=True, gradient_checkpointing=False,
    ),
    train_dataset=Dataset.from_dict({"prompt": [f"w{i} w{i + 1} w{i + 2}" for i in range(16)]}),
    processing_class=tokenizer,
)
follow(trainer)
trainer.train(resume_from_checkpoint=options.resume)
