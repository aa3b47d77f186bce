"""Verification of files and folders that a trainer wrote."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from .errors import VerifierError
from .node import CLI, find_node
from .report import BatchReport, as_html, counts_from

if TYPE_CHECKING:
    import pandas

_UNREADABLE = 2


@dataclass(frozen=True)
class FolderReport:
    """The reports of all batches in a file or folder, in step order."""

    path: str
    batches: tuple[BatchReport, ...]
    problems: tuple[str, ...]
    """Files that cannot be read, and why."""
    _options: tuple[str, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Every batch is ok and every file could be read."""
        return not self.problems and all(batch.ok for batch in self.batches)

    @property
    def wrong(self) -> int:
        """Wrong rows in all batches."""
        return sum(batch.wrong for batch in self.batches)

    @cached_property
    def explanation(self) -> str | None:
        """How the advantage of the first wrong row comes about; None if no row is wrong. Reads the file again."""
        first = next((batch for batch in self.batches if batch.wrong), None)
        if first is None:
            return None
        place = ["--batch", first.name, "--row", str(first.wrong_rows[0])]
        done = _call(["explain", *place, *self._options, "--", self.path], 600.0)
        return done.stdout if done.returncode == 0 else None

    def to_pandas(self) -> pandas.DataFrame:
        """One line per batch. ImportError without pandas."""
        import pandas

        names = ("name", "rows", "exact", "rounding", "wrong", "unverifiable", "ok", "consistent", "fingerprint", "file")
        return pandas.DataFrame([{name: getattr(batch, name) for name in names} for batch in self.batches], columns=list(names))

    def _repr_html_(self) -> str:
        return as_html(self.batches, self.explanation)


def verify_folder(
    path: str | os.PathLike[str],
    *,
    estimator: str | None = None,
    params: Mapping[str, Any] | None = None,
    precision: str | None = None,
    group_size: int | None = None,
    rewards: Sequence[str] = (),
    weights: Sequence[float] = (),
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    timeout: float = 600.0,
) -> FolderReport:
    """Verifies the batches and dumps in a file or folder, as `echelon-verify PATH` does.

    The other arguments state what the files do not say of the run; they are the command's options. `params`: parameters
    by the command's names, such as `{"epsilon": 1e-4, "normalizeByStd": False}`. `columns`: for a table, the column of each
    meaning. ValueError for an option that does not exist or fit. VerifierError with the code `unreadable` if nothing can be
    read, and `timeout` after `timeout` seconds.
    """
    given = {
        "--from": format,
        "--estimator": estimator,
        "--precision": precision,
        "--group-size": group_size,
        "--rewards": ",".join(rewards) or None,
        "--weights": ",".join(map(str, weights)) or None,
        "--map": ",".join(f"{meaning}={column}" for meaning, column in (columns or {}).items()) or None,
    }
    options = [f"{flag}={value}" for flag, value in given.items() if value is not None]
    options += [f"--param={key}={_text(value)}" for key, value in (params or {}).items()]
    done = _call(["verify", "--json", *options, "--", os.fspath(path)], timeout)
    problems = tuple(done.stderr.splitlines())
    batches = _batches(done.stdout)
    if not batches and done.returncode == _UNREADABLE:
        if done.stdout == "":
            raise ValueError(" ".join(problems))
        raise VerifierError("unreadable", "\n".join(map(_message, problems)))
    if done.returncode not in (0, 1, _UNREADABLE, 3):
        raise VerifierError("failed", f"The verifier ended with status {done.returncode}: {done.stderr}")
    reports = tuple(BatchReport(**counts_from(batch)) for batch in batches)
    # A remark on skipped files is no problem.
    unread = tuple(map(_message, problems)) if done.returncode == _UNREADABLE else ()
    return FolderReport(os.fspath(path), reports, unread, tuple(options))


def _call(arguments: list[str], timeout: float) -> subprocess.CompletedProcess[str]:
    command = [find_node(), str(CLI), *arguments]
    environment = {**os.environ, "NO_COLOR": "1"}
    try:
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=timeout, env=environment, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise VerifierError("timeout", f"The verifier took longer than {timeout:g} s, so it was ended.") from None


def _batches(text: str) -> list[dict[str, Any]]:
    return json.loads(text)["batches"] if text else []


def _message(line: str) -> str:
    """The message of an error, which is a line of JSON."""
    try:
        return str(json.loads(line)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return line


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
