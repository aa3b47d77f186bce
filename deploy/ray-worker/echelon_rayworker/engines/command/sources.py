"""Metrics in the lines that the program prints, or in a file to which it appends."""

from __future__ import annotations

import json
import math
import os
import re
from typing import Any, Callable, Iterator, Mapping, Optional, Protocol

from echelon_rayworker.files import open_regular

from .settings import is_inside

Report = Callable[[int, Mapping[str, float]], None]

MAX_LINE_CHARACTERS = 2_000
MAX_JSON_CHARACTERS = 65_536
MAX_DEPTH = 8
# Of a file, in one look: so often so much.
READS = 16
READ_BYTES = 4 * 1024 * 1024
# Every repetition has a bound, so that no line costs more than its length times these.
_NUMBER = r"([-+]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,4})?|[-+]?(?:nan|inf))"
_BLANKS = r"[ \t]{0,64}"


class Source(Protocol):
    """Metrics of one attempt."""

    def line(self, text: str) -> None:
        """A line that the first rank printed."""

    def look(self) -> None:
        """Called now and then, and once after the end."""


class NoSource:
    """No metrics but those of the capture package."""

    def line(self, text: str) -> None:
        """Ignored."""

    def look(self) -> None:
        """Nothing to look at."""


class PrintedPatterns(NoSource):
    """Fixed texts with one `{number}`, by the names of their metrics; `step` names the training step of what follows."""

    def __init__(self, patterns: Mapping[str, str], report: Report) -> None:
        self._patterns = {name: _compiled(pattern) for name, pattern in patterns.items()}
        self._report = report
        self._step = 0

    def line(self, text: str) -> None:
        """Reports the metrics of one line."""
        if len(text) > MAX_LINE_CHARACTERS:
            return
        found = {name: float(match[1]) for name, one in self._patterns.items() if (match := one.search(text))}
        step = found.pop("step", None)
        if step is not None and math.isfinite(step):
            self._step = max(0, int(step))
        if found:
            self._report(self._step, found)


class PrintedJson(NoSource):
    """Lines that hold a JSON object after a prefix."""

    def __init__(self, prefix: str, report: Report) -> None:
        self._prefix = prefix
        self._objects = JsonObjects(report)

    def line(self, text: str) -> None:
        """Reports the metrics of one line."""
        if text.startswith(self._prefix):
            self._objects.take(text[len(self._prefix) :])


class JsonFile(NoSource):
    """A file of JSON lines; what an earlier attempt has written there is ignored."""

    def __init__(self, directory: str, name: str, report: Report) -> None:
        self._directory = directory
        self._tail = FileTail(os.path.join(directory, name), from_now=True)
        self._objects = JsonObjects(report)
        self._rest = b""

    def look(self) -> None:
        """Reports what was appended."""
        if not is_inside(self._tail.path, self._directory):
            return
        for data in self._tail.portions():
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._rest = self._rest[:MAX_JSON_CHARACTERS]
            for line in lines:
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

    def portions(self) -> Iterator[bytes]:
        """What is new, up to a bound: a file that grows without end has its turn again."""
        for _ in range(READS):
            if not (data := self._read()):
                return
            yield data

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
    """Objects with a `step`; every other number is a metric, in objects within them under `outer/inner`. Others are ignored."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._step = 0

    def take(self, text: str) -> None:
        """Reports one object."""
        if len(text) > MAX_JSON_CHARACTERS or not text.lstrip().startswith("{"):
            return
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            return
        step = given.pop("step", None)
        if isinstance(step, (int, float)) and not isinstance(step, bool) and math.isfinite(step):
            self._step = max(0, int(step))
        if found := _numbers(given):
            self._report(self._step, found)


def _numbers(given: Mapping[str, Any], prefix: str = "", depth: int = 1) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in given.items():
        if isinstance(value, dict) and depth < MAX_DEPTH:
            found.update(_numbers(value, f"{prefix}{name}/", depth + 1))
        elif (number := _number(value)) is not None:
            found[prefix + name] = number
    return found


def _number(value: Any) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _compiled(pattern: str) -> re.Pattern[str]:
    """No expression of a user's is run: the texts around the number are taken as they are."""
    before, after = (_BLANKS.join(map(re.escape, re.split(" +", part))) for part in pattern.split("{number}"))
    return re.compile(before + _NUMBER + after, re.IGNORECASE)
