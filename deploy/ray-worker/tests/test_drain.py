import os
import random

import pytest
from conftest import until

from echelon_rayworker import drain
from echelon_rayworker.drain import LINE_BYTES, LineSplitter, Piece, PipeDrain
from echelon_rayworker.redaction import Redactor


def split(chunks: list[bytes]) -> list[Piece]:
    splitter = LineSplitter()
    return [piece for chunk in chunks for piece in splitter.feed(chunk)] + splitter.finish()


@pytest.mark.parametrize(
    ("stream", "lines", "updates"),
    [
        (b"", [], []), (b"a", [b"a"], []), (b"a\n", [b"a"], []), (b"a\nb", [b"a", b"b"], []), (b"\n\n", [b"", b""], []),
        (b"a\r\nb\r\r\n", [b"a", b"b"], []), (b"10%\r20%\r30%\n", [b"30%"], [b"10%", b"20%"]), (b"a\r", [b"a"], []),
        (b"\r10%\r\r20%\nb\n", [b"20%", b"b"], [b"10%"]),
    ],
)
def test_a_line_feed_ends_a_line_and_a_carriage_return_alone_begins_it_anew(
    stream: bytes, lines: list[bytes], updates: list[bytes]
) -> None:
    # The same, however the stream is cut.
    for chunks in ([stream], [stream[i : i + 1] for i in range(len(stream))]):
        found = split(chunks)
        assert [piece.text for piece in found if not piece.is_update] == lines
        assert [piece.text for piece in found if piece.is_update] == updates


def test_the_present_state_of_a_progress_bar_is_taken_and_its_last_state_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "PROGRESS_SECONDS", 0.0)
    read_end, write_end = os.pipe()
    pipe = PipeDrain({read_end: 2}, Redactor(["s3cret-value"]))
    os.write(write_end, b"start\n" + b"".join(b"\r%d%% s3cret-value" % at for at in range(200)))
    assert until(pipe.take_progress) == [(2, "199% ***")]
    assert [run.lines for run in pipe.take()] == [["start"]] and pipe.take_progress() == []
    os.write(write_end, b"\r200%\r")
    assert until(pipe.take_progress) == [(2, "200%")]
    os.write(write_end, b"\r100%\n")
    os.close(write_end)
    assert pipe.join(10)
    assert [run.lines for run in pipe.take()] == [["100%"]] and pipe.take_progress() == []
    assert pipe.last_lines(2) == ["start", "100%"]


def test_every_byte_is_kept_or_counted_however_the_stream_is_cut() -> None:
    source = random.Random(3)
    for _ in range(50):
        lengths = [source.choice([0, 1, 100, LINE_BYTES - 1, LINE_BYTES, LINE_BYTES + 1, 3 * LINE_BYTES]) for _ in range(5)]
        line_end = source.choice([b"\n", b"\r\n"])
        stream = b"".join(b"x" * length + line_end for length in lengths)
        chunks, position = [], 0
        while position < len(stream):
            step = source.randrange(1, 40_000)
            chunks.append(stream[position : position + step])
            position += step
        found = split(chunks)
        assert [len(line) + cut for line, cut, _ in found] == lengths
        assert all(len(line) <= LINE_BYTES for line, _, _ in found)


def test_a_full_queue_drops_and_counts_and_never_blocks_the_printer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "QUEUE_BYTES", 10_000)
    read_end, write_end = os.pipe()
    pipe = PipeDrain({read_end: 1}, Redactor())
    for _ in range(50):
        os.write(write_end, b"y" * 999 + b"\n" + b"z" * 999 + b"\n")  # more than a pipe and the queue hold
    os.close(write_end)
    assert pipe.join(10)
    kept = [line for run in pipe.take() for line in run.lines]
    dropped, size = pipe.take_dropped()
    assert len(kept) + dropped == 100 and 0 < len(kept) < 11 and size == dropped * 1000
    assert pipe.take() == [] and pipe.take_dropped() == (0, 0)
    assert len(pipe.last_lines(1)) == 50


def test_pipes_are_kept_apart_and_secrets_masked() -> None:
    out, err = os.pipe(), os.pipe()
    pipe = PipeDrain({out[0]: 1, err[0]: 2}, Redactor(["s3cret-value"]))
    os.write(out[1], b"to out s3cret-value!\n")
    os.write(err[1], b"to err\n")
    os.close(out[1])
    os.close(err[1])
    assert pipe.join(10)
    lines = {run.source: run.lines for run in pipe.take()}
    assert lines == {1: ["to out ***!"], 2: ["to err"]}
    assert pipe.last_lines(1) == ["to out ***!"]


def test_what_was_read_is_there_before_the_pipe_ends() -> None:
    read_end, write_end = os.pipe()
    pipe = PipeDrain({read_end: 1}, Redactor())
    os.write(write_end, b"now\n")
    assert [run.lines for run in until(pipe.take)] == [["now"]]
    os.close(write_end)
    assert pipe.join(10)
