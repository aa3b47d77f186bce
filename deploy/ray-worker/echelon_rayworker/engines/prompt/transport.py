"""Connects to the addresses that were checked, and to no others: between a check and a connection by name, the name could
change its address."""

from __future__ import annotations

import asyncio
import socket
import urllib.request

import httpx

from .addresses import checked


class CheckedTransport(httpx.AsyncBaseTransport):
    """Calls of one host. A proxy of the environment resolves the name itself; then the proxy's address is checked."""

    def __init__(self, base_url: str, limits: httpx.Limits) -> None:
        url = httpx.URL(base_url)
        self._proxy = proxy_of(url)
        self._inner = httpx.AsyncHTTPTransport(limits=limits, proxy=self._proxy)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._proxy is not None:
            await _addresses(httpx.URL(self._proxy))
            return await self._inner.handle_async_request(request)
        failure: Exception = httpx.ConnectError(f"{request.url.host} has no address")
        for address in await _addresses(request.url):
            try:
                return await self._inner.handle_async_request(_to(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        await self._inner.aclose()


def proxy_of(url: httpx.URL) -> str | None:
    """The proxy that the environment names for an address."""
    proxies = urllib.request.getproxies_environment()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass_environment(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


async def _addresses(url: httpx.URL) -> list[str]:
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx.ConnectError(f"{url.host}: {error}") from None
    return checked(url.host, found)


def _to(request: httpx.Request, address: str) -> httpx.Request:
    """The request to this address; header and certificate stay those of the name."""
    return httpx.Request(
        request.method, request.url.copy_with(host=address), headers=request.headers, stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
