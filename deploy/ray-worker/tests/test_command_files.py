"""What the command engine reads of the files of a program: event files of TensorBoard, JSON lines, batches."""

import json
import os
import struct
from pathlib import Path

import pytest

from echelon_rayworker.batch import write_batch_file
from echelon_rayworker.engines.command import batches, sources
from echelon_rayworker.engines.command.settings import Settings
from echelon_rayworker.engines.command.tensorboard import MAX_RECORD_BYTES, EventFile, EventFiles


def field(number: int, payload: bytes) -> bytes:
    return bytes([number << 3 | 2, len(payload)]) + payload


def scalar(step: int, tag: str, value: bytes) -> bytes:
    """An event as TensorFlow's documentation has it: wall time, step, summary."""
    event = b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + bytes([step]) + field(5, field(1, field(1, tag.encode()) + value))
    return record(event)


def record(event: bytes) -> bytes:
    return struct.pack("<Q", len(event)) + b"sum1" + event + b"sum2"


def simple(value: float) -> bytes:
    return b"\x15" + struct.pack("<f", value)


class Reports(list):
    def __call__(self, step: int, values: dict[str, float]) -> None:
        self.append((step, values))


def test_scalars_of_event_files_are_read_as_they_are_appended(tmp_path: Path) -> None:
    runs = tmp_path / "runs" / "a"
    runs.mkdir(parents=True)
    path = runs / "events.out.tfevents.1"
    path.write_bytes(scalar(1, "old", simple(9)))
    reports = Reports()
    files = EventFiles(str(tmp_path), "runs", reports)
    tensor = field(8, b"\x08\x01" + field(5, struct.pack("<f", 0.25)))
    content = field(8, b"\x08\x02" + field(2, b"") + field(4, struct.pack("<d", 0.125)))
    # All elements are equal, so that there is one value.
    vector = field(8, b"\x08\x01" + field(2, field(2, b"\x08\x02")) + field(5, struct.pack("<f", 1)))
    whole = [
        scalar(3, "loss", simple(0.5)), scalar(3, "acc", tensor), scalar(3, "vector", vector), record(b"x" * 2_000_000),
        scalar(4, "loss", content), record(b"\xff" * 9),
    ]  # fmt: skip
    data = b"".join(whole)
    with open(path, "ab") as file:
        for start in (0, 7, 60, 1_000_000):
            file.write(data[start : {0: 7, 7: 60, 60: 1_000_000}.get(start, len(data))])
            file.flush()
            files.look()
    (runs / "events.out.tfevents.2").write_bytes(scalar(5, "loss", simple(1)))
    files.look()
    steps: dict[int, dict[str, float]] = {}
    for step, values in reports:
        steps.setdefault(step, {}).update(values)
    assert steps == {3: {"loss": 0.5, "acc": 0.25}, 4: {"loss": 0.125}, 5: {"loss": 1.0}}


def test_a_record_without_end_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(struct.pack("<Q", 2**60) + b"x" * (3 * MAX_RECORD_BYTES))
    file = EventFile(str(path))
    assert list(file.events()) == [] and len(file._rest) <= MAX_RECORD_BYTES


def test_event_files_behind_a_link_out_of_the_working_directory_are_not_read(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (work / "runs").symlink_to(outside)
    reports = Reports()
    files = EventFiles(str(work), "runs", reports)
    (outside / "events.out.tfevents.1").write_bytes(scalar(1, "loss", simple(9)))
    files.look()
    assert reports == []


def test_a_json_file_is_followed_over_partial_lines_and_a_replacement(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"step": 1, "a": 1}\n')
    reports = Reports()
    source = sources.JsonFile(str(tmp_path), "m.jsonl", reports)
    for text in ('{"step": 2, ', '"a": 2}\n[1]\n', "x" * 100_000, '\n{"a": 3}\n'):
        with open(path, "a") as file:
            file.write(text)
        source.look()
        assert len(source._rest) <= sources.MAX_JSON_CHARACTERS
    assert reports == [(2, {"a": 2.0}), (2, {"a": 3.0})]
    (tmp_path / "new").write_text('{"step": 7, "a": 4}\n' + " " * 200_000)
    (tmp_path / "new").rename(path)
    source.look()
    assert reports[-1] == (7, {"a": 4.0})


class Taken:
    """A spool that remembers."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.gaps: list[str] = []

    def batch(self, step: int, data: bytes, rows: int) -> None:
        assert data and rows == 2
        self.steps.append(step)

    def gap(self, step: int, rows: int, reason: str) -> None:
        self.gaps.append(reason)


def columns(step: int) -> dict:
    return dict(
        estimator={"name": "grpo"}, group=[0, 0], trajectory=[0, 1], token_level_reward_sum=[0.0, 1.0],
        advantage=[-0.7, 0.7], provenance={"training_step": step}, name=f"step {step}",
    )  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "dumps").mkdir()
    return tmp_path


def follow(work: Path) -> tuple[Taken, batches.BatchDirectory]:
    taken = Taken()
    settings = Settings([], str(work), {}, str(work), str(work), "per-node", [], {}, "dumps")
    return taken, batches.BatchDirectory(settings, taken)


def write(work: Path, step: int) -> Path:
    path = work / "dumps" / f"{step}.json.gz"
    write_batch_file(path, [columns(step)])
    os.utime(path, (1_000 + step, 1_000 + step))
    return path


def test_batch_files_are_taken_once_in_order_when_the_next_one_was_begun(work: Path) -> None:
    write(work, 1)
    taken, directory = follow(work)
    directory.look()
    assert taken.steps == []  # it was there before
    for step in (4, 3, 2):
        write(work, step)
    directory.look()
    directory.look()
    assert taken.steps == [2, 3]  # the last one may be incomplete
    directory.look(everything=True)
    directory.look(everything=True)
    assert taken.steps == [2, 3, 4] and taken.gaps == []


def test_a_quiet_batch_file_is_complete(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, directory = follow(work)
    write(work, 1)
    directory.look()
    assert taken.steps == []
    monkeypatch.setattr(batches, "QUIET_SECONDS", 0.0)
    directory.look()
    assert taken.steps == [1]


def test_a_further_attempt_takes_what_the_one_before_has_not_taken(work: Path) -> None:
    _, first = follow(work)
    write(work, 1)
    write(work, 3)
    first.look(everything=True)
    write(work, 2)
    write(work, 1).write_bytes((work / "dumps" / "2.json.gz").read_bytes())  # written again, now with other content
    taken, second = follow(work)
    second.look(everything=True)
    assert taken.steps == [2, 2]


def test_what_is_no_batch_file_is_a_gap_and_links_and_other_names_are_ignored(work: Path) -> None:
    taken, directory = follow(work)
    (work / "dumps" / "a.json").write_text("{")
    (work / "dumps" / "b.json").write_text(json.dumps({"format": "echelon-batch/1", "batches": [{}]}))
    (work / "dumps" / "c.json").symlink_to(write(work, 1))
    (work / "dumps" / ".d.json").write_text("{")
    (work / "dumps" / "e.txt").write_text("{")
    with open(work / "dumps" / "f.json", "wb") as file:
        file.truncate(batches.MAX_BATCH_BYTES + 1)
    directory.look(everything=True)
    assert taken.steps == [1]
    assert sorted(gap.split()[0] for gap in taken.gaps) == ["a.json", "b.json", "f.json"]
