"""Metrics in what the program writes: JSON objects in the lines that it prints, or in a file to which it appends."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Iterator, Mapping, Optional, Protocol

from echelon_rayworker.files import open_regular

from .settings import is_inside
from .steps import NAMES, NO_STEP, step_of
from .tally import Tally

Report = Callable[[int, Mapping[str, float]], None]

MAX_JSON_CHARACTERS = 1024 * 1024
MAX_DEPTH = 8
# Of a file, in one look: so often so much.
READS = 16
READ_BYTES = 4 * 1024 * 1024
# Of what is left of a file after the program has ended.
END_READS = 256


class Source(Protocol):
    """Metrics of one attempt."""

    tally: Optional[Tally]

    def line(self, text: str) -> None:
        """A line that the first rank printed."""

    def look(self, everything: bool = False) -> None:
        """Called now and then; ``everything``: the program has ended, so that nothing more comes."""


class NoSource:
    """No metrics but those of the capture package."""

    tally: Optional[Tally] = None

    def line(self, text: str) -> None:
        """Ignored."""

    def look(self, everything: bool = False) -> None:
        """Nothing to look at."""


class PrintedJson(NoSource):
    """Lines that hold a JSON object after a prefix."""

    def __init__(self, prefix: str, report: Report) -> None:
        self._prefix = prefix
        self.tally = Tally("metrics.jsonPrefix", "printed lines")
        self._objects = JsonObjects(report, self.tally)

    def line(self, text: str) -> None:
        """Reports the metrics of one line."""
        rest = text[len(self._prefix) :]
        # Without a prefix, ordinary lines stand among the objects.
        if text.startswith(self._prefix) and (self._prefix or rest.lstrip().startswith("{")):
            self._objects.take(rest)
        else:
            self.tally.ignore(text)


class JsonFile(NoSource):
    """A file of JSON lines; what an earlier attempt has written there is ignored."""

    def __init__(self, directory: str, name: str, report: Report) -> None:
        self._directory = directory
        self._tail = FileTail(os.path.join(directory, name), from_now=True)
        self.tally = Tally("metrics.jsonFile", f"lines of {name}")
        self._objects = JsonObjects(report, self.tally)
        self._rest = b""

    def look(self, everything: bool = False) -> None:
        """Reports what was appended; at the end also a last line without a line feed."""
        if not is_inside(self._tail.path, self._directory):
            return
        for data in self._tail.portions(END_READS if everything else READS):
            *lines, self._rest = (self._rest + data).split(b"\n")
            # One byte more than a line may have, so that it is refused as too long.
            self._rest = self._rest[: MAX_JSON_CHARACTERS + 1]
            for line in lines:
                self._take(line)
        if everything:
            self._take(self._rest)
            self._rest = b""
            if left := self._tail.unread():
                self.tally.refuse("", f"{left:,} bytes of the file were not read in time")

    def _take(self, line: bytes) -> None:
        if line.strip():
            self._objects.take(line.decode("utf-8", "replace"))


class FileTail:
    """What is appended to a file. A file that is replaced or shortened is read from its beginning."""

    def __init__(self, path: str, from_now: bool = False) -> None:
        """``from_now``: what is in it already is ignored."""
        self.path = path
        self._inode = 0
        self._offset = 0
        if from_now and os.path.exists(path):
            known = os.stat(path)
            self._inode, self._offset = known.st_ino, known.st_size

    def portions(self, reads: int = READS) -> Iterator[bytes]:
        """What is new, up to a bound: a file that grows without end has its turn again."""
        for _ in range(reads):
            if not (data := self._read()):
                return
            yield data

    def unread(self) -> int:
        """Bytes that are still to be read."""
        try:
            return max(0, os.stat(self.path).st_size - self._offset)
        except OSError:
            return 0

    def _read(self) -> bytes:
        try:
            fd = open_regular(self.path)
        except OSError:
            return b""
        try:
            known = os.fstat(fd)
            if known.st_ino != self._inode or known.st_size < self._offset:
                self._inode, self._offset = known.st_ino, 0
            data = os.pread(fd, READ_BYTES, self._offset)
            self._offset += len(data)
            return data
        finally:
            os.close(fd)


class JsonObjects:
    """Objects with a training step (see ``steps``); every other number is a metric, in objects within them under `outer/inner`."""

    def __init__(self, report: Report, tally: Tally) -> None:
        self._report, self._tally = report, tally
        self._step = 0

    def take(self, text: str) -> None:
        """Reports one object; anything else is counted."""
        if len(text) > MAX_JSON_CHARACTERS:
            self._tally.refuse(text, f"it is longer than {MAX_JSON_CHARACTERS:,} characters")
            return
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            self._tally.refuse(text, "it is no JSON object")
            return
        name = next((name for name in NAMES if given.get(name) is not None), None)
        if name is not None and (step := step_of(given.pop(name))) is not None:
            self._step = step
        elif name is not None:
            # At the step before, its metrics would be wrong.
            self._tally.refuse(text, NO_STEP)
            return
        self._take_numbers(text, given, has_step=name is not None)

    def _take_numbers(self, text: str, given: Mapping[str, Any], has_step: bool) -> None:
        try:
            found = _numbers(given)
        except OverflowError:
            self._tally.refuse(text, "a number is beyond double precision")
            return
        if not found:
            self._tally.ignore(text)
            return
        if not has_step:
            self._tally.note(f"named no step and count for step {self._step:,} (names of steps: {', '.join(NAMES)})", text)
        self._tally.match()
        self._report(self._step, found)


def _numbers(given: Mapping[str, Any], prefix: str = "", depth: int = 1) -> dict[str, float]:
    """OverflowError for an integer that no float has."""
    found: dict[str, float] = {}
    for name, value in given.items():
        if isinstance(value, dict) and depth < MAX_DEPTH:
            found.update(_numbers(value, f"{prefix}{name}/", depth + 1))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[prefix + name] = float(value)
    return found
