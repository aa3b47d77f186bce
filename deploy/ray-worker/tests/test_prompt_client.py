"""The client of the prompt engine, against a real server."""

from __future__ import annotations

import asyncio
import time

import pytest
from prompt_support import scripted, settings

from echelon_rayworker.engines.local.house import Game
from echelon_rayworker.engines.prompt import client as module
from echelon_rayworker.engines.prompt.client import Answer, Client, retry_after
from echelon_rayworker.engines.prompt.errors import EndpointUnavailableError, PromptError, RefusedByEndpointError
from echelon_rayworker.engines.prompt.pace import Pace
from echelon_rayworker.engines.prompt.responses import Call
from echelon_rayworker.engines.prompt.texts import local_prompt

GAME = Game("held-out/1/0")
PROMPT = local_prompt(GAME.task.text(), (GAME.first_observation(),), GAME.offered())
CALL = Call("1.0", 1, 0)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY_SECONDS", 0.001)
    monkeypatch.setattr(module, "TRIES", 5)


def asked(server, *arguments: str, environment: dict[str, str] | None = None) -> tuple[Answer, Client, int]:
    """One call: the answer, the client, and how many tries were lost."""
    lost: list[None] = []

    async def ask() -> tuple[Answer, Client, int]:
        made = settings(server.base_url, *arguments)
        client = Client(made.model, made.limits, environment or {})
        try:
            answer = await client.ask(CALL, client.request_of([{"role": "user", "content": PROMPT}]), lambda: lost.append(None))
            return answer, client, len(lost)
        finally:
            await client.close()

    return asyncio.run(ask())


def test_an_answer_comes_with_its_usage() -> None:
    with scripted() as server:
        answer, _, lost = asked(server)
    assert "<action>" in answer.text and not answer.malformed and lost == 0
    assert answer.prompt_tokens == len(PROMPT.split()) and answer.completion_tokens == len(answer.text.split())


@pytest.mark.parametrize("fault, count, lost", [("429", "limited", 0), ("500", "unavailable", 0), ("503", "unavailable", 0),
                                                ("cut", "lost", 2), ("malformed", "malformed", 2)])  # fmt: skip
def test_a_passing_fault_is_tried_again(fault: str, count: str, lost: int) -> None:
    with scripted() as server:
        server.control({"next": [fault, fault]})
        answer, client, tries_lost = asked(server)
        assert server.counts() == {"requests": 3, "paid": 1, "repeated": 0}
    assert "<action>" in answer.text
    assert client.counts[count] == 2 and tries_lost == lost


def test_retry_after_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("echelon_rayworker.engines.prompt.scripted.RETRY_AFTER", "1.5")
    with scripted() as server:
        server.control({"next": ["429"]})
        start = time.monotonic()
        asked(server)
    assert time.monotonic() - start >= 1.4


def test_retry_after_is_read_in_both_forms() -> None:
    assert retry_after("1.5") == 1.5
    assert retry_after("-1") == 0
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert retry_after("soon") is None and retry_after("") is None


def test_a_slow_answer_is_waited_for_and_one_that_takes_too_long_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted() as server:
        monkeypatch.setattr("echelon_rayworker.engines.prompt.scripted.SLOW_SECONDS", 0.3)
        server.control({"next": ["slow"]})
        assert asked(server)[1].counts["lost"] == 0
        monkeypatch.setattr(module, "CALL_SECONDS", 0.1)
        server.control({"next": ["slow"]})
        assert asked(server)[1].counts["lost"] == 1


@pytest.mark.parametrize("status, remedy", [("401", "secret"), ("402", "credit"), ("403", "permissions"), ("404", "baseUrl")])
def test_a_refusal_ends_at_the_first_try_with_its_remedy(status: str, remedy: str) -> None:
    with scripted() as server:
        server.control({"always": status})
        with pytest.raises(RefusedByEndpointError, match=f"answered {status}: scripted {status}; .*{remedy}"):
            asked(server)
        assert server.counts()["requests"] == 1


def test_an_endpoint_that_never_answers_is_given_up() -> None:
    with scripted() as server:
        server.control({"always": "500"})
        with pytest.raises(EndpointUnavailableError, match="5 tries.*500: scripted 500"):
            asked(server)
        assert server.counts()["requests"] == 5
    with pytest.raises(EndpointUnavailableError, match="no connection"):
        asked(server)


def test_an_answer_that_is_none_counts_as_one_without_an_action_after_three_tries() -> None:
    with scripted() as server:
        server.control({"always": "malformed"})
        answer, _, lost = asked(server)
        assert server.counts()["requests"] == 3
    assert answer.malformed and answer.text == "" and lost == 2
    # It may have been paid, and says not how much.
    assert answer.completion_tokens == 512 and answer.prompt_tokens >= len(PROMPT)


def test_the_key_is_sent_and_an_empty_one_is_said_before_a_call() -> None:
    with scripted() as server:
        asked(server, "model.api_key=K", environment={"K": "secret-value"})
        assert server.last_headers["authorization"] == "Bearer secret-value"
        assert server.last_headers["idempotency-key"].endswith("/1.0/1/0/action")
        with pytest.raises(PromptError, match="variable K, which /model/apiKey names, is empty"):
            asked(server, "model.api_key=K")


def test_a_pace_keeps_its_rate_also_for_amounts_above_it_and_for_corrections() -> None:
    now = [0.0]
    pace = Pace(60, lambda: now[0])
    assert [pace.reserve(1), pace.reserve(1), pace.reserve(120), pace.reserve(1)] == [0, 1, 2, 122]
    now[0] = 200
    assert pace.reserve(10) == 0
    pace.correct(-8)
    assert pace.reserve(1) == 2
    pace.hold(5)
    assert pace.reserve(1) == 5
    unlimited = Pace(0, lambda: now[0])
    assert [unlimited.reserve(1e9), unlimited.reserve(1)] == [0, 0]
    unlimited.hold(5)
    assert unlimited.reserve(1) == 5


def test_calls_keep_the_rate_per_minute() -> None:
    async def three() -> float:
        with scripted() as server:
            made = settings(server.base_url, "limits.requests_per_minute=600")
            client = Client(made.model, made.limits, {})
            request = client.request_of([{"role": "user", "content": PROMPT}])
            start = time.monotonic()
            await asyncio.gather(*(client.ask(CALL, request, lambda: None) for _ in range(3)))
            await client.close()
            return time.monotonic() - start

    assert asyncio.run(three()) >= 0.2
