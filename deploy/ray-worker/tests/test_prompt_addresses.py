"""Where the prompt engine connects."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import httpx
import pytest
from prompt_support import scripted, settings

from echelon_rayworker.engines.local.house import Game
from echelon_rayworker.engines.prompt import transport
from echelon_rayworker.engines.prompt.addresses import ForbiddenAddressError, check_base_url, is_forbidden, resolved
from echelon_rayworker.engines.prompt.client import Client, _error_text
from echelon_rayworker.engines.prompt.preflight import check_endpoint
from echelon_rayworker.engines.prompt.texts import local_prompt
from echelon_rayworker.engines.spec import SpecError

GAME = Game("held-out/1/0")
PROMPT = local_prompt(GAME.task.text(), (GAME.first_observation(),), GAME.offered())
BODY = {"model": "m", "temperature": 0, "max_tokens": 1, "messages": [{"role": "user", "content": PROMPT}]}
ENDPOINTS = json.loads((Path(__file__).parents[3] / "test/golden/vectors/endpoints.json").read_text())


def call(base_url: str) -> httpx.Response:
    async def post() -> httpx.Response:
        made = transport.CheckedTransport(base_url, httpx.Limits())
        async with httpx.AsyncClient(transport=made) as client:
            return await client.post(f"{base_url}/chat/completions", json=BODY)

    return asyncio.run(post())


@pytest.mark.parametrize("base_url", ENDPOINTS["metadata"])
def test_a_metadata_service_is_never_connected_to(base_url: str) -> None:
    # httpx itself refuses some ways of writing an address.
    with pytest.raises((ForbiddenAddressError, httpx.InvalidURL), match="give out credentials|Invalid IPv4"):
        call(base_url)
    assert not check_endpoint(base_url)[0].ok


def test_a_name_that_resolves_to_a_metadata_service_among_others_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 80)) for one in ("127.0.0.1", "169.254.169.254")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: found)
    for ask in (lambda: call("http://innocent.example"), lambda: resolved("innocent.example", 80)):
        with pytest.raises(ForbiddenAddressError, match="innocent.example"):
            ask()


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    real, asked = socket.getaddrinfo, []

    def rebinding(host: str, *more: object, **options: object) -> list:
        """The name has another address at every question; one that is refused takes no connection."""
        if host != "rebinding.example":
            return real(host, *more, **options)
        asked.append(host)
        addresses = ["127.0.0.99", "127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 0)) for one in addresses]

    with scripted() as server:
        port = server.server_address[1]
        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        assert call(f"http://rebinding.example:{port}/v1").status_code == 200
        assert server.last_headers["host"] == f"rebinding.example:{port}"
    assert asked == ["rebinding.example"]


def test_a_redirect_is_not_followed() -> None:
    with scripted() as server:
        made = settings(server.base_url)
        client = Client(made.model, made.limits, {})
        assert client._client.follow_redirects is False
        asyncio.run(client.close())


@pytest.mark.parametrize(
    ("variables", "proxy"),
    [({}, None), ({"HTTP_PROXY": "p:3128"}, "http://p:3128"), ({"ALL_PROXY": "http://p"}, "http://p"),
     ({"HTTP_PROXY": "http://p", "NO_PROXY": "h.example"}, None)],
)  # fmt: skip
def test_a_proxy_of_the_environment_is_used(variables: dict[str, str], proxy: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name.lower(), value)
    assert transport.proxy_of(httpx.URL("http://h.example/v1")) == proxy


@pytest.mark.parametrize("base_url", ENDPOINTS["unusable"])
def test_an_address_whose_path_can_be_left_is_refused(base_url: str) -> None:
    with pytest.raises(SpecError, match="/model/baseUrl"):
        check_base_url(base_url)
    with pytest.raises(SpecError, match="/model/baseUrl"):
        settings(base_url)


@pytest.mark.parametrize("base_url", ENDPOINTS["usable"])
def test_an_ordinary_address_is_used(base_url: str) -> None:
    check_base_url(base_url)


def test_ordinary_addresses_are_not_forbidden() -> None:
    for address in ("127.0.0.1", "10.0.0.1", "::1", "8.8.8.8", "::ffff:8.8.8.8", "2001:db8::1", "fd00::1", "169.253.0.1"):
        assert not is_forbidden(address), address


@pytest.mark.parametrize("body", [b"<html>internal page</html>", b"secret", b'{"error": "secret"}', b'{"a": 1}', b"[" * 5000])
def test_an_answer_that_is_none_of_the_api_is_not_quoted(body: bytes) -> None:
    assert _error_text(body) == "no message in the form of the OpenAI API"


def test_an_error_message_is_quoted_in_one_bounded_line() -> None:
    text = _error_text(json.dumps({"error": {"message": "too\nlong " * 100}}).encode())
    assert text.startswith("too long too long") and len(text) == 200
