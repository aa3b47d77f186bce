"""`python -m echelon_rayworker.engines.prompt.scripted [--port 8790]`: an endpoint with a scripted agent, for trials and tests.

It speaks the part of OpenAI's protocol that the prompt engine uses, and answers from the prompt alone. It solves every
task of the local environment whose history it sees whole, except those that ask for something hot: these it solves only
after a reflection. POST /control sets faults: {"next": [FAULT…], "always": FAULT or null, "hold": true or false}, a
FAULT is one of FAULTS or a status. GET /control counts the answers: `paid` in all, `repeated` for calls answered before; and the requests that wait.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable

from ..local.house import APPLIANCES, FURNITURE

FAULTS = ("cut", "malformed", "slow")
SLOW_SECONDS = 2.0
# For 429, in seconds; short enough for tests.
RETRY_AFTER = "0.2"
_ROOM_OF = {name: room for room, names in FURNITURE.items() for name in names}
_TASK = re.compile(r"^Your task: put a (?:(clean|hot|cool) )?(\w+) in/on the (\w+)\.$", re.MULTILINE)
_NOW = re.compile(r"^Your observation now: (.*)$", re.MULTILINE)
_ADMISSIBLE = re.compile(r"^Admissible actions: (.*)$", re.MULTILINE)


def answer_to(prompt: str) -> str:
    """The scripted agent's answer."""
    task, now, admissible = _TASK.search(prompt), _NOW.search(prompt), _ADMISSIBLE.search(prompt)
    if not (task and now and admissible):
        return "I did not finish the task in time. Next time I will heat the thing before I put it down."
    seen = [line[2:] for line in prompt[: now.start()].splitlines() if line.startswith("- You ")]
    state, thing, target = task.groups()
    offered = admissible[1].split("; ")
    gives_up = state == "hot" and "Your reflections on these trials:" not in prompt
    action = offered[0] if gives_up else _choose((state, thing, target), [*seen, now[1]], offered)
    return f"<think>The next step towards the {target} is: {action}.</think>\n<action>{action}</action>"


def _choose(task: tuple[str | None, str, str], seen: list[str], offered: list[str]) -> str:
    state, thing, target = task
    holding = ready = False
    for text in seen:
        holding = f"You take the {thing} " in text or (holding and f"You put the {thing} " not in text)
        ready = ready or any(f"You {verb} the {thing} " in text for verb, after in APPLIANCES.values() if after == state)
    if not holding:
        return _search(thing, target, seen, offered)
    if state and not ready:
        place = next(place for place, (_, after) in APPLIANCES.items() if after == state)
        verb = APPLIANCES[place][0]
        return _first(offered, f"{verb} {thing} 1 with {place} 1", f"go to {place} 1", "go to kitchen")
    return _first(offered, f"put {thing} 1 in/on {target} 1", f"go to {target} 1", f"go to {_ROOM_OF[target]}")


def _search(thing: str, target: str, seen: list[str], offered: list[str]) -> str:
    """Takes the thing, else looks at furniture and then into rooms that were not seen yet."""
    taken = [one for one in offered if one.startswith(f"take {thing} ")]
    furniture = [
        f"go to {name} 1" for name in _ROOM_OF
        if name != target and not any(f"You arrive at the {name} 1." in text for text in seen)
    ]
    rooms = [f"go to {room}" for room in FURNITURE if not any(f"You are in the {room}." in text for text in seen)]
    return _first(offered, *taken, *furniture, *rooms)


def _first(offered: list[str], *wanted: str) -> str:
    return next((one for one in wanted if one in offered), offered[0])


class ScriptedServer(ThreadingHTTPServer):
    """The endpoint. `faults` are those of the next requests."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str = "127.0.0.1", port: int = 0, answer: Callable[[str], str] = answer_to) -> None:
        super().__init__((host, port), _Handler)
        self.answer = answer
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._open.set()
        self._next: list[str] = []
        self._always: str | None = None
        self._answered: dict[str, int] = {}
        self._requests = self._held = self._in_flight = 0
        # Of the last request that was answered.
        self.last_headers: dict[str, str] = {}
        self.last_prompt = ""

    @property
    def base_url(self) -> str:
        return f"http://{self.server_address[0]}:{self.server_address[1]}/v1"

    def control(self, wish: dict) -> None:
        """Sets faults; see the module."""
        with self._lock:
            self._next += [str(fault) for fault in wish.get("next", [])]
            if "always" in wish:
                self._always = wish["always"] and str(wish["always"])
        if "hold" in wish:
            (self._open.clear if wish["hold"] else self._open.set)()

    def counts(self) -> dict[str, int]:
        """What was asked and answered so far."""
        with self._lock:
            paid = sum(self._answered.values())
            return {"requests": self._requests, "paid": paid, "repeated": paid - len(self._answered)}

    def waiting(self) -> dict[str, int]:
        """Requests that are not answered yet, and how many of them are held."""
        with self._lock:
            return {"inFlight": self._in_flight, "held": self._held}

    def begin(self, headers: dict[str, str]) -> None:
        """A request has come."""
        with self._lock:
            self._in_flight += 1
            self.last_headers = headers

    def end(self) -> None:
        """A request was answered, or dropped."""
        with self._lock:
            self._in_flight -= 1

    def fault(self) -> str | None:
        """What befalls the request that has come."""
        with self._lock:
            self._requests += 1
            self._held += 1
        self._open.wait()
        with self._lock:
            self._held -= 1
            return self._next.pop(0) if self._next else self._always

    def answered(self, call: str) -> None:
        """Counts an answer before it is sent: it is paid even if the client does not take it."""
        with self._lock:
            self._answered[call] = self._answered.get(call, 0) + 1


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: the second of two would wait for the client's acknowledgement.
    wbufsize = -1

    def do_GET(self) -> None:
        self._send(200, {**self.server.counts(), **self.server.waiting()})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/control":
            self.server.control(request)
            self._send(200, self.server.counts())
            return
        self.server.begin({name.lower(): value for name, value in self.headers.items()})
        try:
            self._answer(request)
        finally:
            self.server.end()

    def _answer(self, request: dict) -> None:
        fault = self.server.fault()
        if self._left():
            self.close_connection = True
        elif fault == "cut":
            self.close_connection = True
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{")
        elif fault == "malformed":
            self._send(200, {"object": "something else"})
        elif fault and fault.isdigit():
            self._send(int(fault), {"error": {"message": f"scripted {fault}"}})
        else:
            time.sleep(SLOW_SECONDS if fault == "slow" else 0)
            self._complete(request)

    def _left(self) -> bool:
        """Whether the client has gone, so that no answer is paid."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _complete(self, request: dict) -> None:
        prompt = request["messages"][-1]["content"]
        self.server.last_prompt, text = prompt, self.server.answer(prompt)
        self.server.answered(self.headers["idempotency-key"] or prompt)
        used, made = len(prompt.split()), len(text.split())
        self._send(200, {
            "object": "chat.completion", "model": request["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": used, "completion_tokens": made, "total_tokens": used + made},
        })

    def _send(self, status: int, content: dict) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status == 429:
            self.send_header("retry-after", RETRY_AFTER)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves a scripted agent.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8790)
    options = parser.parse_args()
    server = ScriptedServer(options.host, options.port)
    print(f"the scripted agent answers at {server.base_url}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
