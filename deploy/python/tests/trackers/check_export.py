"""What each tracker's own library reads back of an export. `npm run check:exports` installs the libraries and runs this."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest

ROOT = Path(__file__).parents[4]
SAMPLE = ROOT / "packages" / "echelon-dashboard" / "src" / "sample.json.gz"
LINK = "https://example.org/report.html"
FIRST = re.compile(r"^Row 1 of step 1 of .*sample\.json\.gz is wrong\. Likely cause: levels whose advantage is 0 keep .*row=1$")
# 317 of 713 rows are wrong, and no row by rounding.
WRONG = {"echelon/rows_wrong": 317.0, "echelon/rows_rounding": 0.0, "echelon/coverage": 1.0}
_BLOCK, _FULL, _LAST = 32768, 1, 4
CLEAN = {"echelon/rows_wrong": 0.0, "echelon/coverage": 1.0}


def command(*arguments: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "deploy" / "python"), **variables}
    return subprocess.run(
        [sys.executable, "-m", "echelon_verify", *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """The JSON of four batches, the first of them wrong."""
    folder = tmp_path_factory.mktemp("report")
    documents = [
        json.loads(command("verify", "--json", path, cwd=folder).stdout)
        for path in (SAMPLE, ROOT / "test" / "golden" / "dumps" / "trl" / "group")
    ]
    batches = [batch for document in documents for batch in document["batches"]]
    for step, batch in enumerate(batches, start=1):
        batch["name"] = f"step {step}"
    path = folder / "report.json"
    path.write_text(json.dumps({"batches": batches, "firstWrong": documents[0]["firstWrong"]}))
    return path


def exported(report: Path, to: str, cwd: Path, *options: object, **variables: str) -> None:
    ended = command("export", report, "--to", to, "--link", LINK, *options, cwd=cwd, **variables)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, f"4 steps written to {to}, 317 wrong rows"), ended.stderr


def check(steps: dict[int, dict[str, float]]) -> None:
    """The steps have the metrics of the report."""
    assert sorted(steps) == [1, 2, 3, 4]
    assert {name: steps[1][name] for name in WRONG} == WRONG
    assert 0 < steps[1]["echelon/zero_signal_share"] < 1
    for step in (2, 3, 4):
        assert {name: steps[step][name] for name in CLEAN} == CLEAN
        assert 0 <= steps[step]["echelon/groups_without_signal_share"] <= 1


def records_of(log: bytes) -> Iterator[bytes]:
    """The records of a file of W&B: a header of 7 bytes, then blocks as in LevelDB's log, whose parts have a checksum, a length and
    a kind."""
    at, whole = 7, b""
    while at + 7 <= len(log):
        left = _BLOCK - at % _BLOCK
        if left < 7:
            at += left
            continue
        length, kind = struct.unpack_from("<HB", log, at + 4)
        whole += log[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (_FULL, _LAST):
            yield whole
            whole = b""


def test_wandb_has_the_steps_and_the_first_wrong_row_in_an_offline_run(report, tmp_path):
    from wandb.proto.wandb_internal_pb2 import Record

    exported(report, "wandb", tmp_path, "--dir", tmp_path, WANDB_MODE="offline", WANDB_SILENT="true")
    (file,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    steps, summary = {}, {}
    for data in records_of(file.read_bytes()):
        record = Record()
        record.ParseFromString(data)
        items = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        if items:
            steps[items["training_step"]] = items
        summary.update({item.key: json.loads(item.value_json) for item in record.summary.update})
    check(steps)
    assert FIRST.match(summary["echelon/first_wrong"])


def test_mlflow_has_the_steps_the_tag_and_the_explanation_in_a_folder(report, tmp_path):
    from mlflow import MlflowClient

    exported(report, "mlflow", tmp_path, "--dir", tmp_path / "store", "--project", "rl")
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    client = MlflowClient((tmp_path / "store").as_uri())
    (run,) = client.search_runs([client.get_experiment_by_name("rl").experiment_id])
    steps: dict[int, dict[str, float]] = {}
    for name in run.data.metrics:
        for point in client.get_metric_history(run.info.run_id, name):
            steps.setdefault(point.step, {})[name] = point.value
    check(steps)
    assert FIRST.match(run.data.tags["echelon/first_wrong"])
    text = Path(client.download_artifacts(run.info.run_id, "echelon/first-wrong-row.txt", str(tmp_path))).read_text()
    assert text.startswith("Row 1 of step 1 is WRONG")


def test_tensorboard_has_the_steps_and_the_explanation_in_event_files(report, tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    exported(report, "tensorboard", tmp_path, "--name", "checked")
    events = EventAccumulator(str(tmp_path / "runs" / "checked"))
    events.Reload()
    steps: dict[int, dict[str, float]] = {}
    for name in events.Tags()["scalars"]:
        for point in events.Scalars(name):
            steps.setdefault(point.step, {})[name] = point.value
    check(steps)
    (text,) = events.Tensors("echelon/first_wrong/text_summary")
    said = text.tensor_proto.string_val[0].decode()
    assert FIRST.match(said.splitlines()[0].strip()) and "Row 1 of step 1 is WRONG" in said


def test_trackio_has_the_steps_in_its_database(report, tmp_path):
    exported(report, "trackio", tmp_path, "--dir", tmp_path, "--project", "rl", "--name", "checked")
    os.environ["TRACKIO_DIR"] = str(tmp_path)
    from trackio.sqlite_storage import SQLiteStorage

    logs = SQLiteStorage.get_logs("rl", "checked")
    check({entry["step"]: entry for entry in logs})
