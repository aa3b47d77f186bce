"""The record of all responses: written durably before a response is used, so that no attempt pays for one twice.

`responses.jsonl` in the experiment's directory has one JSON object a line: `reserved` before a call, the cost that it
may have at most; `lost` for a try that may have been paid although no response came; `text` with usage and cost for the
response. Every line names the call. A line that a killed process left torn is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from .errors import OtherPromptError

FILE = "responses.jsonl"


@dataclass(frozen=True)
class Call:
    """Which response: of which episode (`ROUND.GAME`), trial and step. `kind`: `action`, or `reflection` after a trial."""

    episode: str
    trial: int
    step: int
    kind: str = "action"

    def __str__(self) -> str:
        what = f"step {self.step}" if self.kind == "action" else "reflection"
        return f"episode {self.episode}, trial {self.trial}, {what}"


@dataclass(frozen=True)
class Response:
    """A model's response, with what it used."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cost: float


def digest_of(request: dict[str, Any]) -> str:
    """What a recorded response is compared by."""
    return hashlib.sha256(json.dumps(request, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Responses:
    """The record of one experiment. An empty directory: in memory only."""

    def __init__(self, directory: str) -> None:
        self._file = None
        self._known: dict[Call, tuple[str, Response]] = {}
        self._reserved: dict[Call, list[float]] = {}
        self._paid = self._lost = 0.0
        if directory:
            os.makedirs(directory, exist_ok=True)
            self._file = open(os.path.join(directory, FILE), "a+b")
            self._read()

    def find(self, call: Call, digest: str) -> Response | None:
        """The recorded response; None if there is none. OtherPromptError if it is one to another prompt."""
        if call not in self._known:
            return None
        recorded, response = self._known[call]
        if recorded != digest:
            raise OtherPromptError(
                f"{call}: the recorded response is one to another prompt ({recorded[:12]} there, {digest[:12]} here): "
                "the environment or the engine has changed since; submit a new experiment"
            )
        return response

    def reserve(self, call: Call, cost: float) -> None:
        """A call is about to be made that costs so much at most."""
        self._write(call, reserved=cost)
        self._reserved.setdefault(call, []).append(cost)

    def lose(self, call: Call, cost: float) -> None:
        """A try of the call may have been paid, and gave nothing."""
        self._write(call, lost=cost)
        self._lost += cost

    def release(self, call: Call) -> None:
        """The call was not made after all, or was refused."""
        self._write(call, released=True)
        self._release(call)

    def add(self, call: Call, digest: str, response: Response) -> None:
        """The response to the call; it is on the disk when this returns."""
        self._write(call, digest=digest, **asdict(response))
        self._know(call, digest, response)

    @property
    def spent(self) -> float:
        """What all calls have cost at most: responses, lost tries, and calls whose end is not known."""
        return self._paid + self.unaccounted

    @property
    def unaccounted(self) -> float:
        """The part of `spent` that brought no response, or none yet."""
        return self._lost + sum(sum(costs) for costs in self._reserved.values())

    def all(self) -> list[Response]:
        """All responses."""
        return [response for _, response in self._known.values()]

    def close(self) -> None:
        if self._file:
            self._file.close()

    def _read(self) -> None:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._file.truncate(whole)
        for line in data[:whole].splitlines():
            entry = json.loads(line)
            call = Call(**entry.pop("call"))
            if "reserved" in entry:
                self._reserved.setdefault(call, []).append(entry["reserved"])
            elif "lost" in entry:
                self._lost += entry["lost"]
            elif "released" in entry:
                self._release(call)
            else:
                self._know(call, entry.pop("digest"), Response(**entry))

    def _know(self, call: Call, digest: str, response: Response) -> None:
        self._release(call)
        self._known[call] = (digest, response)
        self._paid += response.cost

    def _release(self, call: Call) -> None:
        self._reserved[call].pop()
        if not self._reserved[call]:
            del self._reserved[call]

    def _write(self, call: Call, **entry: Any) -> None:
        if self._file is None:
            return
        self._file.write(json.dumps({"call": asdict(call), **entry}, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
