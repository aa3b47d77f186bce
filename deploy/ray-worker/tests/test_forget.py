"""What was recorded elsewhere may be deleted here, and never runs again."""

import grpc
import pytest
from conftest import Client, Server

from echelon_rayworker.gen import rayworker_pb2 as pb


def test_forgotten_attempts_leave_nothing_but_the_fence(client: Client, server: Server) -> None:
    for attempt in (1, 2, 3):
        client.launch("exit=0", attempt=attempt)
        client.events(attempt=attempt)
    assert client.forget(attempt=2) == 2
    assert not server.attempt_dir(attempt=1).exists() and not server.attempt_dir(attempt=2).exists()
    assert [status.attempt for status in client.list()] == [3]
    assert client.forget(attempt=2) == 0
    assert client.forget(attempt=2**32 - 1) == 1
    assert client.list() == []
    with pytest.raises(grpc.RpcError) as refused:
        client.events(attempt=3)
    assert refused.value.code() == grpc.StatusCode.NOT_FOUND


def test_a_forgotten_attempt_never_starts_again(client: Client, server: Server) -> None:
    """Fails where the fence is not raised before the directory goes."""
    client.launch("exit=0", attempt=4)
    client.events(attempt=4)
    client.forget(attempt=4)
    assert client.launch("exit=0", attempt=4).outcome == pb.LaunchResponse.FENCED
    assert client.launch("exit=0", attempt=5).outcome == pb.LaunchResponse.STARTED


def test_one_that_runs_is_not_forgotten_and_one_that_was_never_here_leaves_nothing(
    client: Client, server: Server
) -> None:
    client.launch("wait=/nonexistent")
    with pytest.raises(grpc.RpcError) as refused:
        client.forget()
    assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
    client.stop(grace=1)
    assert client.forget() == 1
    assert client.forget(experiment="never", attempt=3) == 0
    assert not server.attempt_dir("never", 3).parents[1].exists()
