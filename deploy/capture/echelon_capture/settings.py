"""The variables that this package reads. The README says what each means."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Mapping

SPOOL, EXPERIMENT, ATTEMPT = "ECHELON_SPOOL", "ECHELON_EXPERIMENT", "ECHELON_ATTEMPT"
URL, TOKEN, RUN_NAME = "ECHELON_URL", "ECHELON_TOKEN", "ECHELON_RUN_NAME"
FOLDER, RANKS = "ECHELON_CAPTURE_DIR", "ECHELON_CAPTURE_RANKS"
STEPS_EVERY, STEPS_PROFILE = "ECHELON_STEPS_EVERY", "ECHELON_STEPS_PROFILE"
# Set by the launcher: processes of Python install the hook. See inject/sitecustomize.py.
HOOK = "ECHELON_CAPTURE_HOOK"

DEFAULT_FOLDER = "echelon-capture"
DEFAULT_EVERY, DEFAULT_PROFILE = 10, "minimal"


@dataclass(frozen=True)
class Settings:
    """The settings of one process; an omitted variable is an empty text."""

    spool: str
    experiment: str
    attempt: str
    url: str
    token: str = field(repr=False)
    run_name: str
    # Of the captured files of all ranks.
    folder: str
    rank: str
    has_all_ranks: bool
    every: str
    profile: str

    @staticmethod
    def of(environment: Mapping[str, str]) -> "Settings":
        """The settings that an environment states."""
        texts = [environment.get(name, "") for name in (SPOOL, EXPERIMENT, ATTEMPT, URL, TOKEN, RUN_NAME)]
        return Settings(
            *texts,
            folder=environment.get(FOLDER) or DEFAULT_FOLDER,
            rank=environment.get("RANK", ""),
            has_all_ranks=environment.get(RANKS) == "all",
            every=environment.get(STEPS_EVERY, ""),
            profile=environment.get(STEPS_PROFILE) or DEFAULT_PROFILE,
        )

    @property
    def is_run(self) -> bool:
        """Whether the data goes to a run of Echelon's API."""
        return bool(self.url and self.token)

    @property
    def is_silent(self) -> bool:
        """Whether this process of a distributed training captures optimizer steps only: by default all but rank 0."""
        return self.rank not in ("", "0") and not self.has_all_ranks

    @property
    def own_folder(self) -> str:
        """The folder of this process's files; a folder per rank if all ranks capture."""
        return os.path.join(self.folder, f"rank-{self.rank}") if self.rank and self.has_all_ranks else self.folder

    @property
    def steps_every(self) -> int:
        """Every which optimizer step is captured with its tokens; 0: none is captured. ValueError if it is no number."""
        return int(self.every) if self.every else DEFAULT_EVERY
