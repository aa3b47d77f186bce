"""The states of Ray's nodes, as the ray-worker last saw them: a file in its state directory, for supervisors, which do not use Ray."""

from __future__ import annotations

import json
import os
import time
from typing import Collection, Iterable

from echelon_rayworker.files import read_regular
from echelon_rayworker.gen import rayworker_pb2 as pb

FILE = "nodes.json"
_MAX_BYTES = 4 * 1024 * 1024
# The ray-worker looks every two seconds while a dispatcher asks it. An older file says that none does.
_WATCHED_SECONDS = 30.0
_NEXT_LOOK_SECONDS = 5.0
_MAX_REASON_CHARACTERS = 200


def note_states(state_dir: str, nodes: Iterable[pb.Node]) -> None:
    """Writes the states of all nodes; the file's time says when. A disk that refuses them is ignored: the next look writes them."""
    path = os.path.join(state_dir, FILE)
    states = {node.id: "" if node.alive else node.state_reason or "dead" for node in nodes}
    text = json.dumps(states, sort_keys=True).encode()
    try:
        if _read(path) == text:
            os.utime(path)
            return
        temporary = f"{path}.new"
        with open(temporary, "wb") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        pass


def lost_nodes(state_dir: str, wanted: Collection[str], since: float, wait_seconds: float = _NEXT_LOOK_SECONDS) -> dict[str, str]:
    """Those of the ``wanted`` nodes that Ray lists as dead or no longer lists, each with Ray's reason, by a look after ``since`` (time
    of the system) if one comes in time. Empty if nothing is known."""
    path = os.path.join(state_dir, FILE)
    until = time.monotonic() + wait_seconds
    try:
        seen = os.stat(path).st_mtime
        while wanted and seen < since and time.time() - seen < _WATCHED_SECONDS and time.monotonic() < until:
            time.sleep(0.1)
            seen = os.stat(path).st_mtime
        states = json.loads(_read(path))
        known = {str(node): str(reason)[:_MAX_REASON_CHARACTERS] for node, reason in states.items()}
    except Exception:  # noqa: BLE001 - a training can put anything there
        return {}
    reasons = {node: known.get(node, "Ray does not list it any more") for node in wanted}
    return {node: reason for node, reason in reasons.items() if reason} if known else {}


def _read(path: str) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES)
    except FileNotFoundError:
        return b""
