"""The scripted endpoint, and settings that play against it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Callable, Iterator

from spec_support import content_of, launch_of

from echelon_rayworker.engines.prompt.scripted import ScriptedServer, answer_to
from echelon_rayworker.engines.prompt.settings import Settings, settings_of


@contextmanager
def scripted(answer: Callable[[str], str] = answer_to) -> Iterator[ScriptedServer]:
    """The endpoint, for as long as the block lasts."""
    server = ScriptedServer(answer=answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.control({"hold": False})
        server.shutdown()
        server.server_close()
        thread.join()


def settings(base_url: str, *arguments: str) -> Settings:
    """Few games whose whole history stands in the prompt, at 1 and 2 per million tokens."""
    defaults = {
        "environment.history_length": "30", "evaluation.games": "8", "model.name": "scripted",
        "model.price.input": "1", "model.price.output": "2",
    }  # fmt: skip
    given = dict(one.split("=", 1) for one in arguments)
    values = {**defaults, "model.base_url": base_url, **given}
    experiment_dir = values.pop("experiment_dir", "")
    content = content_of("prompt", *(f"{key}={value}" for key, value in values.items()))
    return replace(settings_of(launch_of(content, Path("/")), {}), experiment_dir=experiment_dir)


class Reports:
    """A spool that keeps what is reported."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.values: list[dict[str, float]] = []
        self.batches: list[tuple[bytes, int]] = []

    def stage(self, name: str, step: int = 0, steps: int = 0) -> None:
        self.stages.append(name)

    def metrics(self, step: int, values: dict[str, float]) -> None:
        self.values.append(values)

    def batch(self, step: int, batch: bytes, rows: int) -> None:
        self.batches.append((batch, rows))
