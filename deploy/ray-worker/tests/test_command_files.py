"""What the command engine reads of the files of a program: event files of TensorBoard, JSON lines, batches."""

import json
import os
import struct
import time
from pathlib import Path

import pytest

from echelon_capture.format import write_batch_file
from echelon_rayworker.engines.command import batches, patterns, sources, steps
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
        assert len(source._rest) <= sources.MAX_JSON_CHARACTERS + 1
    assert reports == [(2, {"a": 2.0}), (2, {"a": 3.0})]
    (tmp_path / "new").write_text('{"step": 7, "a": 4}\n' + '{"step": 8, "a": 5}')
    (tmp_path / "new").rename(path)
    source.look()
    assert reports[-1] == (7, {"a": 4.0})
    source.look(everything=True)
    assert reports[-1] == (8, {"a": 5.0})
    assert (source.tally.matched, source.tally.refused) == (4, 2)
    assert source.tally.loss() == 'lines of m.jsonl of metrics.jsonFile that could not be read, the first because it is no JSON object: "[1]"'


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ({"step": 3, "loss": 1}, (3, {"loss": 1.0})),
        ({"step": "3", "loss": 1}, (3, {"loss": 1.0})),
        *(({name: 3, "loss": 1}, (3, {"loss": 1.0})) for name in steps.NAMES),
        ({"iteration": 9, "global_step": 3, "loss": 1}, (3, {"iteration": 9.0, "loss": 1.0})),
        *(({"step": step, "loss": 1}, None) for step in (6.9, -3, 10**18, 2**32, "soon", True, float("nan"))),
        ({"step": 2**32 - 1, "loss": 1}, (2**32 - 1, {"loss": 1.0})),
        ({"step": 3, "loss": 10**400}, None),
        ({"step": 3, "pad": "x" * 100_000, "loss": 1}, (3, {"loss": 1.0})),
        ({"step": 3, "pad": "x" * 2_000_000, "loss": 1}, None),
    ],
)
def test_a_step_is_found_by_its_usual_names_and_what_cannot_be_read_is_counted(written: dict, found: object) -> None:
    reports = Reports()
    source = sources.PrintedJson("", reports)
    source.line(json.dumps(written))
    source.line("an ordinary line")
    assert reports == ([found] if found else [])
    assert (source.tally.seen, source.tally.matched, source.tally.refused) == (2, int(bool(found)), int(not found))


def test_objects_without_a_step_are_named_in_the_finding() -> None:
    source = sources.PrintedJson("", Reports())
    source.line('{"loss": 1}')
    assert "metrics.jsonPrefix matched 1 of 1 printed lines; 1 named no step" in source.tally.finding()


LINES = {"step": "step {number}", "loss": "loss = {number}", "speed": "{number}it/s", "top": "top1 {number}"}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("step 1 loss = 0.5", (1, {"loss": 0.5})),
        ("STEP  1\tloss=.5e1,", (1, {"loss": 5.0})),
        ("loss = 5. next", (0, {"loss": 5.0})),
        ("step 8 val_loss = 9.0 loss = 0.8", (8, {"loss": 0.8})),
        ("val/loss = 1 val.loss = 1 val-loss = 1 xloss = 1", None),
        ("INFO:root:loss = 2", (0, {"loss": 2.0})),
        ("训练loss = 2", (0, {"loss": 2.0})),
        ("step 1,000 loss = 1,234.5", (1000, {"loss": 1234.5})),
        ("loss = 1_000", (0, {"loss": 1000.0})),
        ("loss = -inf", (0, {"loss": float("-inf")})),
        ("loss = +Infinity", (0, {"loss": float("inf")})),
        *((f"loss = {text}", None) for text in (
            "0x10", "nano", "info", "1.5.2", "1,5", "12:30", "2026-11-29", "3k", "1e", "12,34", "1_00", "--5", "x", "1" * 50,
        )),
        ("loss = 12% of it", (0, {"loss": 12.0})),
        ("timestep 99 loss = 1", (0, {"loss": 1.0})),
        ("step 6.5 loss = 1", None),
        ("step -3 loss = 1", None),
        ("step 1e18 loss = 1", None),
        ("step two loss = 1", None),
        ("step12 loss = 1", (12, {"loss": 1.0})),
        (" 50%|#| 3/6 [00:12<00:00, 1.5it/s]", (0, {"speed": 1.5})),
        ("1.5it/seconds 2s/it", None),
        ("top10 5", None),
        ("\x1b[31mstep 7\x1b[0m \x1b]0;title\x07\x1b[1mlo\x1b[0mss = 3", (7, {"loss": 3.0})),
        ("x" * 3000 + " loss = 9", None),
    ],
)  # fmt: skip
def test_a_pattern_finds_whole_words_and_whole_numbers(line: str, found: object) -> None:
    reports = Reports()
    source = patterns.PrintedPatterns(LINES, reports)
    source.line(line)
    assert reports == ([found] if found else [])


def test_a_pattern_costs_a_hostile_line_little() -> None:
    source = patterns.PrintedPatterns({"step": "a {number} b", "x": "a a a {number}"}, Reports())
    start = time.process_time()
    for text in ("a " * 1000, "1" * 2000, "a" + " " * 1999, "1,111" * 400, "\x1b[" * 1000, "a 1 " * 500):
        source.line(text)
    assert time.process_time() - start < 0.5


def test_a_finding_says_what_a_source_has_matched() -> None:
    source = patterns.PrintedPatterns(LINES, Reports())
    source.line("Loss: 0.5")
    assert source.tally.finding() == 'metrics.lines matched 0 of 1 printed lines; the first without a match is "Loss: 0.5"'
    for line in ("step 1 loss = 1", "loss = nano", "step x loss = 2"):
        source.line(line)
    assert source.tally.finding() == (
        'metrics.lines matched 1 of 4 printed lines; 1 could not be read, the first because its training step is no whole number '
        'from 0 to 4,294,967,295: "step x loss = 2"; never found: speed, top; 1 had the text of a pattern but not the number after '
        'it, the first "loss = nano"'
    )


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
