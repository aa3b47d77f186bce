"""Checkpoints on a real S3 server (moto), uploaded and downloaded by the processes of an attempt."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from conftest import Client, Server, free_port, until
from objectstore import KEYS, Place, bucket, endpoint, names  # noqa: F401

from echelon_rayworker.engines import savedsteps
from echelon_rayworker.gen import rayworker_pb2 as pb


def test_a_checkpoint_reaches_another_cluster_whole_and_old_ones_are_deleted(tmp_path: Path, bucket: Any) -> None:
    here, there = Place(tmp_path / "a", bucket, retain=2), Place(tmp_path / "b", bucket)
    for step in (1, 2, 3):
        assert "was uploaded" in here.run("upload", step, here.save(step))
    assert here.store().steps() == [3, 2] and not any(name.startswith("exp/1/") for name in names(bucket))
    assert here.run("upload", 3, "../../checkpoints/run/global_step_3") == ""
    assert "step 3 was downloaded" in there.run("download")
    assert there.content(3) == here.content(3)
    assert savedsteps.latest_step(str(tmp_path / "b" / "checkpoints" / "run")) == 3
    assert json.loads((there.experiment / "checkpoint.json").read_text())["step"] == 3
    # Neither has anything to do again.
    assert there.run("download") == "" and there.run("upload", 3, "../../checkpoints/run/global_step_3") == ""


def test_a_step_that_was_trained_again_replaces_the_one_before(tmp_path: Path, bucket: Any) -> None:
    here, there = Place(tmp_path / "a", bucket), Place(tmp_path / "b", bucket)
    here.run("upload", 1, here.save(1))
    here.run("upload", 1, here.save(1))
    there.run("download")
    assert there.content(1) == here.content(1)


@pytest.mark.parametrize("fault", ["a changed object", "a missing object", "a damaged manifest", "no manifest"])
def test_a_damaged_checkpoint_is_never_used_and_the_one_before_is(tmp_path: Path, bucket: Any, fault: str) -> None:
    here, there = Place(tmp_path / "a", bucket), Place(tmp_path / "b", bucket)
    for step in (1, 2):
        here.run("upload", step, here.save(step))
    name = "manifest.json" if "manifest" in fault else "actor/model_world_size_3_rank_1.pt"
    found = bucket.Object(f"runs/exp/2/{name}")
    if fault in ("a missing object", "no manifest"):
        found.delete()
    else:
        found.put(Body=b"{" if "manifest" in fault else os.urandom(1000))
    said = there.run("download")
    assert "step 1 was downloaded" in said and ("next older" in said) == (fault != "no manifest")
    assert there.content(1) == here.content(1) and there.content(2) == {}


def test_an_upload_and_a_download_that_are_killed_continue(tmp_path: Path, bucket: Any) -> None:
    # Four files of 1 MB at 0.5 MB/s: a kill after the first file leaves work for six seconds.
    slow = {"megabytesPerSecond": 0.5}
    here, there = Place(tmp_path / "a", bucket, **slow), Place(tmp_path / "b", bucket, **slow)
    path = here.save(1, size=1_000_000, files=4)
    process = here.process("upload", 1, path)
    until((here.experiment / "checkpoint-upload.json").exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    here.settings["megabytesPerSecond"] = 100
    assert here.store().steps() == []
    assert there.run("download") == ""
    progress = json.loads((here.experiment / "checkpoint-upload.json").read_text())
    uploaded = {one.key: one.last_modified for one in bucket.objects.all() if one.key.rpartition("1/")[2] in progress["files"]}
    here.run("upload", 1, path)
    assert uploaded and {key: bucket.Object(key).last_modified for key in uploaded} == uploaded

    folder = tmp_path / "b" / "checkpoints" / "run"
    process = there.process("download")
    until(lambda: len(list(folder.rglob("*.pt"))) >= 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there.settings["megabytesPerSecond"] = 100
    assert not (folder / "global_step_1").exists() and savedsteps.latest_step(str(folder)) is None
    assert "step 1 was downloaded" in there.run("download")
    assert there.content(1) == here.content(1)
    assert not list(folder.glob("*.download"))


def launch(client: Client, url: str, attempt: int, *arguments: str, known: dict[int, str] | None = None) -> None:
    files = {"checkpoint-store.json": {"url": url}, "stored-checkpoints.json": known or {}}
    written = {name: json.dumps(content).encode() for name, content in files.items()}
    client.launch(*arguments, attempt=attempt, environment=KEYS, files=written)


def stored(events: list[pb.AttemptEvent]) -> dict[int, str]:
    return {event.stored.step: event.stored.manifest for event in events if event.HasField("stored")}


def lines(events: list[pb.AttemptEvent]) -> str:
    return "\n".join(line for event in events for line in event.log.lines)


def test_an_attempt_ends_after_its_last_checkpoint_is_in_the_store_and_the_next_one_starts_from_it(
    tmp_path: Path, bucket: Any, client: Client, server: Server
) -> None:
    launch(client, bucket.url, 1, "save=1x1000", "save=2x1000")
    events = client.events()
    assert "the checkpoint of step 2 was uploaded" in lines(events), lines(events)
    assert f"exp{server.suffix}/2/manifest.json" in names(bucket)
    other = Server(tmp_path / "other")
    other.suffix = server.suffix
    again = other.client()
    try:
        launch(again, bucket.url, 2, "save=3x1000", known=stored(events))
        assert "the checkpoint of step 2 was downloaded" in lines(again.events(attempt=2))
        assert f"exp{server.suffix}/3/manifest.json" in names(bucket)
    finally:
        again.close()
        other.stop()


def test_an_uploader_that_is_killed_is_started_again(bucket: Any, client: Client, server: Server) -> None:
    attempt = server.attempt_dir()
    launch(client, bucket.url, 1, "save=1x100000000", f"wait={attempt / 'go'}")
    os.kill(until(lambda: _uploaders(attempt))[0], signal.SIGKILL)
    (attempt / "go").touch()
    events = client.events()
    assert "the checkpoint of step 1 was uploaded" in lines(events), lines(events)
    assert events[-1].ended.message == "exit code 0", events[-1]


def _uploaders(attempt: Path) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if b"checkpointstore\0upload" in (entry / "cmdline").read_bytes() and str(attempt.parents[1]).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_a_store_that_does_not_answer_fails_the_start_as_a_fault_of_the_cluster(client: Client, server: Server) -> None:
    launch(client, f"s3://b/runs?scheme=http&endpoint_override=127.0.0.1:{free_port()}&region=us-east-1", 1, "print=hello")
    (*_, last) = client.events()
    assert last.ended.cause == pb.Ended.NOT_STARTED and "cannot be read" in last.ended.message
