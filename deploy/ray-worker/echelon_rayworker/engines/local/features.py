"""Words to numbers: what the policy sees of a prompt and of a command, as indices of features that are on.

A prompt is the task, the newest observation (part 0) and up to K observations before it (parts 1 … K); the actions
between them are not in it. Its features are the words of each part, and pairs of a part's verb with a word of the
task. A command's features are its words, and with its verb: how many of its words occur in each part of the prompt.

The vocabulary is closed (the words of `house`), so a feature's index is arithmetic; words outside it are ignored.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from . import house

_STATES = tuple(state for _, state in house.APPLIANCES.values())
_COMMAND_VERBS = ("go", "take", "put", *(verb for verb, _ in house.APPLIANCES.values()))
_VERBS = ("are", "arrive", "nothing", *_COMMAND_VERBS[1:])
_FURNITURE = tuple(name for names in house.FURNITURE.values() for name in names)
_NAMES = (*house.FURNITURE, *_FURNITURE, *house.APPLIANCES, *house.THINGS)
VOCABULARY = tuple(dict.fromkeys((*_NAMES, *_STATES, *_VERBS, *_COMMAND_VERBS)))

_ID = {word: index for index, word in enumerate(VOCABULARY)}
_VERB_ID = {verb: index for index, verb in enumerate(_VERBS)}
_COMMAND_VERB_ID = {verb: index for index, verb in enumerate(_COMMAND_VERBS)}
_WORDS = len(VOCABULARY)
_COUNTS = 3  # words in common: 0, 1, 2 or more
_PART_SIZE = _WORDS + len(_VERBS) * (_COUNTS + _WORDS)
_WORD = re.compile(r"[a-z]+")
_CONTENT = frozenset((*_NAMES, *_STATES))


class Prompt(NamedTuple):
    """`recent` holds the newest observation first, then up to K earlier ones."""

    task: str
    recent: tuple[str, ...]


def context_size(history_length: int) -> int:
    """Features of a prompt: one that is always on, the task's words, and each part's."""
    return 1 + _WORDS + (history_length + 1) * _PART_SIZE


def command_size(history_length: int) -> int:
    """Features of a command: its words, and verb × words in common with the task and with each part."""
    return _WORDS + (history_length + 2) * len(_COMMAND_VERBS) * _COUNTS


ALWAYS = 0


def word_in_part(part: int, word: str) -> int:
    """Index of the prompt's feature "this word occurs in that part"."""
    return 1 + _WORDS + part * _PART_SIZE + _ID[word]


def shared_words(verb: str, part: int | None, count: int) -> int:
    """Index of the command's feature "this verb, and `count` words in common with that part" (None: the task)."""
    slot = 0 if part is None else part + 1
    return _WORDS + (slot * len(_COMMAND_VERBS) + _COMMAND_VERB_ID[verb]) * _COUNTS + min(count, _COUNTS - 1)


@lru_cache(maxsize=100_000)
def _known(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _WORD.findall(text.lower()) if word in _ID))


@lru_cache(maxsize=100_000)
def _content(text: str) -> frozenset[str]:
    return frozenset(_known(text)) & _CONTENT


@lru_cache(maxsize=100_000)
def _part_features(part: int, text: str, task: str) -> tuple[int, ...]:
    words = _known(text)
    verb = next((_VERB_ID[word] for word in words if word in _VERB_ID), 0)
    base = 1 + _WORDS + part * _PART_SIZE
    pairs = base + _WORDS + verb * (_COUNTS + _WORDS)
    shared = min(len(_content(task) & _content(text)), _COUNTS - 1)
    features = [base + _ID[word] for word in words]
    features.append(pairs + shared)
    features += [pairs + _COUNTS + _ID[word] for word in sorted(_content(task))]
    return tuple(features)


@lru_cache(maxsize=10_000)
def _task_features(task: str) -> tuple[int, ...]:
    return (ALWAYS, *(1 + _ID[word] for word in sorted(_content(task))))


def context_features(prompt: Prompt) -> list[int]:
    """Indices, each once, of the prompt's features that are on."""
    features = list(_task_features(prompt.task))
    for part, text in enumerate(prompt.recent):
        features += _part_features(part, text, prompt.task)
    return features


@lru_cache(maxsize=10_000)
def _words(offered: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(_ID[word] for word in _known(command)) for command in offered)


@lru_cache(maxsize=50_000)
def _shared(offered: tuple[str, ...], part: int | None, text: str) -> tuple[int, ...]:
    return tuple(
        shared_words(command.partition(" ")[0], part, len(_content(command) & _content(text)))
        for command in offered
    )


def command_features(offered: tuple[str, ...], prompt: Prompt) -> list[tuple[int, ...]]:
    """Indices, each once, of the features that are on under this prompt, for each of the commands."""
    shared = [_shared(offered, part, text) for part, text in enumerate(prompt.recent)]
    return [
        (*words, *counts) for words, *counts in zip(_words(offered), _shared(offered, None, prompt.task), *shared)
    ]
