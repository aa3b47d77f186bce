"""Complete checkpoints on an object store, `s3://` or `gs://`, so that an attempt on another cluster resumes from them.

    python -m echelon_rayworker.checkpointstore download SETTINGS EXPERIMENT EXPERIMENT_DIR
    python -m echelon_rayworker.checkpointstore upload SETTINGS EXPERIMENT EXPERIMENT_DIR STEP PATH

The supervisor starts both beside the driver (see storecompanion). A checkpoint is `URL/EXPERIMENT/STEP/` with its files and
`manifest.json`, which is written last. An upload prints step and digest of its manifest; Echelon keeps them, and the settings
of a later attempt have them: a manifest of another digest is not read, and so nothing that others put into the bucket reaches
a training. Paths and addresses are judged by checkpointplaces. One process writes at a time (a lock in the experiment's
directory). A repeated upload skips the files that an earlier one has finished, a repeated download those that are there with the
right digest. The variables hold the credentials. Needs pyarrow.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Optional

from echelon_rayworker import launch
from echelon_rayworker.checkpointplaces import Places, Unusable, check_address, check_name, create_below, files_of, open_below
from echelon_rayworker.engines import savedsteps
from echelon_rayworker.files import lock_file, read_regular, write_file

MANIFEST = "manifest.json"
PROGRESS_FILE = "checkpoint-upload.json"
LOCK_FILE = "checkpoint-upload.lock"
CHUNK_BYTES = 8 << 20
MAX_MANIFEST_BYTES = 64 << 20
MAX_NOTE_BYTES = 64 << 10
# What an error of a client may say: its code and operation. The rest may be an answer of whatever server it has reached.
_ERROR = re.compile(r"AWS Error ([A-Z_]{1,60})(?: \(HTTP status (\d{3})\))? during (\w{1,60}) operation")


def say(text: str) -> None:
    """A line of the attempt's log."""
    print(f"echelon: {text}", file=sys.stderr, flush=True)


class Store:
    """The checkpoints of one experiment. Raises OSError if the store does not answer."""

    def __init__(self, settings: Mapping[str, Any], experiment: str, experiment_dir: str) -> None:
        """``settings``: of the launch plan, with `manifests`: digests by step."""
        try:
            from pyarrow import fs
        except ImportError:
            raise Unusable("checkpointStore needs pyarrow in the ray-worker's Python: pip install pyarrow") from None
        check_address(settings["url"])
        self._fs, path = fs.FileSystem.from_uri(settings["url"])
        self._file = fs.FileType.File
        self._selector = fs.FileSelector
        self._base = f"{path.rstrip('/')}/{experiment}"
        self.url = settings["url"].partition("?")[0]
        self._retain = int(settings.get("retain") or 2)
        self._experiment_dir = experiment_dir
        self._places = Places(experiment_dir, settings.get("directory"))
        self._known = {int(step): digest for step, digest in (settings.get("manifests") or {}).items()}
        self._rate = float(settings.get("megabytesPerSecond") or 0) * 1e6
        self._due = 0.0

    def steps(self) -> list[int]:
        """Steps of the complete checkpoints, the newest first, also those that others put there."""
        found = self._fs.get_file_info(self._selector(self._base, allow_not_found=True, recursive=True))
        manifests = (info.path.split("/") for info in found if info.base_name == MANIFEST)
        return sorted((int(parts[-2]) for parts in manifests if parts[-2].isascii() and parts[-2].isdigit()), reverse=True)

    def known_steps(self) -> list[int]:
        """Steps of the checkpoints that may be downloaded, the newest first."""
        return sorted(self._known, reverse=True)

    def manifest(self, step: int) -> Optional[dict[str, Any]]:
        """What a checkpoint consists of; None if there is none. Raises Unusable for one that Echelon does not know."""
        try:
            with self._fs.open_input_stream(self._at(step, MANIFEST)) as file:
                data = file.read(MAX_MANIFEST_BYTES)
        except FileNotFoundError:
            return None
        if hashlib.sha256(data).hexdigest() != self._known.get(step):
            raise Unusable(f"the manifest of step {step} is not the one that Echelon recorded")
        found = json.loads(data)
        for one in found["files"]:
            check_name(one["name"])
        self.target(found["path"])
        return found

    def target(self, path: str) -> str:
        """See ``Places.target``."""
        return self._places.target(path)

    def upload(self, step: int, path: str) -> tuple[str, bool]:
        """Uploads a checkpoint of the disk; the digest of its manifest, and false if the store had it already. The manifest of
        another one of this step is removed first. Raises Unusable, or OSError."""
        source = self.target(path)
        if not os.path.exists(source):
            raise Unusable(f"{source} is not there any more")
        root, names = files_of(source)
        progress = _Progress(self._experiment_dir, step, path)
        if all(progress.digest(root, name) is not None for name in names):
            data = _manifest_of(step, path, root, source, progress.files(names))
            if self._has(step, data):
                return hashlib.sha256(data).hexdigest(), False
        self._delete(step, MANIFEST)
        for name in names:
            if progress.digest(root, name) is not None:
                continue
            before = _stamp(root, name)
            with open_below(root, name) as file, self._fs.open_output_stream(self._at(step, name)) as out:
                digest = self._copy(file.read, out.write)
            if _stamp(root, name) != before:
                raise Unusable(f"{os.path.join(root, name)} changed during the upload")
            progress.done(name, before, digest)
        data = _manifest_of(step, path, root, source, progress.files(names))
        with self._fs.open_output_stream(self._at(step, MANIFEST)) as out:
            out.write(data)
        for old in self.steps()[self._retain :]:
            self._remove(old)
        return hashlib.sha256(data).hexdigest(), True

    def download(self, step: int) -> str:
        """Puts a checkpoint at the path that was reported, whole or not at all; returns its path. Raises Unusable, or OSError."""
        manifest = self.manifest(step)
        if manifest is None:
            raise Unusable(f"the checkpoint of step {step} is gone")
        target = self.target(manifest["path"])
        partial = f"{target}.download"
        if os.path.islink(partial):
            os.unlink(partial)
        for one in manifest["files"]:
            path = os.path.join(partial, one["name"])
            if _digest_of(partial, one["name"], one["size"]) == one["sha256"]:
                continue
            if self._receive(self._at(step, one["name"]), partial, one) != one["sha256"]:
                os.unlink(path)
                raise Unusable(f"{one['name']} of step {step} has another digest than its manifest says")
        whole = partial if manifest["directory"] else os.path.join(partial, manifest["files"][0]["name"])
        if os.path.isdir(target):
            shutil.rmtree(target)
        os.replace(whole, target)
        shutil.rmtree(partial, ignore_errors=True)
        self._make_newest(manifest, target)
        return target

    def _make_newest(self, manifest: Mapping[str, Any], target: str) -> None:
        """Lets the engines find it: by the tracker file of verl-agent, or by the experiment's last checkpoint."""
        step, path = manifest["step"], manifest["path"]
        progress = _Progress(self._experiment_dir, step, path)
        for one in manifest["files"]:
            root = target if manifest["directory"] else os.path.dirname(target)
            progress.done(one["name"], _stamp(root, one["name"]), one["sha256"])
        if os.path.basename(target) == os.path.basename(savedsteps.folder("", step)):
            write_file(os.path.join(os.path.dirname(target), savedsteps.TRACKER), str(step).encode())
        noted = json.dumps({"step": step, "path": path}).encode()
        write_file(os.path.join(self._experiment_dir, launch.CHECKPOINT_FILE), noted)

    def _at(self, step: int, name: str) -> str:
        return f"{self._base}/{step}/{name}"

    def _has(self, step: int, manifest: bytes) -> bool:
        try:
            with self._fs.open_input_stream(self._at(step, MANIFEST)) as file:
                return file.read(len(manifest) + 1) == manifest
        except FileNotFoundError:
            return False

    def _receive(self, source: str, root: str, one: Mapping[str, Any]) -> str:
        """Receives at most the size that the manifest states."""
        left = one["size"]
        try:
            with self._fs.open_input_stream(source) as stream, create_below(root, one["name"]) as out:

                def read(size: int) -> bytes:
                    nonlocal left
                    data = stream.read(min(size, left + 1))
                    left -= len(data)
                    return data if left >= 0 else b""

                digest = self._copy(read, out.write)
                out.flush()
                os.fsync(out.fileno())
                return digest if left == 0 else ""
        except FileNotFoundError:
            raise Unusable(f"{one['name']} of the checkpoint is missing in the store") from None

    def _copy(self, read: Callable[[int], bytes], write: Callable[[bytes], Any]) -> str:
        """Copies within the bandwidth; the SHA-256 of what was copied."""
        digest = hashlib.sha256()
        while data := read(CHUNK_BYTES):
            digest.update(data)
            write(data)
            if self._rate:
                self._due = max(time.monotonic(), self._due) + len(data) / self._rate
                time.sleep(max(0.0, self._due - time.monotonic()))
        return digest.hexdigest()

    def _remove(self, step: int) -> None:
        self._delete(step, MANIFEST)
        self._fs.delete_dir(f"{self._base}/{step}")

    def _delete(self, step: int, name: str) -> None:
        if self._fs.get_file_info(self._at(step, name)).type == self._file:
            self._fs.delete_file(self._at(step, name))


class _Progress:
    """Which files of a checkpoint are in the store, for an upload that is begun again."""

    def __init__(self, directory: str, step: int, path: str) -> None:
        self._path = os.path.join(directory, PROGRESS_FILE)
        self._record: dict[str, Any] = {"step": step, "path": path, "files": {}}
        try:
            known = json.loads(read_regular(self._path, MAX_MANIFEST_BYTES))
            if (known["step"], known["path"]) == (step, path) and isinstance(known["files"], dict):
                self._record = known
        except (OSError, ValueError, KeyError, TypeError):
            pass

    def digest(self, root: str, name: str) -> Optional[str]:
        """The digest of a file that was uploaded as it is now."""
        try:
            size, modified, digest = self._record["files"].get(name, (-1, 0, None))
        except (TypeError, ValueError):
            return None  # the note is of a training, not ours
        return digest if isinstance(digest, str) and [size, modified] == _stamp(root, name) else None

    def done(self, name: str, stamp: list[int], digest: str) -> None:
        self._record["files"][name] = [*stamp, digest]
        write_file(self._path, json.dumps(self._record).encode())

    def files(self, names: list[str]) -> list[dict[str, Any]]:
        """Files that are done, as a manifest names them."""
        known = self._record["files"]
        return [{"name": name, "size": known[name][0], "sha256": known[name][2]} for name in names]


def _manifest_of(step: int, path: str, root: str, source: str, files: list[dict[str, Any]]) -> bytes:
    """The same bytes for the same checkpoint: its digest is its name."""
    manifest = {"version": 1, "step": step, "path": path, "directory": root == source, "files": files}
    return json.dumps(manifest).encode()


def _stamp(root: str, name: str) -> list[int]:
    found = os.lstat(os.path.join(root, name))
    return [found.st_size, found.st_mtime_ns]


def _digest_of(root: str, name: str, size: int) -> Optional[str]:
    try:
        with open_below(root, name) as file:
            if os.fstat(file.fileno()).st_size != size:
                return None
            digest = hashlib.sha256()
            while data := file.read(CHUNK_BYTES):
                digest.update(data)
            return digest.hexdigest()
    except (OSError, Unusable):
        return None


def local_checkpoint(store: Store, experiment_dir: str) -> Optional[dict[str, Any]]:
    """The experiment's last checkpoint on this cluster, if it is still there."""
    try:
        noted = json.loads(read_regular(os.path.join(experiment_dir, launch.CHECKPOINT_FILE), MAX_NOTE_BYTES))
        is_there = isinstance(noted["step"], int) and os.path.exists(store.target(noted["path"]))
        return noted if is_there else None
    except (OSError, ValueError, KeyError, TypeError, Unusable):
        return None


def download_newest(store: Store, experiment_dir: str) -> None:
    """Downloads the newest usable checkpoint, unless this cluster has one of that step or a later one. Raises OSError."""
    local = local_checkpoint(store, experiment_dir)
    stored = set(store.steps())
    for step in sorted(stored - set(store.known_steps()), reverse=True):
        say(f"the checkpoint of step {step} in {store.url} is ignored: Echelon did not record its upload")
    for step in store.known_steps():
        if local is not None and local["step"] >= step:
            return
        if step not in stored:
            continue
        try:
            path = store.download(step)
        except Unusable as error:
            say(f"{error}; the next older checkpoint in {store.url} is tried")
            continue
        say(f"the checkpoint of step {step} was downloaded from {store.url} to {path}")
        return


def upload(store: Store, experiment_dir: str, step: int, path: str) -> None:
    """Uploads one checkpoint, and prints step and digest of its manifest. What is no fault of the store is said and not tried
    again. Raises OSError."""
    start = time.monotonic()
    try:
        with _writer(experiment_dir):
            digest, is_new = store.upload(step, path)
            print(json.dumps({"step": step, "manifest": digest}), flush=True)
            if is_new:
                say(f"the checkpoint of step {step} was uploaded to {store.url} in {time.monotonic() - start:.0f} s")
    except Unusable as error:
        say(f"the checkpoint of step {step} was not uploaded: {error}")


@contextmanager
def _writer(experiment_dir: str) -> Iterator[None]:
    held = None
    while held is None:
        held = lock_file(os.path.join(experiment_dir, LOCK_FILE), wait_seconds=60)
    try:
        yield
    finally:
        os.close(held)


def in_words(error: Exception) -> str:
    """What went wrong, without what a server has answered."""
    if isinstance(error, Unusable):
        return str(error)
    if known := _ERROR.search(str(error)):
        code, status, operation = known.groups()
        return f"the store answered {operation} with {code}{f' (HTTP status {status})' if status else ''}"
    return getattr(error, "strerror", None) or f"the store does not answer ({type(error).__name__})"


def main(action: str, settings: str, experiment: str, experiment_dir: str, *checkpoint: str) -> int:
    """The exit code: 0 if nothing is left to do."""
    try:
        store = Store(json.loads(settings), experiment, experiment_dir)
        if action == "upload":
            upload(store, experiment_dir, int(checkpoint[0]), checkpoint[1])
        else:
            download_newest(store, experiment_dir)
        return 0
    except (Unusable, OSError) as error:
        say(f"checkpointStore: {in_words(error)}")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
