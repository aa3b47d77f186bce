"""The health service. It needs no token, so all that it may take is bounded: calls at once, in total and for each
connection, the time until a request is there, and its size."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from typing import AsyncIterator, Iterator, Optional

import grpc

from echelon_rayworker.gen import health_pb2

HEALTH = "grpc.health.v1.Health"
SERVICES = ("", "echelon.rayworker.v1.RayWorker")
MAX_CHECKS = 256
MAX_WATCHES = 64
MAX_OF_CONNECTION = 8
MAX_REQUEST_BYTES = 1024
REQUEST_SECONDS = 5.0

_STATUS = health_pb2.HealthCheckResponse


class Slots:
    """Calls that may be under way at once: in total, and for each connection."""

    def __init__(self, most: int, of_connection: int) -> None:
        self._most = most
        self._of_connection = of_connection
        self._taken: Counter[str] = Counter()

    @contextlib.contextmanager
    def taken(self, peer: str) -> Iterator[bool]:
        """Takes a place as long as the context lasts; gives whether there was one."""
        free = self._taken.total() < self._most and self._taken[peer] < self._of_connection
        if free:
            self._taken[peer] += 1
        try:
            yield free
        finally:
            if free:
                self._taken[peer] -= 1
            if self._taken[peer] <= 0:
                del self._taken[peer]


def health_handlers() -> dict[str, grpc.RpcMethodHandler]:
    """The handlers of one server, by the paths of their methods. Each takes its request as a stream, so that nothing is
    received before the call has its place."""
    checks, watches = Slots(MAX_CHECKS, MAX_OF_CONNECTION), Slots(MAX_WATCHES, MAX_OF_CONNECTION)

    async def check(requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> bytes:
        with checks.taken(context.peer()) as free:
            service = await _service(requests, context, free)
        if service not in SERVICES:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service")
        return _answer(_STATUS.SERVING)

    async def watch(requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        with watches.taken(context.peer()) as free:
            service = await _service(requests, context, free)
            yield _answer(_STATUS.SERVING if service in SERVICES else _STATUS.SERVICE_UNKNOWN)
            # It serves as long as it answers at all: what changes is that the call breaks.
            await asyncio.Event().wait()

    return {
        f"/{HEALTH}/Check": grpc.stream_unary_rpc_method_handler(check),
        f"/{HEALTH}/Watch": grpc.stream_stream_rpc_method_handler(watch),
    }


async def _service(
    requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext, free: bool
) -> Optional[str]:
    """The service that a request asks for; ends the call if there is no free stream or it sends no request."""
    if not free:
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many health calls at once")
    try:
        request = await asyncio.wait_for(anext(requests), REQUEST_SECONDS)
    except (asyncio.TimeoutError, StopAsyncIteration):
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no request came")
    if len(request) > MAX_REQUEST_BYTES:
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"a health request has at most {MAX_REQUEST_BYTES} bytes")
    try:
        return health_pb2.HealthCheckRequest.FromString(request).service
    except Exception:  # noqa: BLE001 - its class differs between protobuf's releases
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the request is no message of this method")


def _answer(status: int) -> bytes:
    return _STATUS(status=status).SerializeToString()
