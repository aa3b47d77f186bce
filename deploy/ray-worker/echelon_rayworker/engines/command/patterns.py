"""Metrics in printed lines, by patterns: fixed text with one `{number}`. No expression of a user's is run.

The grammar, which docs/guides/run-your-own-program.md documents for users:

- Upper and lower case are the same. A blank is any number of blanks, at least one between two letters or two digits.
- A text that begins or ends with a letter, a digit or an underscore begins or ends a word there: `loss` is not found in
  `val_loss`, `val/loss`, `val.loss` or `val-loss`.
- A number is decimal, with an optional sign, fraction and exponent, or `nan`, `inf`, `infinity`. Commas or underscores may divide
  its digits into groups of three. It is no part of anything else: `0x10`, `nano`, `1.5.2`, `12:30`, `1,5` and `3k` are none.
- A training step is a whole number from 0 to 4,294,967,295.
"""

from __future__ import annotations

import re
from typing import Mapping, Optional

from echelon_rayworker.redaction import without_steering

from .steps import NO_STEP, step_of
from .tally import Tally

MAX_LINE_CHARACTERS = 2_000
_LONG = f"longer than {MAX_LINE_CHARACTERS:,} characters, so that they were not searched"
_NO_NUMBER = "had the text of a pattern but not the number after it"
# Every repetition has a bound, so that no line costs more than its length times these.
_GROUPS = r"[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){1,12}|(?:_[0-9]{3}){1,12})"
_DIGITS = rf"(?:{_GROUPS}|[0-9]{{1,40}})"
_NUMBER = rf"([-+]?(?:{_DIGITS}(?:\.[0-9]{{0,40}})?|\.[0-9]{{1,40}})(?:e[-+]?[0-9]{{1,4}})?|[-+]?(?:nan|inf(?:inity)?))"
_WORD = "[A-Za-z0-9_]"
_WORD_START, _WORD_END = r"(?<![A-Za-z0-9_./-])", rf"(?!{_WORD})"
# Of a number without a text before or after it.
_NUMBER_START, _NUMBER_END = r"(?<![A-Za-z0-9_.,:/+-])", rf"{_WORD_END}(?![.,:+-][0-9])"


class Pattern:
    """The text of one metric."""

    def __init__(self, text: str) -> None:
        before, after = text.split("{number}")
        start = _WORD_START if re.match(_WORD, before) else "" if before.strip() else _NUMBER_START
        end = _WORD_END if re.search(f"{_WORD}$", after) else ""
        # What follows the number at once in the pattern stands for itself.
        bound = _NUMBER_END if after[:1] in ("", " ") else "" if re.match(_WORD, after) else _WORD_END
        left = start + _flexible(f"{before}0")[:-1]
        self._whole = re.compile(f"{left}{_NUMBER}{bound}{_flexible(f'0{after}')[1:]}{end}", re.IGNORECASE)
        self._begin = re.compile(left, re.IGNORECASE) if before.strip() else None

    def number_in(self, line: str) -> Optional[float]:
        """The first number that has the text around it."""
        match = self._whole.search(line)
        return float(match[1].replace(",", "").replace("_", "")) if match else None

    def begins_in(self, line: str) -> bool:
        """Whether the text before the number is there, whatever follows it."""
        return self._begin is not None and self._begin.search(line) is not None


class PrintedPatterns:
    """Patterns by the names of their metrics; `step` names the training step of its line and of those that follow."""

    def __init__(self, patterns: Mapping[str, str], report) -> None:
        self.tally = Tally("metrics.lines", "printed lines")
        self._patterns = {name: Pattern(text) for name, text in patterns.items()}
        self.tally.missing.update(patterns)
        self._report = report
        self._step = 0

    def line(self, text: str) -> None:
        """Reports the metrics of one line."""
        line = without_steering(text)
        if len(line) > MAX_LINE_CHARACTERS:
            self.tally.note(_LONG, line)
            self.tally.ignore(line)
            return
        found = {name: number for name, one in self._patterns.items() if (number := one.number_in(line)) is not None}
        step = self._step_in(line, found)
        if step is None:
            # At the step before, they would be wrong.
            self.tally.refuse(line, NO_STEP)
            return
        if any(name not in found and name != "step" and one.begins_in(line) for name, one in self._patterns.items()):
            self.tally.note(_NO_NUMBER, line)
        self._step = step
        if found:
            self.tally.match()
            self.tally.missing.difference_update(found)
        else:
            self.tally.ignore(line)
        if values := {name: number for name, number in found.items() if name != "step"}:
            self._report(step, values)

    def look(self, everything: bool = False) -> None:
        """Nothing to look at."""

    def _step_in(self, line: str, found: Mapping[str, float]) -> Optional[int]:
        """The step of a line's metrics; None if the line names one that is none."""
        if "step" in found:
            return step_of(found["step"])
        names_one = bool(found) and "step" in self._patterns and self._patterns["step"].begins_in(line)
        return None if names_one else self._step


def _flexible(text: str) -> str:
    """An expression for a text whose blanks stand for any number of blanks."""
    parts = re.split(" +", text)
    expression = re.escape(parts[0])
    for before, after in zip(parts, parts[1:]):
        least = 1 if any(re.match(kind, before[-1:]) and re.match(kind, after) for kind in ("[A-Za-z_]", "[0-9_]")) else 0
        expression += f"[ \\t]{{{least},64}}{re.escape(after)}"
    return expression
