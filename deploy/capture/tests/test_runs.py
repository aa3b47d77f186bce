"""A run that is streamed to a server over real HTTP: nothing is lost, and the trainer never waits."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import echelon_capture as capture
from echelon_capture import runs

GRPO = dict(
    estimator=dict(name="grpo", normalize_by_std=False),
    group=["a", "a", "b", "b"],
    trajectory=[0, 1, 2, 3],
    token_level_reward_sum=[0.0, 1.0, 0.5, 0.5],
    advantage=[-0.5, 0.5, 0.0, 0.0],
)


class Api(ThreadingHTTPServer):
    """Records events as the API does. `disturb` says what happens to request n: `cut`, `busy`, `forbidden` or nothing."""

    def __init__(self, disturb=lambda number: ""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.disturb = disturb
        self.requests = 0
        self.runs = {}
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def events(self, run=0):
        return [one["event"] for one in list(self.runs.values())[run]["events"]]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["Authorization"] == "Bearer the key"
        with self.server.lock:
            self.server.requests += 1
            disturbed = self.server.disturb(self.server.requests)
            if disturbed == "busy":
                return self.answer(503, {"code": "store-unavailable"})
            if disturbed == "forbidden":
                return self.answer(403, {"code": "forbidden"})
            status, answer = self.opened(body) if self.path == "/v1/runs" else self.append(body)
        if disturbed == "cut":
            return self.connection.close()  # the request was carried out, and the answer is lost
        self.answer(status, answer)

    def opened(self, body):
        key = self.headers["Idempotency-Key"]
        self.server.runs.setdefault(key, {"name": body["name"], "events": [], "over": False})
        return 201, {"id": key, "events": f"/v1/runs/{key}/events", "token": f"token of {key}"}

    def append(self, body):
        run = self.server.runs[self.path.split("/")[3]]
        assert body["token"].startswith("token of ")
        if run["over"]:
            return 409, {"code": "already-final"}
        for event in body["events"]:
            if event["sequence"] > len(run["events"]) + 1:
                return 409, {"code": "sequence-gap"}
            if event["sequence"] == len(run["events"]) + 1:
                run["events"].append(event)
                run["over"] = event["event"]["type"] == "ended"
        return 200, {"last": len(run["events"])}

    def answer(self, status, body):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def api(folder, monkeypatch):
    """Starts an `Api` to which the capture streams."""
    started = []

    def start(disturb=lambda number: ""):
        server = Api(disturb)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        started.append(server)
        monkeypatch.setenv("ECHELON_URL", server.url)
        monkeypatch.setenv("ECHELON_TOKEN", "the key")
        monkeypatch.setenv("ECHELON_RUN_NAME", "mine")
        monkeypatch.setattr(runs, "FIRST_WAIT_SECONDS", 0.01)
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def test_every_report_arrives_once_over_cut_connections_and_refusals_for_now(api, monkeypatch):
    monkeypatch.setattr(runs, "REQUEST_EVENTS", 3)
    monkeypatch.setattr(runs, "PART_BYTES", 100)
    server = api(lambda number: ("", "cut", "busy")[number % 3])
    for step in range(1, 21):
        capture.metrics(step, {"loss": 1 / step, "nan": float("nan")})
    capture.batch(20, **GRPO)
    capture.checkpoint(20, "checkpoint")
    assert capture.close()
    events = server.events()
    assert [event["type"] for event in events[:1] + events[-2:]] == ["started", "checkpoint", "ended"]
    assert [event["step"] for event in events if event["type"] == "metrics"] == list(range(1, 21))
    assert events[1]["values"] == {"loss": 1.0, "nan": "NaN"}
    assert (events[-1]["cause"], list(server.runs.values())[0]["name"]) == ("succeeded", "mine")
    parts = [one for one in list(server.runs.values())[0]["events"] if one["event"]["type"] == "batch"]
    data = b"".join(base64.b64decode(part["data"]) for part in parts)
    assert [part["event"]["index"] for part in parts] == list(range(parts[0]["event"]["count"]))
    assert len(parts) > 1 and hashlib.sha256(data).hexdigest() == parts[0]["event"]["digest"]


def test_a_call_after_close_opens_another_run(api):
    server = api()
    for step in (1, 2):
        capture.metrics(step, {"loss": 1.0})
        assert capture.close()
    assert [[event["type"] for event in server.events(run)] for run in (0, 1)] == [["started", "metrics", "ended"]] * 2


def test_reports_after_a_close_that_did_not_finish_belong_to_another_run(api):
    away = True
    server = api(lambda number: "busy" if away else "")
    capture.metrics(1, {"loss": 1.0})
    assert not capture.close(0.2)
    capture.metrics(2, {"loss": 1.0})
    away = False
    assert capture.close()
    assert [[event["type"] for event in server.events(run)] for run in (0, 1)] == [["started", "metrics", "ended"]] * 2


def test_a_silent_trainer_sends_heartbeats(api, monkeypatch):
    monkeypatch.setattr(runs, "HEARTBEAT_SECONDS", 0.02)
    server = api()
    capture.metrics(1, {"loss": 1.0})
    deadline = time.monotonic() + 20
    while server.requests < 6 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.requests >= 6
    assert capture.close()


def test_an_uncaught_exception_ends_the_run_as_failed(api):
    server = api()
    program = "import echelon_capture as c; c.metrics(1, {'loss': 1.0}); raise ValueError('out of data')"
    path = os.pathsep.join(str(Path(__file__).parents[2] / name) for name in ("capture", "ray-worker"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 1
    ended = server.events()[-1]
    assert (ended["cause"], ended["message"]) == ("failed", "ValueError: out of data")


def test_without_a_server_the_trainer_does_not_wait_and_what_was_dropped_is_a_gap(api, monkeypatch):
    monkeypatch.setattr(runs, "BUFFER_BYTES", 300)
    away, returned, waited = True, threading.Event(), []

    def busy(number):
        """No answer before the trainer's calls have returned."""
        waited.append(not returned.wait(30))
        return "busy" if away else ""

    server = api(busy)
    recorder = capture._recorder()
    monkeypatch.setattr(sys.modules[type(recorder._reporter).__module__], "METRICS_CAPACITY", 5)
    for step in range(1, 101):
        capture.metrics(step, {"loss": 1.0})
    returned.set()
    assert not capture.close(0.1)
    away = False
    assert recorder._reporter.flush(20)
    capture.metrics(101, {"loss": 1.0})
    assert capture.close()
    events = server.events()
    arrived = [event["step"] for event in events if event["type"] == "metrics"]
    dropped = sum(event["count"] for event in events if event["type"] == "gap")
    assert not any(waited)
    assert dropped > 0 and len(arrived) + dropped == 101 and arrived[-1] == 101


def test_a_refusal_is_said_once_and_ends_nothing(api, capfd):
    api(lambda number: "forbidden")
    for step in range(100):
        capture.metrics(step, {"loss": 1.0})
    capture.close()
    assert capfd.readouterr().err.count("the run is not followed any more: 403") == 1
