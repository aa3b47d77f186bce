import os
import threading
import time

from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.nodestates import FILE, lost_nodes, note_states


def node(name: str, reason: str = "") -> pb.Node:
    return pb.Node(id=name, alive=not reason, state_reason=reason)


def test_a_dead_node_and_one_that_ray_no_longer_lists_are_lost(tmp_path) -> None:
    note_states(str(tmp_path), [node("a"), node("b", "health check failed")])
    lost = lost_nodes(str(tmp_path), {"a", "b", "c"}, since=0)
    assert lost == {"b": "health check failed", "c": "Ray does not list it any more"}


def test_nothing_is_lost_if_no_ray_worker_wrote_the_states(tmp_path) -> None:
    assert lost_nodes(str(tmp_path), {"a"}, since=time.time()) == {}
    note_states(str(tmp_path), [])
    assert lost_nodes(str(tmp_path), {"a"}, since=0) == {}


def test_an_end_waits_for_the_next_look_at_the_nodes(tmp_path) -> None:
    note_states(str(tmp_path), [node("a")])
    ended_at = time.time() + 0.5
    look = threading.Timer(1.0, lambda: note_states(str(tmp_path), [node("a", "preempted")]))
    look.start()
    assert lost_nodes(str(tmp_path), {"a"}, since=ended_at, wait_seconds=60) == {"a": "preempted"}
    look.join()


def test_an_end_does_not_wait_for_a_look_if_none_has_come_for_long(tmp_path) -> None:
    note_states(str(tmp_path), [node("a", "dead")])
    long_ago = time.time() - 3600
    os.utime(tmp_path / FILE, (long_ago, long_ago))
    started = time.monotonic()
    assert lost_nodes(str(tmp_path), {"a"}, since=time.time(), wait_seconds=600) == {"a": "dead"}
    assert time.monotonic() - started < 500


def test_a_file_that_is_no_record_of_states_says_nothing(tmp_path) -> None:
    (tmp_path / FILE).write_text("[1")
    assert lost_nodes(str(tmp_path), {"a"}, since=0) == {}
