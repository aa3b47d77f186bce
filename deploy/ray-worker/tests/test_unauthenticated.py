"""Who has no token gets no memory and no time of the ray-worker: not by streams, not by what they send."""

import threading
from pathlib import Path

import grpc
import pytest
from conftest import Client, Server, until
from grpc import StatusCode

from echelon_rayworker import health
from echelon_rayworker.gen import health_pb2

MEBIBYTE = 2**20
# Above what the process takes at its start.
MEMORY_BYTES = 120 * MEBIBYTE


def memory(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no such process")


def channel(server: Server) -> grpc.Channel:
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
    return grpc.insecure_channel(server.endpoint["address"], options)


def outcomes(calls: list, take) -> list[StatusCode]:
    found = []
    for call in calls:
        try:
            take(call)
            found.append(StatusCode.OK)
        except grpc.RpcError as error:
            found.append(error.code())
    return found


@pytest.mark.own_server
def test_watches_of_health_are_few_and_one_that_ends_makes_room(server: Server, client: Client) -> None:
    before = memory(server.process.pid)
    request = health_pb2.HealthCheckRequest().SerializeToString()
    channels = [channel(server) for _ in range(20)]
    calls = [
        one.unary_stream(f"/{health.HEALTH}/Watch")(request, timeout=120) for one in channels for _ in range(100)
    ]
    codes = outcomes(calls, next)
    assert codes.count(StatusCode.OK) == health.MAX_WATCHES
    # A call that is answered before its request was sent may be reset instead.
    assert set(codes) <= {StatusCode.OK, StatusCode.RESOURCE_EXHAUSTED, StatusCode.CANCELLED}
    client.describe()
    assert memory(server.process.pid) - before < MEMORY_BYTES
    for call in calls:
        call.cancel()

    def again() -> bool:
        return outcomes([channels[0].unary_stream(f"/{health.HEALTH}/Watch")(request, timeout=60)], next) == [StatusCode.OK]

    until(again)
    for one in channels:
        one.close()


def test_health_calls_that_send_nothing_are_few_and_end(server: Server, client: Client) -> None:
    gate = threading.Event()

    def nothing():
        gate.wait()
        yield b""

    with channel(server) as one:
        stub = one.stream_unary(f"/{health.HEALTH}/Check")
        calls = [stub.future(nothing(), timeout=60) for _ in range(30)]
        codes = outcomes(calls, lambda call: call.result())
        assert codes.count(StatusCode.INVALID_ARGUMENT) == health.MAX_OF_CONNECTION
        assert set(codes) <= {StatusCode.INVALID_ARGUMENT, StatusCode.RESOURCE_EXHAUSTED, StatusCode.CANCELLED}
        gate.set()
    client.describe()


def test_a_health_request_is_small(server: Server) -> None:
    with channel(server) as one:
        call = one.unary_unary(f"/{health.HEALTH}/Check")
        for request in (bytes(health.MAX_REQUEST_BYTES + 1), b"\xff" * 100):
            with pytest.raises(grpc.RpcError) as caught:
                call(request, timeout=20)
            assert caught.value.code() == StatusCode.INVALID_ARGUMENT


@pytest.mark.own_server
@pytest.mark.parametrize("method", ["Launch", "Describe", "Attach", "Preflight"])
def test_large_calls_without_the_token_are_refused_unread(server: Server, client: Client, method: str) -> None:
    before = memory(server.process.pid)
    body = bytes(4 * MEBIBYTE - 1024)
    channels = [channel(server) for _ in range(4)]
    calls = [
        one.unary_unary(f"/echelon.rayworker.v1.RayWorker/{method}").future(
            body, metadata=(("authorization", "Bearer wrong"),), timeout=120
        )
        for one in channels for _ in range(25)
    ]
    codes = outcomes(calls, lambda call: call.result())
    # A call that is answered before its request was sent may be reset instead.
    assert set(codes) <= {StatusCode.UNAUTHENTICATED, StatusCode.CANCELLED}
    client.describe()
    assert memory(server.process.pid) - before < MEMORY_BYTES / 2
    for one in channels:
        one.close()
