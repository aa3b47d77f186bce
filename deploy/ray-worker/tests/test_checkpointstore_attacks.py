"""What a sender of specs, a holder of the bucket's keys or a training tries by way of a checkpoint store."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import PACKAGE_ROOT, Client, Server
from objectstore import KEYS, Place, bucket, endpoint, names  # noqa: F401

from echelon_rayworker.checkpointplaces import Places, Unusable, check_address, open_below, store_environment
from echelon_rayworker.checkpointstore import in_words
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import Directories
from echelon_rayworker.reports import ReportBounds
from echelon_rayworker.storecompanion import settings_in


@pytest.fixture
def neighbours(tmp_path: Path) -> dict[Path, bytes]:
    """Files of others on the shared root of a cluster, with what they hold."""
    root = tmp_path / "a"
    files = {
        root / "checkouts" / "verl-agent" / "main.py": b"code",
        root / "experiments" / "other" / "checkpoints" / "step-1": b"another experiment's",
        root / "experiments" / "exp" / "attempts" / "1" / "hidden-variables.json": b"a secret",
        root / "secrets" / "HF_TOKEN": b"a secret of another project",
        root / "checkpoints" / "_projects" / "p" / "run" / "x" / "global_step_1": b"another project's",
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return files


@pytest.fixture
def here(tmp_path: Path, bucket: Any, neighbours: dict[Path, bytes]) -> Place:  # noqa: F811
    return Place(tmp_path / "a", bucket)


PATHS = [
    "../../checkouts/verl-agent", "../other", "../other/checkpoints/step-1", "../../secrets", "../../secrets/HF_TOKEN", "..", ".",
    "../../checkpoints", "../../checkpoints/run", "../../checkpoints/_projects/p/run/x/global_step_1", "attempts", "attempts/1",
    "checkpoint.json", "/etc", "../..", "../../../elsewhere", "x\0y", "link", "link/step-1",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_reported_or_planted_path_uploads_nothing_outside_of_the_experiments_own_directory(
    here: Place, bucket: Any, neighbours: dict[Path, bytes], path: str  # noqa: F811
) -> None:
    (here.experiment / "link").symlink_to(here.root / "experiments" / "other" / "checkpoints")
    (here.root / "checkpoints" / "run").mkdir(parents=True, exist_ok=True)
    with pytest.raises(Unusable):
        here.store().upload(1, path)
    assert names(bucket) == []


@pytest.mark.parametrize("path", PATHS)
def test_a_manifest_of_a_bucket_removes_and_overwrites_nothing_outside_of_the_experiments_own_directory(
    here: Place, bucket: Any, neighbours: dict[Path, bytes], path: str  # noqa: F811
) -> None:
    (here.experiment / "link").symlink_to(here.root / "experiments" / "other" / "checkpoints")
    plant(bucket, 1, path, {"main.py": b"import os"})
    said = here.run("download")
    assert "ignored" in said and "downloaded" not in said
    # Not even if Echelon had recorded its digest.
    bucket.known.update(plant(bucket, 2, path, {"main.py": b"import os"}))
    with pytest.raises(Unusable):
        here.store().download(2)
    assert all(file.read_bytes() == content for file, content in neighbours.items())
    assert not (here.experiment / "checkpoint.json").exists()


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "", ".", "a//b", 7, "x\0"])
def test_a_manifest_names_no_file_outside_of_its_checkpoint(here: Place, bucket: Any, name: Any) -> None:  # noqa: F811
    bucket.known.update(plant(bucket, 1, "checkpoints/step-1", {}, [{"name": name, "size": 1, "sha256": "0"}]))
    with pytest.raises(Unusable, match="outside of itself"):
        here.store().download(1)


def plant(bucket: Any, step: int, path: str, files: dict[str, bytes], named: Any = None) -> dict[int, str]:  # noqa: F811
    """A checkpoint that the holder of the bucket's keys has made; step and digest of its manifest."""
    for name, content in files.items():
        bucket.Object(f"runs/exp/{step}/{name}").put(Body=content)
    listed = [{"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()]
    manifest = {"version": 1, "step": step, "path": path, "directory": True, "files": named or listed}
    data = json.dumps(manifest).encode()
    bucket.Object(f"runs/exp/{step}/manifest.json").put(Body=data)
    return {step: hashlib.sha256(data).hexdigest()}


def test_a_resume_reads_no_checkpoint_whose_upload_echelon_did_not_record(
    tmp_path: Path, here: Place, bucket: Any  # noqa: F811
) -> None:
    there = Place(tmp_path / "b", bucket)
    here.run("upload", 1, here.save(1))
    # A newer one, and a change of the known one with a manifest that fits.
    plant(bucket, 2, "../../checkpoints/run/global_step_2", {"actor/model.pt": b"a pickle"})
    said = there.run("download")
    assert "step 2" in said and "ignored" in said and "step 1 was downloaded" in said
    assert there.content(2) == {} and there.content(1) == here.content(1)
    (there.experiment / "checkpoint.json").unlink()
    plant(bucket, 1, "../../checkpoints/run/global_step_1", {"actor/model.pt": b"a pickle"})
    assert "not the one that Echelon recorded" in there.run("download")
    assert there.content(1) == here.content(1)


def test_links_in_a_checkpoint_are_not_followed_by_an_upload_or_a_download(here: Place, bucket: Any, tmp_path: Path) -> None:  # noqa: F811
    secret = here.root / "secrets" / "HF_TOKEN"
    for made in ("file", "directory"):
        path = here.save(1)
        folder = here.root / "checkpoints" / "run" / "global_step_1"
        (folder / made).symlink_to(secret if made == "file" else secret.parent)
        assert "is a link" in here.run("upload", 1, path)
        (folder / made).unlink()
    assert names(bucket) == []
    # A link that came after the look at the directory.
    (folder / "late").symlink_to(secret)
    (folder / "actor" / "via").symlink_to(secret.parent)
    for name in ("late", "actor/via/HF_TOKEN"):
        with pytest.raises(Unusable):
            open_below(str(folder), name)
    os.unlink(folder / "late")
    os.unlink(folder / "actor" / "via")

    here.run("upload", 1, path)
    there = Place(tmp_path / "b", bucket)
    victim = tmp_path / "b" / "secrets"
    victim.mkdir()
    (tmp_path / "b" / "checkpoints" / "run").mkdir(parents=True)
    (tmp_path / "b" / "checkpoints" / "run" / "global_step_1.download").symlink_to(victim)
    assert "step 1 was downloaded" in there.run("download")
    assert list(victim.iterdir()) == [] and there.content(1) == here.content(1)


def test_an_object_that_never_ends_is_read_up_to_the_size_of_its_manifest(here: Place, bucket: Any) -> None:  # noqa: F811
    here.run("upload", 1, here.save(1))
    there = Place(here.root.parent / "b", bucket)
    bucket.Object("runs/exp/1/actor/model_world_size_3_rank_1.pt").put(Body=os.urandom(5_000_000))
    assert "another digest" in there.run("download")
    left = [path.stat().st_size for path in there.root.rglob("*.pt")]
    assert left and max(left) <= 1000


@pytest.mark.parametrize("noted", ['{"step": -1, "path": "x"}', '{"step": 1}', "[]", '{"step": 1, "path": "../../secrets/HF_TOKEN"}'])
def test_a_note_that_was_planted_in_a_queued_experiment_uploads_nothing(
    bucket: Any, client: Client, server: Server, noted: str  # noqa: F811
) -> None:
    directory = server.attempt_dir().parents[1]
    directory.mkdir(parents=True)
    (directory.parents[1] / "secrets").mkdir(exist_ok=True)
    (directory.parents[1] / "secrets" / "HF_TOKEN").write_text("a secret")
    (directory / "checkpoint.json").write_text(noted)
    files = {"checkpoint-store.json": json.dumps({"url": bucket.url}).encode()}
    client.launch("print=hello", environment=KEYS, files=files)
    events = client.events()
    assert events[-1].ended.message == "exit code 0", events[-1]
    assert names(bucket) == [] and not any(event.HasField("stored") for event in events)


def test_a_driver_cannot_report_that_a_checkpoint_is_stored() -> None:
    forged = pb.AttemptEvent(stored=pb.StoredCheckpoint(step=1, manifest="0" * 64))
    assert list(ReportBounds().bounded(forged)) == []


@pytest.mark.parametrize("host", ["169.254.169.254", "2852039166", "0xa9fea9fe", "100.100.100.200", "0.0.0.0", "169.254.169.254:80"])
def test_an_endpoint_that_is_a_metadata_address_is_not_called(host: str) -> None:
    with pytest.raises(Unusable, match="credentials"):
        check_address(f"s3://bucket/p?scheme=http&endpoint_override={host}")


def test_an_error_shows_nothing_of_the_answer_of_a_server(here: Place) -> None:
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<Error><Code>Inner</Code><Message>the-answer-of-an-inner-service</Message></Error>"
            self.send_response(403)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_PUT = do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        here.settings["url"] = f"s3://b1b/p?scheme=http&region=us-east-1&endpoint_override=127.0.0.1:{server.server_port}"
        said = here.run("download", fails=True)
        assert "403" in said and "inner" not in said.lower()
    finally:
        server.shutdown()
    assert in_words(OSError("When listing: whatever a server has said")) == "the store does not answer (OSError)"


def test_a_spec_chooses_no_proxy_endpoint_or_library_of_the_process_that_speaks_to_the_store() -> None:
    spec = {"HTTPS_PROXY": "http://mine", "AWS_ENDPOINT_URL": "http://mine", "AWS_CONFIG_FILE": "/mine", **KEYS}
    driver = {**spec, "PYTHONPATH": "/mine", "LD_PRELOAD": "/mine", "ECHELON_EXPERIMENT": "exp", "NO_PROXY": "of-the-cluster"}
    base = {"PATH": "/bin", "PYTHONPATH": "/ours", "HTTPS_PROXY": "http://ours"}
    assert store_environment(base, driver, list(spec)) == {
        **base, **KEYS, "NO_PROXY": "of-the-cluster", "AWS_EC2_METADATA_DISABLED": "true"
    }  # fmt: skip


def test_a_plan_names_the_directory_of_its_engine_and_the_digests_that_may_be_read() -> None:
    plan = pb.LaunchPlan(files={
        "spec.json": b'{"spec": {"checkpointStore": {"url": "s3://the-senders-own/x"}}}',
        "checkpoint-store.json": b'{"url": "s3://b1b/x", "directory": "{sharedRoot}/checkpoints/r/n"}',
        "stored-checkpoints.json": b'{"3": "abc"}',
    })  # fmt: skip
    settings = settings_in(plan, Directories("/a", "/e", "/root"))
    assert settings == {"url": "s3://b1b/x", "directory": "/root/checkpoints/r/n", "manifests": {"3": "abc"}}
    assert settings_in(pb.LaunchPlan(files={"spec.json": plan.files["spec.json"]}), Directories("/a", "/e", "/root")) is None


def test_the_checkpoints_of_an_experiment_are_in_its_directory_or_that_of_its_engine(tmp_path: Path) -> None:
    places = Places(str(tmp_path / "experiments" / "exp"), str(tmp_path / "checkpoints" / "run"))
    for path in ("checkpoints/step-1", "deep/er/x", "../../checkpoints/run/global_step_1"):
        assert places.target(path) == str((tmp_path / "experiments" / "exp" / path).resolve())


def test_the_processes_answer_in_the_form_that_the_supervisor_reads(here: Place) -> None:
    here.run("upload", 1, here.save(1))
    command = [sys.executable, "-m", "echelon_rayworker.checkpointstore", "upload", json.dumps(here.settings), "exp"]
    again = subprocess.run(
        [*command, str(here.experiment), "1", "../../checkpoints/run/global_step_1"],
        cwd=PACKAGE_ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(json.loads(again.stdout)) == {"step", "manifest"} and again.stderr == ""
