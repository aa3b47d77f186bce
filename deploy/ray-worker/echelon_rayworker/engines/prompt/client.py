"""Asks a model behind an OpenAI-compatible endpoint: paced, with bounded retries, and stopped where a retry cannot help."""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import random
import time
from dataclasses import dataclass
from typing import Any, Mapping

from .errors import EndpointUnavailableError, PromptError, RefusedByEndpointError
from .pace import Pace
from .responses import Call
from .settings import Limits, Model

TRIES = 10
MALFORMED_TRIES = 3
FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 60.0
MAX_RETRY_AFTER_SECONDS = 600.0
CALL_SECONDS = 600.0
MAX_ANSWER_BYTES = 4 << 20
MAX_TEXT_CHARACTERS = 65536
MAX_ERROR_CHARACTERS = 200
# A chat template's own tokens, for each message.
MESSAGE_TOKENS = 64
_PASSING = frozenset((408, 409, 425, 429))
_REFUSALS = {
    401: "the key is missing or wrong: check the secret that /model/apiKey names",
    402: "the account has no credit: add credit, and run the experiment again",
    403: "the key may not use this model: check its permissions",
}


@dataclass(frozen=True)
class Answer:
    """A model's answer. Token counts are upper bounds if the endpoint states none. `malformed`: it was no answer at all."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    malformed: bool = False


class Malformed(Exception):
    """The endpoint answered with something else than an answer."""


class Lost(Exception):
    """The connection ended, or the time was over, before the answer was complete."""


class Passing(Exception):
    """The endpoint refused for now. `after`: seconds that it asks to wait; None: not stated."""

    def __init__(self, message: str, after: float | None) -> None:
        super().__init__(message)
        self.after = after


class Client:
    """The calls of one experiment. `counts`: tries that failed, by what happened."""

    def __init__(self, model: Model, limits: Limits, environment: Mapping[str, str]) -> None:
        import httpx

        from .transport import CheckedTransport

        self._httpx, self._model = httpx, model
        key = environment.get(model.api_key, "") if model.api_key else ""
        if model.api_key and not key:
            raise PromptError(f"the variable {model.api_key}, which /model/apiKey names, is empty")
        self._client = httpx.AsyncClient(
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(CALL_SECONDS, connect=15),
            follow_redirects=False,
            transport=CheckedTransport(model.base_url, httpx.Limits(max_connections=limits.concurrency)),
        )
        self._experiment = environment.get("ECHELON_EXPERIMENT", "")
        self._turns = asyncio.Semaphore(limits.concurrency)
        self._requests, self._tokens = Pace(limits.requests_per_minute), Pace(limits.tokens_per_minute)
        self.counts = {"limited": 0, "unavailable": 0, "lost": 0, "malformed": 0}
        self._chance = random.Random()

    async def close(self) -> None:
        await self._client.aclose()

    def request_of(self, messages: list[dict[str, str]]) -> dict[str, Any]:
        """The request's body."""
        model = self._model
        return {
            "model": model.name, "messages": messages, "temperature": model.temperature, "max_tokens": model.max_tokens,
        }

    def worst_prompt_tokens(self, request: dict[str, Any]) -> int:
        """At most so many tokens has the prompt: no token is shorter than a byte."""
        messages = request["messages"]
        return sum(len(one["content"].encode()) + MESSAGE_TOKENS for one in messages)

    def turn(self) -> asyncio.Semaphore:
        """Holds one of the concurrent calls."""
        return self._turns

    async def ask(self, call: Call, request: dict[str, Any], lost: Any) -> Answer:
        """The answer. `lost()` is called for every try that may have been paid and gave nothing. Raises PromptError."""
        worst = self.worst_prompt_tokens(request)
        estimate = worst / 4 + self._model.max_tokens
        malformed = 0
        for tried in range(1, TRIES + 1):
            await self._tokens.take(estimate)
            await self._requests.take(1)
            try:
                answer = await self._post(call, request, worst)
                self._tokens.correct(answer.prompt_tokens + answer.completion_tokens - estimate)
                return answer
            except Malformed as error:
                self.counts["malformed"] += 1
                malformed += 1
                message, after = str(error), None
                if malformed == MALFORMED_TRIES:
                    return Answer("", worst, self._model.max_tokens, malformed=True)
                lost()
            except Lost as error:
                self.counts["lost"] += 1
                message, after = str(error), None
                lost()
            except Passing as error:
                message, after = str(error), error.after
            if tried == TRIES:
                break
            delay = min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (tried - 1)) * self._chance.uniform(0.5, 1)
            if after is not None:
                # For all calls: the endpoint limits the key, not the one call.
                self._requests.hold(min(after, MAX_RETRY_AFTER_SECONDS))
            await asyncio.sleep(delay if after is None else 0)
        raise EndpointUnavailableError(
            f"{self._model.base_url} gave no answer in {TRIES} tries; the last one: {message}. Recorded responses stay: "
            "run the experiment again when the endpoint answers"
        )

    async def _post(self, call: Call, request: dict[str, Any], worst: int) -> Answer:
        httpx = self._httpx
        name = f"{self._experiment}/{call.episode}/{call.trial}/{call.step}/{call.kind}"
        try:
            status, headers, body = await asyncio.wait_for(self._exchange(request, name), CALL_SECONDS)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            self.counts["unavailable"] += 1
            raise Passing(f"no connection: {error or type(error).__name__}", None) from None
        except (httpx.RequestError, asyncio.TimeoutError) as error:
            raise Lost(f"the connection was cut: {error or type(error).__name__}") from None
        if status != 200:
            raise self._refusal(status, headers, body)
        return self._answer(body, worst)

    async def _exchange(self, request: dict[str, Any], name: str) -> tuple[int, Mapping[str, str], bytes]:
        url = f"{self._model.base_url}/chat/completions"
        async with self._client.stream("POST", url, json=request, headers={"idempotency-key": name}) as response:
            return response.status_code, response.headers, await _bounded(response)

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        message = f"{status}: {_error_text(body)}"
        if status in _PASSING or status >= 500:
            self.counts["limited" if status == 429 else "unavailable"] += 1
            return Passing(message, retry_after(headers.get("retry-after", "")))
        remedy = _REFUSALS.get(status, "the endpoint does not take the request: check /model/baseUrl and /model/name")
        return RefusedByEndpointError(f"{self._model.base_url} answered {message}; {remedy}")

    def _answer(self, body: bytes, worst: int) -> Answer:
        try:
            content = json.loads(body)
            text = content["choices"][0]["message"]["content"]
            if text is not None and not isinstance(text, str):
                raise TypeError("the content is no text")
        except (ValueError, LookupError, TypeError) as error:
            raise Malformed(f"not a chat completion: {type(error).__name__}") from None
        usage = content.get("usage") or {}
        return Answer(
            # JSON can hold halves of characters, which no file can.
            (text or "")[:MAX_TEXT_CHARACTERS].encode("utf-8", "replace").decode(),
            _count(usage, "prompt_tokens", worst), _count(usage, "completion_tokens", self._model.max_tokens),
        )


def retry_after(text: str) -> float | None:
    """The seconds of a Retry-After header, which has seconds or a date; None for anything else."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


async def _bounded(response: Any) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise Malformed(f"more than {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


def _count(usage: Any, name: str, worst: int) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else worst


def _error_text(body: bytes) -> str:
    """What an endpoint says of an error, short and on one line. Only the message of the API's own form: other text is none
    of an endpoint's, and could be anything that answers at the address."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        message = None
    if not isinstance(message, str):
        return "no message in the form of the OpenAI API"
    return " ".join(message.split())[:MAX_ERROR_CHARACTERS]
