"""The server's edges: token, health, unknown attempts, damage, pings."""

from pathlib import Path

import grpc
import pytest
from conftest import Client, Server, end_everything

from echelon_rayworker import __version__
from echelon_rayworker.engines.registry import engine_names
from echelon_rayworker.gen import health_pb2
from echelon_rayworker.gen import rayworker_pb2 as pb


@pytest.mark.parametrize("token", ["", "wrong", "té"])
@pytest.mark.parametrize("method", ["Describe", "Launch", "Attach", "Stop", "List"])
def test_every_call_needs_the_token(server: Server, method: str, token: str) -> None:
    channel = grpc.insecure_channel(server.endpoint["address"])
    metadata = [("authorization", f"Bearer {token}")] if token and token.isascii() else []
    call = channel.unary_stream if method == "Attach" else channel.unary_unary
    with pytest.raises(grpc.RpcError) as caught:
        answer = call(f"/echelon.rayworker.v1.RayWorker/{method}")(b"", metadata=metadata, timeout=10)
        list(answer)
    assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED
    channel.close()


@pytest.mark.own_server
def test_the_token_is_made_once_and_readable_by_the_owner_alone(server: Server) -> None:
    path = server.state_dir / "token"
    assert path.stat().st_mode & 0o777 == 0o600 and len(server.token) >= 32
    before = server.token
    server.stop()
    server.start()
    assert server.token == before


def test_a_given_token_wins_and_reaches_no_driver(tmp_path: Path) -> None:
    server = Server.__new__(Server)
    server.state_dir, server._arguments = tmp_path / "state", ()
    server.start(ECHELON_RAY_WORKER_TOKEN="given-token")
    server.token = "given-token"
    client = server.client()
    client.launch("environment=ECHELON_RAY_WORKER_TOKEN")
    assert [line for e in client.events() for line in e.log.lines] == ["ECHELON_RAY_WORKER_TOKEN="]
    assert not (server.state_dir / "token").exists()
    end_everything(server)


def check(channel: grpc.Channel, service: str) -> int:
    stub = channel.unary_unary(
        "/grpc.health.v1.Health/Check", request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    return stub(health_pb2.HealthCheckRequest(service=service), timeout=10).status


def test_health_needs_no_token(server: Server) -> None:
    with grpc.insecure_channel(server.endpoint["address"]) as channel:
        for service in ("", "echelon.rayworker.v1.RayWorker"):
            assert check(channel, service) == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.RpcError) as caught:
            check(channel, "other")
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
        watch = channel.unary_stream(
            "/grpc.health.v1.Health/Watch", request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        call = watch(health_pb2.HealthCheckRequest(service="other"), timeout=10)
        assert next(call).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        call.cancel()


def test_describe_says_who_answers(client: Client, server: Server) -> None:
    answer = client.describe()
    assert answer.version == __version__ and answer.generation == server.endpoint["generation"]
    assert answer.ray_version == "" and answer.shared_root == str(server.state_dir)
    assert answer.nodes[0].cpus_total >= 1 and answer.free_disk_bytes > 0
    assert set(answer.engines) == set(engine_names())


@pytest.mark.parametrize("attempt", [1, 99])
def test_attach_to_an_unknown_attempt_is_not_found(client: Client, attempt: int) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.events(attempt=attempt)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_attach_to_a_damaged_log_is_data_loss_and_works_behind_the_damage(client: Client, server: Server) -> None:
    client.launch("metrics=20")
    events = client.events()
    path = next(server.attempt_dir().glob("events-*.log"))
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(grpc.RpcError) as caught:
        client.events()
    assert caught.value.code() == grpc.StatusCode.DATA_LOSS
    assert client.events(after=1) == events[1:]


@pytest.mark.own_server
def test_a_damaged_progress_is_repaired_and_hides_no_other_attempt(client: Client, server: Server) -> None:
    client.launch("metrics=2", experiment="damaged")
    events = client.events("damaged")
    client.launch("wait=/nonexistent", experiment="other")
    server.kill()
    (server.attempt_dir("damaged") / "events-progress").write_bytes(b"x" * 36)
    server.start()
    again = server.client()
    assert again.events("damaged") == events
    assert {s.experiment: s.running for s in again.list()} == {"damaged": False, "other": True}
    again.close()


def test_a_list_of_many_failed_attempts_fits_into_one_message(client: Client) -> None:
    for attempt in range(1, 4):
        client.launch("lines=100", "exit=1", attempt=attempt)
        client.events(attempt=attempt)
    assert [s.ended.cause for s in client.list()] == [pb.Ended.FAILED] * 3
    assert all(not s.ended.last_lines for s in client.list())


def test_many_streams_of_one_attempt_get_the_same_events(client: Client, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    client.launch(f"ticks={gate}")
    streams = [client.attach() for _ in range(20)]
    firsts = [[next(stream) for _ in range(10)] for stream in streams]
    gate.touch()
    wholes = [first + list(stream) for first, stream in zip(firsts, streams)]
    assert all(whole == wholes[0] for whole in wholes) and wholes[0][-1].ended.cause == pb.Ended.SUCCEEDED


@pytest.mark.slow
def test_an_idle_stream_survives_frequent_pings(server: Server) -> None:
    """A stock server answers pings without data with GOAWAY after the third."""
    options = [
        ("grpc.keepalive_time_ms", 1000), ("grpc.keepalive_timeout_ms", 5000),
        ("grpc.keepalive_permit_without_calls", 1), ("grpc.http2.max_pings_without_data", 0),
    ]
    with grpc.insecure_channel(server.endpoint["address"], options) as channel:
        watch = channel.unary_stream("/grpc.health.v1.Health/Watch")
        call = watch(b"", timeout=5)
        next(call)
        with pytest.raises(grpc.RpcError) as caught:
            next(call)
        # The deadline of the call ended it, not the server.
        assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
