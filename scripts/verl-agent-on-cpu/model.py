"""`python model.py DIRECTORY`: a Qwen2 model of a few thousand parameters with its tokenizer, which answers in the form
that the games want and walks at random. Nothing is downloaded."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import torch
from rooms import ROOMS
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

START, END, PAD = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
TEMPLATE = (
    "{% for one in messages %}{{ '<|im_start|>' + one['role'] + '\\n' + one['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
SEED, UPDATES, ROWS, CONTEXT = 7, 150, 32, 96


def answer(chance: random.Random) -> str:
    action = chance.choice(["look", *(f"go to {room}" for room in ROOMS)])
    # Now and then no action at all: the recipe has a penalty for that.
    return f"<think>{action}</think><action>{action}</action>" if chance.random() < 0.9 else f"<think>{action}</think>"


def train_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=768, special_tokens=[PAD, START, END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    names = ["input_ids", "attention_mask"]
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, model_input_names=names
    )
    fast.chat_template = TEMPLATE
    return fast


def train_model(tokenizer: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    torch.manual_seed(SEED)
    chance = random.Random(SEED)
    config = Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=2048, tie_word_embeddings=True,
        # What it looks back on is no longer in a game than it was while it learned.
        use_sliding_window=True, sliding_window=48, max_window_layers=0,
        bos_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model = Qwen2ForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    before = tokenizer(f"{START}assistant\n")["input_ids"]
    for _ in range(UPDATES):
        asked, wanted = [], []
        for _ in range(ROWS):
            noise = [chance.randrange(3, len(tokenizer)) for _ in range(chance.randrange(CONTEXT))]
            said = tokenizer(answer(chance) + END)["input_ids"]
            asked.append(noise + before + said)
            wanted.append([-100] * len(noise + before) + said)
        width = max(map(len, asked))
        ids = torch.tensor([[tokenizer.pad_token_id] * (width - len(row)) + row for row in asked])
        labels = torch.tensor([[-100] * (width - len(row)) + row for row in wanted])
        model(input_ids=ids, attention_mask=(ids != tokenizer.pad_token_id).long(), labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model


def main(directory: Path) -> None:
    torch.set_num_threads(1)
    chance = random.Random(SEED)
    texts = [answer(chance) for _ in range(200)] + [f"You are in the {room}. Your task is to: find the" for room in ROOMS]
    tokenizer = train_tokenizer([*texts, TEMPLATE, *sys.argv[2:]])
    model = train_model(tokenizer)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
