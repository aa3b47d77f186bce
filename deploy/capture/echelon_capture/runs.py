"""Streams captured data to the API of Echelon, as a run that Echelon did not start. One thread sends; the reporter's thread
waits while the buffer is full, and the trainer's thread never does."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import math
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import deque
from typing import Any, Callable, Mapping

from .format import build_batch, build_step_batch
from .settings import Settings

PART_BYTES = 128 * 1024
# A request of the API has at most 256 events and 256 kB.
GAMES_PER_EVENT = 2000
REQUEST_EVENTS = 256
REQUEST_BYTES = 200_000
BUFFER_BYTES = 64 * 1024 * 1024
HEARTBEAT_SECONDS = 60.0
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 30.0
ANSWER_SECONDS = 30.0
# The same request may succeed later. Every other refusal is final.
_LATER = frozenset((408, 425, 429))


class Refused(Exception):
    """The API will never accept the request."""


class RunSink:
    """A run, opened with the first report. `lost` counts the reports that did not reach this sink."""

    def __init__(self, settings: Settings, failed: Callable[[str], None], lost: Callable[[], int]) -> None:
        """`failed` is called once if the API refuses the run."""
        self._url = settings.url.rstrip("/")
        self._key = settings.token
        self._name = settings.run_name or os.path.basename(sys.argv[0]) or "run"
        self._failed = failed
        self._lost = lost
        self._told_lost = 0
        self._told_away = False
        self._changed = threading.Condition()
        self._reset()

    def batch(self, step: int, columns: Mapping[str, Any], rows: int) -> None:
        """Adds one batch in parts."""
        self._add_batch(step, build_batch(**columns), rows)

    def step(self, number: int, batch: Mapping[str, Any], rows: int) -> None:
        """Adds an optimizer step, which is a batch of the run."""
        self._add_batch(number, build_step_batch(batch), rows)

    def _add_batch(self, step: int, data: bytes, rows: int) -> None:
        if len(data) > BUFFER_BYTES // 2:
            raise ValueError(f"the batch has {len(data)} bytes, more than a run accepts")
        self._batches += 1
        digest = hashlib.sha256(data).hexdigest()
        count = max(1, math.ceil(len(data) / PART_BYTES))
        for index in range(count):
            part = data[index * PART_BYTES : (index + 1) * PART_BYTES]
            event = {
                "type": "batch", "step": max(0, step), "batch": self._batches, "index": index, "count": count,
                "rows": rows, "digest": digest, "bytes": len(part),
            }  # fmt: skip
            self._add(event, part)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Adds one step's metrics."""
        self._add({"type": "metrics", "step": max(0, step), "values": {name: _json(value) for name, value in values.items()}})

    def checkpoint(self, step: int, path: str) -> None:
        """Adds a checkpoint."""
        self._add({"type": "checkpoint", "step": max(0, step), "path": path})

    def evaluation(
        self, step: int, games: list[dict[str, Any]], panel: str, digest: str, decoding: Mapping[str, str]
    ) -> None:
        """Adds the games of an evaluation."""
        for at in range(0, len(games), GAMES_PER_EVENT):
            part = [
                {"invalidSteps" if name == "invalid_steps" else name: value for name, value in one.items()}
                for one in games[at : at + GAMES_PER_EVENT]
            ]
            self._add({
                "type": "evaluation", "step": max(0, step), "panel": panel, "digest": digest, "decoding": dict(decoding), "games": part,
            })  # fmt: skip

    def gap(self, step: int, rows: int, reason: str, of: str = "batch") -> None:
        """Adds a gap in place of a batch, or of an optimizer step, which is one as well."""
        self._add(_gap("batch", 1, reason, max(0, step), rows))

    def close(self, timeout_seconds: float) -> bool:
        """Ends the run, as failed if an exception ends the process, and waits until everything is sent. A later report
        opens another run."""
        with self._changed:
            if self._thread is None:
                return True
            if self._end is None:
                self._append(_ended(sys.exc_info()[1] or getattr(sys, "last_value", None)))
                self._end = self._sequence
                self._changed.notify_all()
            sent = self._changed.wait_for(lambda: self._over, timeout_seconds)
            if sent:
                self._reset()
        return sent

    def _reset(self) -> None:
        self._waiting: deque[tuple[int, str]] = deque()  # sequence and JSON of each event without an answer
        self._bytes = 0
        self._sequence = 0
        self._batches = 0
        self._thread: threading.Thread | None = None
        self._end: int | None = None  # sequence of the event that ends the run
        self._over = False
        self._opening = str(uuid.uuid4())
        self._run: Mapping[str, str] | None = None

    def _add(self, event: Mapping[str, Any], data: bytes | None = None) -> None:
        with self._changed:
            if self._end is not None:
                self._changed.wait_for(lambda: self._over)
                self._reset()
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="echelon-run", daemon=True)
                self._thread.start()
                self._append({"type": "started", "pid": os.getpid(), "nodeId": socket.gethostname(), "command": []})
            lost = self._lost()
            if lost > self._told_lost:
                self._append(_gap("reports", lost - self._told_lost, "the buffer of the trainer was full"))
                self._told_lost = lost
            self._append(event, data)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._over or self._bytes <= BUFFER_BYTES)

    def _append(self, event: Mapping[str, Any], data: bytes | None = None) -> None:
        if self._over:
            return
        self._sequence += 1
        numbered = {"sequence": self._sequence, "at": int(time.time() * 1000), "event": event}
        if data is not None:
            numbered["data"] = base64.b64encode(data).decode()
        text = json.dumps(numbered, allow_nan=False)
        if len(text) > REQUEST_BYTES:
            numbered["event"] = _gap("reports", 1, f"a report of {len(text)} bytes is larger than a request")
            text = json.dumps(numbered)
        self._waiting.append((self._sequence, text))
        self._bytes += len(text)

    def _send_all(self) -> None:
        try:
            while self._send_some():
                pass
        except Exception as error:  # noqa: BLE001 - the capture must never fail a training
            # First: a caller that waits for the end may then end the process.
            self._failed(f"the run is not followed any more: {error}")
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _send_some(self) -> bool:
        """Sends the oldest events, or an empty list as a heartbeat. A repeated request changes nothing. Returns whether the run
        continues."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) > 0, HEARTBEAT_SECONDS)
            texts, size, last = [], 0, 0
            for sequence, text in self._waiting:
                if len(texts) == REQUEST_EVENTS or (texts and size + len(text) > REQUEST_BYTES):
                    break
                texts.append(text)
                size, last = size + len(text), sequence
            ends = last == self._end
        if self._run is None:
            body = json.dumps({"name": self._name[:100]})
            self._run = json.loads(self._post("/v1/runs", body, {"Idempotency-Key": self._opening}))
        head = json.dumps({"token": self._run["token"]})[:-1]
        try:
            answer = self._post(self._run["events"], f'{head}, "events": [{", ".join(texts)}]}}')
        except Refused as error:
            # The answer to the last request was lost after it ended the run.
            if not (ends and "already-final" in str(error)):
                raise
            answer = json.dumps({"last": last})
        recorded = json.loads(answer)["last"]
        with self._changed:
            while self._waiting and self._waiting[0][0] <= recorded:
                self._bytes -= len(self._waiting.popleft()[1])
            self._over = ends
            self._changed.notify_all()
        return not ends

    def _post(self, path: str, body: str, headers: Mapping[str, str] = {}) -> str:
        """Sends a request until it is answered. Raises Refused for an answer that stays the same."""
        wait = FIRST_WAIT_SECONDS
        while True:
            request = urllib.request.Request(self._url + path, body.encode(), method="POST")
            for name, value in {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}", **headers}.items():
                request.add_header(name, value)
            try:
                with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
                    return answer.read().decode()
            except urllib.error.HTTPError as error:
                if error.code < 500 and error.code not in _LATER:
                    raise Refused(f"{error.code} {error.read(4000).decode(errors='replace')}") from None
                problem: Exception = error
            except (OSError, http.client.HTTPException) as error:
                problem = error
            if wait == LONGEST_WAIT_SECONDS and not self._told_away:
                self._told_away = True
                self._failed(f"Echelon does not answer: {problem}; the capture tries again")
            time.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)


def _json(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _gap(kind: str, count: int, reason: str, step: int = 0, rows: int = 0) -> dict[str, Any]:
    return {
        "type": "gap", "kind": kind, "step": step, "count": count, "bytes": 0, "rows": rows, "reason": reason[:1000],
    }  # fmt: skip


def _ended(error: BaseException | None) -> dict[str, Any]:
    failed = error is not None and not (isinstance(error, SystemExit) and error.code in (None, 0))
    return {
        "type": "ended", "cause": "failed" if failed else "succeeded", "exitCode": 1 if failed else 0, "signal": 0,
        "message": f"{type(error).__name__}: {error}"[:1000] if failed else "", "lastLines": [],
    }  # fmt: skip
