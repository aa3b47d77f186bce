"""What a source of metrics has seen and understood, for the sentence that says so."""

from __future__ import annotations

from echelon_rayworker.bounds import shortened

MAX_EXAMPLE_CHARACTERS = 200


class Tally:
    """Counts of one source. ``name``: its field in the spec. ``unit``: what it looks at, in the plural."""

    def __init__(self, name: str, unit: str) -> None:
        self._name, self._unit = name, unit
        self.seen = self.matched = self.refused = 0
        self.missing: set[str] = set()
        """Names of metrics that were not found yet."""
        self._unmatched = self._refused = ""
        # Counts and first examples.
        self._notes: dict[str, tuple[int, str]] = {}

    def match(self) -> None:
        """One that had metrics."""
        self.seen += 1
        self.matched += 1

    def ignore(self, example: str) -> None:
        """One that has nothing to do with metrics, such as an ordinary line."""
        self.seen += 1
        self._unmatched = self._unmatched or example

    def refuse(self, example: str, why: str, count: int = 1) -> None:
        """One whose metrics could not be read. ``why``: in words that follow "because"."""
        self.seen += count
        self.refused += count
        self._refused = self._refused or f"{why}: {_shown(example)}"

    def note(self, text: str, example: str) -> None:
        """Counts something that is worth a word, and may be as it should."""
        count, first = self._notes.get(text, (0, example))
        self._notes[text] = (count + 1, first)

    def finding(self) -> str:
        """What was seen, in a sentence."""
        parts = [f"{self._name} matched {self.matched:,} of {self.seen:,} {self._unit}"]
        if self.refused:
            parts.append(f"{self.refused:,} could not be read, the first because {self._refused}")
        elif self._unmatched and not self.matched:
            parts.append(f"the first without a match is {_shown(self._unmatched)}")
        if self.matched and self.missing:
            parts.append(f"never found: {', '.join(sorted(self.missing))}")
        parts += [f"{count:,} {text}, the first {_shown(first)}" for text, (count, first) in self._notes.items()]
        return "; ".join(parts)

    def loss(self) -> str:
        """Why metrics are missing, for a gap; empty if none are."""
        return f"{self._unit} of {self._name} that could not be read, the first because {self._refused}" if self.refused else ""


def _shown(example: str) -> str:
    return f'"{shortened(example.strip(), MAX_EXAMPLE_CHARACTERS)}"'
