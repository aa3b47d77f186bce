import os
import random
import resource
import signal
from pathlib import Path

import pytest

from echelon_rayworker import eventlog, eventreader
from echelon_rayworker.eventlog import (
    DataLoss, EventLogWriter, list_segments, read_last_event, read_progress, segment_path,
)
from echelon_rayworker.eventreader import EventLogReader, OutOfRange
from echelon_rayworker.framing import encode_frame
from echelon_rayworker.gen import rayworker_pb2 as pb


def line(text: str) -> pb.AttemptEvent:
    return pb.AttemptEvent(log=pb.LogLines(source=pb.LogLines.STDOUT, lines=[text]))


def write(directory: Path, count: int, size: int = 20) -> None:
    log = EventLogWriter(str(directory))
    for number in range(count):
        log.append(line(f"{number + 1} " + "x" * size))
        if number % 7 == 0:
            log.commit()
    log.commit()
    log.close()


def read_all(directory: Path, after: int = 0) -> list[pb.AttemptEvent]:
    reader = EventLogReader(str(directory), after)
    last = read_progress(str(directory)).last_sequence
    events: list[pb.AttemptEvent] = []
    while payloads := reader.read(last):
        events += [pb.AttemptEvent.FromString(payload) for payload in payloads]
    reader.close()
    return events


def sequences(directory: Path, after: int = 0) -> list[int]:
    return [event.sequence for event in read_all(directory, after)]


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eventlog, "SEGMENT_BYTES", 1000)
    monkeypatch.setattr(eventreader, "READ_BYTES", 300)


def test_events_are_numbered_from_one_and_read_from_every_position(tmp_path: Path) -> None:
    write(tmp_path, 200)
    assert len(list_segments(str(tmp_path))) > 3
    for after in range(201):
        assert sequences(tmp_path, after) == list(range(after + 1, 201))
    with pytest.raises(OutOfRange):
        EventLogReader(str(tmp_path), 201)


def test_an_event_larger_than_the_read_size_is_read_whole(tmp_path: Path) -> None:
    write(tmp_path, 5, size=5000)
    assert sequences(tmp_path) == [1, 2, 3, 4, 5]


def test_what_is_not_committed_is_not_shown(tmp_path: Path) -> None:
    log = EventLogWriter(str(tmp_path))
    log.append(line("a"))
    assert read_progress(str(tmp_path)).last_sequence == 0
    log.commit()
    assert read_progress(str(tmp_path)).last_sequence == 1
    assert read_last_event(str(tmp_path), read_progress(str(tmp_path))).log.lines == ["a"]


def test_a_reader_follows_the_writer_over_segments(tmp_path: Path) -> None:
    log = EventLogWriter(str(tmp_path))
    reader = EventLogReader(str(tmp_path), 0)
    seen: list[int] = []
    for _ in range(100):
        log.append(line("x" * 50))
        log.commit()
        last = read_progress(str(tmp_path)).last_sequence
        seen += [pb.AttemptEvent.FromString(payload).sequence for payload in reader.read(last)]
    assert seen == list(range(1, 101)) and reader.position == 100


def test_every_torn_tail_is_cut_off_and_the_next_number_continues(tmp_path: Path) -> None:
    write(tmp_path, 10)
    first = list_segments(str(tmp_path))[-1]
    path = Path(segment_path(str(tmp_path), first))
    whole = path.read_bytes()
    torn = encode_frame(line("torn").SerializeToString())
    for garbage in [torn[:cut] for cut in range(1, len(torn))] + [bytes(100), b"\xff" * 9, os.urandom(64)]:
        path.write_bytes(whole + garbage)
        log = EventLogWriter(str(tmp_path))
        assert log.last_sequence == 10 and path.read_bytes() == whole
        log.close()
    log = EventLogWriter(str(tmp_path))
    assert log.append(line("next")) == 11
    log.commit()
    assert sequences(tmp_path) == list(range(1, 12))


def test_repair_after_a_cut_at_every_byte_keeps_a_prefix_and_continues(tmp_path: Path) -> None:
    write(tmp_path, 12)
    files = [Path(segment_path(str(tmp_path), first)) for first in list_segments(str(tmp_path))]
    whole = files[-1].read_bytes()
    for cut in range(0, len(whole), 3):
        files[-1].write_bytes(whole[:cut])
        log = EventLogWriter(str(tmp_path))
        number = log.append(line("next"))
        log.commit()
        log.close()
        assert sequences(tmp_path) == list(range(1, number + 1))
        for path in tmp_path.iterdir():
            if path not in files and path.suffix == ".log":
                path.unlink()


def test_an_empty_last_segment_is_removed(tmp_path: Path) -> None:
    write(tmp_path, 40)
    Path(segment_path(str(tmp_path), 41)).write_bytes(b"\x01")
    log = EventLogWriter(str(tmp_path))
    assert log.last_sequence == 40 and not os.path.exists(segment_path(str(tmp_path), 41))


def test_damage_in_the_middle_is_data_loss_before_it_and_harmless_after_it(tmp_path: Path) -> None:
    write(tmp_path, 60)
    segments = list_segments(str(tmp_path))
    path = Path(segment_path(str(tmp_path), segments[1]))
    data = bytearray(path.read_bytes())
    data[12] ^= 0x40
    path.write_bytes(bytes(data))
    with pytest.raises(DataLoss):
        sequences(tmp_path)
    assert sequences(tmp_path, segments[1]) == list(range(segments[1] + 1, 61))


def test_damage_in_the_last_segment_is_not_taken_for_a_torn_tail(tmp_path: Path) -> None:
    write(tmp_path, 5)
    path = Path(segment_path(str(tmp_path), 1))
    data = bytearray(path.read_bytes())
    data[12] ^= 0x40
    path.write_bytes(bytes(data))
    log = EventLogWriter(str(tmp_path))
    assert log.last_sequence == 5
    with pytest.raises(DataLoss):
        sequences(tmp_path)
    assert sequences(tmp_path, 1) == [2, 3, 4, 5]


def test_a_missing_segment_is_data_loss(tmp_path: Path) -> None:
    write(tmp_path, 60)
    os.unlink(segment_path(str(tmp_path), list_segments(str(tmp_path))[1]))
    with pytest.raises(DataLoss):
        sequences(tmp_path)


def test_nothing_follows_ended_also_after_reopening(tmp_path: Path) -> None:
    log = EventLogWriter(str(tmp_path))
    log.append(pb.AttemptEvent(ended=pb.Ended(cause=pb.Ended.SUCCEEDED)))
    assert not read_progress(str(tmp_path)).ended
    log.commit()
    assert read_progress(str(tmp_path)).ended
    for writer in (log, EventLogWriter(str(tmp_path))):
        assert writer.ended
        with pytest.raises(ValueError):
            writer.append(line("late"))


def test_a_disk_that_refuses_keeps_the_events_pending(tmp_path: Path) -> None:
    log = EventLogWriter(str(tmp_path))
    log.append(line("a"))
    log.commit()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(segment_path(str(tmp_path), 1)) + 10, hard))
    try:
        for number in range(2, 6):
            assert log.append(line("x" * 30)) == number
            with pytest.raises(OSError):
                log.commit()
        assert read_progress(str(tmp_path)).last_sequence == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    log.commit()
    assert sequences(tmp_path) == [1, 2, 3, 4, 5]
    assert log.used_bytes == sum(os.path.getsize(segment_path(str(tmp_path), f)) for f in list_segments(str(tmp_path)))


def test_a_damaged_progress_is_made_anew_by_the_next_writer(tmp_path: Path) -> None:
    write(tmp_path, 9)
    (tmp_path / "events-progress").write_bytes(b"garbage" * 10)
    with pytest.raises(DataLoss):
        read_progress(str(tmp_path))
    EventLogWriter(str(tmp_path)).close()
    assert sequences(tmp_path) == list(range(1, 10))


def test_random_logs_survive_random_reopenings(tmp_path: Path) -> None:
    source = random.Random(7)
    expected = 0
    for _ in range(30):
        log = EventLogWriter(str(tmp_path))
        for _ in range(source.randrange(20)):
            log.append(line("y" * source.randrange(400)))
            expected += 1
            if source.random() < 0.3:
                log.commit()
        log.commit()
        log.close()
    assert sequences(tmp_path) == list(range(1, expected + 1))
