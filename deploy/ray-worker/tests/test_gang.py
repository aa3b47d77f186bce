"""The nodes of a gang, played by sockets of this process."""

from __future__ import annotations

import socket
from typing import Any, Iterator

import pytest

from echelon_rayworker import gang

HOST = "127.0.0.1"


@pytest.fixture
def closing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ends what members listen at, which otherwise ends with their process."""
    create, made = socket.create_server, []
    monkeypatch.setattr(socket, "create_server", lambda *given, **more: made.append(create(*given, **more)) or made[-1])
    yield
    for listener in made:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


def member(token: str = "a-token") -> Any:
    return gang.member_class()(token)


def test_members_reach_each_other(closing: None) -> None:
    one, two = member(), member()
    ports = {HOST: one.listen(), "127.0.0.2": two.listen()}
    assert one.connect(gang.places_for(ports)[HOST]) == {} == two.connect(gang.places_for(ports)["127.0.0.2"])


def test_a_port_that_refuses_and_one_of_another_program_are_not_reached(closing: None) -> None:
    stranger = member("b-token")
    with socket.socket() as silent:
        silent.bind((HOST, 0))
        errors = member().connect({HOST: silent.getsockname()[1], "127.0.0.2": stranger.listen()})
    assert "refused" in errors[HOST] and "something else answers" in errors["127.0.0.2"]


def test_a_pair_of_nodes_is_one_finding_that_names_both() -> None:
    answers = gang.pair_answers({"n1": {"n2": "timed out"}, "n2": {"n1": "refused"}, "n3": {}})
    (answer,) = answers
    assert not answer.ok and answer.severity == "error"
    assert answer.message == "node n1 does not reach node n2: timed out; node n2 does not reach node n1: refused"
    assert "between n1 and n2" in answer.remedy


def test_a_collective_names_the_nodes_that_did_not_get_the_sum() -> None:
    (answer,) = gang.collective_answers("gloo", {"n1": 2.0, "n2": 2.0})
    assert answer.ok and "gloo" in answer.message
    (answer,) = gang.collective_answers("nccl", {"n1": 2.0, "n2": "RuntimeError: no route"})
    assert not answer.ok and answer.message.endswith("fails: node n2: RuntimeError: no route") and "IFNAME" in answer.remedy
