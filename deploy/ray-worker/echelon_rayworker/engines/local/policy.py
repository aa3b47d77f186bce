"""The policy: a bilinear form between the features of a prompt and those of a command, softmax over the commands.

score(command | prompt) = context(prompt)ᵀ W command(command, prompt), with both feature vectors scaled to length 1.
All arithmetic is float32 numpy on one thread, so that equal inputs give equal bits.

The policy does not start from nothing, as a pretrained model does not: `starting_weights` lets it prefer commands
that name things of the task and things in sight, mildly. It knows neither the order of steps nor which room holds
what, nor what to make of its history.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Sequence

import numpy as np

from .features import ALWAYS, command_size, context_size, shared_words, word_in_part

# Mild preferences of the starting policy: verb, part of the prompt (None: the task), words in common, preference.
_PREFERENCES = (
    ("take", None, 1, 3.0),
    ("take", None, 0, -1.0),
    ("put", None, 2, 2.0),
    ("put", None, 1, -3.0),
    ("clean", None, 2, 2.0),
    ("cool", None, 2, 2.0),
    ("heat", None, 1, 2.0),
    ("go", None, 1, 1.0),
    ("go", 1, 1, -1.0),
    ("go", 2, 1, -1.0),
)
_AVERSION_TO_REPEATING_IN_VAIN = 4.0
# Undo the scaling of the feature vectors, whose typical numbers of features are 45 and 7.
_SCALE = np.float32(np.sqrt(45 * 7))


@dataclass(frozen=True)
class Choices:
    """Rows of decisions: which features are on, as ragged index arrays.

    Row i's context features are `context[context_start[i]:context_start[i + 1]]`; its candidates are
    `candidate_start[i]` to `candidate_start[i + 1]`, and candidate j's features are
    `command[command_start[j]:command_start[j + 1]]`.
    """

    context: np.ndarray
    context_start: np.ndarray
    candidate_start: np.ndarray
    command: np.ndarray
    command_start: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.context_start) - 1


def assemble(contexts: list[list[int]], offered: list[list[Sequence[int]]]) -> Choices:
    """From the features of each row's prompt and of each of its candidates."""
    candidates = [*chain.from_iterable(offered)]
    return Choices(
        context=np.fromiter(chain.from_iterable(contexts), np.int16),
        context_start=_starts(contexts),
        candidate_start=_starts(offered),
        command=np.fromiter(chain.from_iterable(candidates), np.int16),
        command_start=_starts(candidates),
    )


def _starts(lists: Sequence[Sequence]) -> np.ndarray:
    """Where each begins when all stand one after another, and the end."""
    starts = np.zeros(len(lists) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, lists), np.int32, len(lists)), out=starts[1:])
    return starts


def _dense(index: np.ndarray, start: np.ndarray, size: int) -> np.ndarray:
    """Rows of length 1 with the given features on."""
    lengths = np.diff(start)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    dense = np.zeros((len(lengths), size), np.float32)
    dense[rows, index] = np.repeat((1 / np.sqrt(lengths)).astype(np.float32), lengths)
    return dense


@dataclass(frozen=True)
class DenseChoices:
    """`Choices` as matrices: context (rows × features), command (candidates × features), and each candidate's row."""

    context: np.ndarray
    command: np.ndarray
    row: np.ndarray
    start: np.ndarray


def densify(choices: Choices, weights: np.ndarray) -> DenseChoices:
    start = choices.candidate_start
    return DenseChoices(
        context=_dense(choices.context, choices.context_start, weights.shape[0]),
        command=_dense(choices.command, choices.command_start, weights.shape[1]),
        row=np.repeat(np.arange(len(start) - 1), np.diff(start)),
        start=start,
    )


def starting_weights(history_length: int) -> np.ndarray:
    """W of the starting policy, float32."""
    weights = np.zeros((context_size(history_length), command_size(history_length)), np.float32)
    for verb, part, count, preference in _PREFERENCES:
        if part is None or part <= history_length:
            weights[ALWAYS, shared_words(verb, part, count)] = _SCALE * np.float32(preference)
    for verb in ("put", "clean", "heat", "cool"):
        of_command = shared_words(verb, 0, 0)
        weights[word_in_part(0, "nothing"), of_command] = -_SCALE * np.float32(_AVERSION_TO_REPEATING_IN_VAIN)
    return weights


def log_probabilities(weights: np.ndarray, choices: DenseChoices, temperature: float = 1.0) -> np.ndarray:
    """Log-probability of every candidate within its row."""
    scores = np.einsum("ij,ij->i", (choices.context @ weights)[choices.row], choices.command)
    scores /= np.float32(temperature)
    first = choices.start[:-1]
    scores -= np.maximum.reduceat(scores, first)[choices.row]
    return scores - np.log(np.add.reduceat(np.exp(scores), first))[choices.row]


def sample(log_probability: np.ndarray, start: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """The chosen candidate's index (over all candidates) for each row, from one uniform number a row."""
    cumulative = np.concatenate([[0.0], np.cumsum(np.exp(log_probability.astype(np.float64)))])
    begin, end = cumulative[start[:-1]], cumulative[start[1:]]
    chosen = np.searchsorted(cumulative, begin + uniform * (end - begin), side="right") - 1
    return np.clip(chosen, start[:-1], start[1:] - 1).astype(np.int32)
