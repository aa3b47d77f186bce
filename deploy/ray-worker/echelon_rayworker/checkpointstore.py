"""Complete checkpoints on an object store, `s3://` or `gs://`, so that an attempt on another cluster resumes from them.

    python -m echelon_rayworker.checkpointstore download SETTINGS EXPERIMENT EXPERIMENT_DIR SHARED_ROOT
    python -m echelon_rayworker.checkpointstore upload SETTINGS EXPERIMENT EXPERIMENT_DIR SHARED_ROOT STEP PATH

The supervisor starts both beside the driver (``Companion``). A checkpoint is `URL/EXPERIMENT/STEP/` with its files and
`manifest.json`, which is written last: without it, or with files of another digest, the checkpoint does not exist. One process
writes at a time (a lock in the experiment's directory). A repeated upload skips the files that an earlier one has finished, a
repeated download those that are there with the right digest. The driver's variables hold the credentials. Needs pyarrow.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from echelon_rayworker import launch
from echelon_rayworker.engines import savedsteps
from echelon_rayworker.files import lock_file, write_file

MANIFEST = "manifest.json"
PROGRESS_FILE = "checkpoint-upload.json"
LOCK_FILE = "checkpoint-upload.lock"
CHUNK_BYTES = 8 << 20
# Waits between tries of an upload; the last one repeats.
RETRY_SECONDS = (1, 5, 15, 60, 120)
# An upload that continues after its training has ended.
FINISH_SECONDS = 3600


class Unusable(Exception):
    """A checkpoint in the store cannot be used; the message says why."""


def say(text: str) -> None:
    """A line of the attempt's log."""
    print(f"echelon: {text}", file=sys.stderr, flush=True)


class Store:
    """The checkpoints of one experiment. Raises OSError if the store does not answer."""

    def __init__(self, settings: Mapping[str, Any], experiment: str, experiment_dir: str, shared_root: str) -> None:
        try:
            from pyarrow import fs
        except ImportError:
            raise Unusable("checkpointStore needs pyarrow in the ray-worker's Python: pip install pyarrow") from None
        self._fs, path = fs.FileSystem.from_uri(settings["url"])
        self._file = fs.FileType.File
        self._selector = fs.FileSelector
        self._base = f"{path.rstrip('/')}/{experiment}"
        self.url = settings["url"].partition("?")[0]
        self._retain = int(settings.get("retain") or 2)
        self._experiment_dir, self._shared_root = experiment_dir, os.path.realpath(shared_root)
        self._rate = float(settings.get("megabytesPerSecond") or 0) * 1e6
        self._due = 0.0

    def steps(self) -> list[int]:
        """Steps of the complete checkpoints, the newest first."""
        found = self._fs.get_file_info(self._selector(self._base, allow_not_found=True, recursive=True))
        manifests = (info.path.split("/") for info in found if info.base_name == MANIFEST)
        return sorted((int(parts[-2]) for parts in manifests if parts[-2].isdigit()), reverse=True)

    def manifest(self, step: int) -> Optional[dict[str, Any]]:
        """What the checkpoint consists of; None if it is not complete. Raises Unusable for one that is not ours."""
        try:
            with self._fs.open_input_stream(self._at(step, MANIFEST)) as file:
                found = json.loads(file.read())
            names = [one["name"] for one in found["files"] if one["size"] >= 0 and one["sha256"]]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise Unusable(f"the manifest of step {step} is damaged") from None
        if any(os.path.isabs(name) or ".." in name.split("/") for name in names):
            raise Unusable(f"the manifest of step {step} names a file outside of the checkpoint")
        self.target(found["path"])
        return found

    def target(self, path: str) -> str:
        """The absolute path of a checkpoint that was reported relative to the experiment's directory. Raises Unusable if it is
        outside of the shared root."""
        absolute = os.path.realpath(os.path.join(self._experiment_dir, path))
        if os.path.commonpath([absolute, self._shared_root]) != self._shared_root or absolute == self._shared_root:
            raise Unusable(f"the checkpoint {path} is not below the shared root")
        return absolute

    def upload(self, step: int, path: str) -> bool:
        """Uploads a checkpoint of the disk; False if the store had it already. The manifest of another one of this step is
        removed first. Raises Unusable, or OSError."""
        source = self.target(path)
        if not os.path.exists(source):
            raise Unusable(f"{source} is not there any more")
        root, names = _files_of(source)
        progress = _Progress(self._experiment_dir, step, path)
        known = {one["name"]: one for one in (self.manifest(step) or {"files": []})["files"]}
        if names and all(name in known and progress.digest(root, name) == known[name]["sha256"] for name in names):
            return False
        self._delete(step, MANIFEST)
        files = []
        for name in names:
            if progress.digest(root, name) is None:
                before = _stamp(root, name)
                digest = self._send(os.path.join(root, name), self._at(step, name))
                if _stamp(root, name) != before:
                    raise Unusable(f"{os.path.join(root, name)} changed during the upload")
                progress.done(name, before, digest)
            files.append({"name": name, "size": _stamp(root, name)[0], "sha256": progress.digest(root, name)})
        manifest = {"version": 1, "step": step, "path": path, "directory": root == source, "files": files}
        with self._fs.open_output_stream(self._at(step, MANIFEST)) as out:
            out.write(json.dumps(manifest).encode())
        for old in self.steps()[self._retain :]:
            self._remove(old)
        return True

    def download(self, step: int) -> str:
        """Puts a checkpoint at the path that was reported, whole or not at all; returns its path. Raises Unusable, or OSError."""
        manifest = self.manifest(step)
        if manifest is None:
            raise Unusable(f"the checkpoint of step {step} is gone")
        target = self.target(manifest["path"])
        partial = f"{target}.download"
        for one in manifest["files"]:
            path = os.path.join(partial, one["name"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if _digest_of(path, one["size"]) == one["sha256"]:
                continue
            if self._receive(self._at(step, one["name"]), path) != one["sha256"]:
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

    def _send(self, source: str, to: str) -> str:
        with open(source, "rb") as file, self._fs.open_output_stream(to) as out:
            return self._copy(file.read, out.write)

    def _receive(self, source: str, path: str) -> str:
        try:
            with self._fs.open_input_stream(source) as stream, open(path, "wb") as out:
                digest = self._copy(stream.read, out.write)
                os.fsync(out.fileno())
                return digest
        except FileNotFoundError:
            raise Unusable(f"{source} is missing") from None

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
            with open(self._path, "rb") as file:
                known = json.load(file)
            if (known["step"], known["path"]) == (step, path):
                self._record = known
        except (OSError, ValueError, KeyError):
            pass

    def digest(self, root: str, name: str) -> Optional[str]:
        """The digest of a file that was uploaded as it is now."""
        size, modified, digest = self._record["files"].get(name, (-1, 0, None))
        return digest if [size, modified] == _stamp(root, name) else None

    def done(self, name: str, stamp: list[int], digest: str) -> None:
        self._record["files"][name] = [*stamp, digest]
        write_file(self._path, json.dumps(self._record).encode())


def _stamp(root: str, name: str) -> list[int]:
    found = os.stat(os.path.join(root, name))
    return [found.st_size, found.st_mtime_ns]


def _files_of(source: str) -> tuple[str, list[str]]:
    """The directory and the names of the files below it, or of the one file."""
    if not os.path.isdir(source):
        return os.path.dirname(source), [os.path.basename(source)]
    found = (os.path.join(at, name) for at, _, names in os.walk(source) for name in names)
    return source, sorted(os.path.relpath(path, source) for path in found if os.path.isfile(path))


def _digest_of(path: str, size: int) -> Optional[str]:
    try:
        if os.path.getsize(path) != size:
            return None
        with open(path, "rb") as file:
            digest = hashlib.sha256()
            while data := file.read(CHUNK_BYTES):
                digest.update(data)
            return digest.hexdigest()
    except OSError:
        return None


def local_checkpoint(store: Store, experiment_dir: str) -> Optional[dict[str, Any]]:
    """The experiment's last checkpoint on this cluster, if it is still there."""
    try:
        with open(os.path.join(experiment_dir, launch.CHECKPOINT_FILE), "rb") as file:
            noted = json.load(file)
        return noted if os.path.exists(store.target(noted["path"])) else None
    except (OSError, ValueError, KeyError, Unusable):
        return None


def download_newest(store: Store, experiment_dir: str) -> None:
    """Downloads the newest usable checkpoint, unless this cluster has one of that step or a later one. Raises OSError."""
    local = local_checkpoint(store, experiment_dir)
    for step in store.steps():
        if local is not None and local["step"] >= step:
            return
        try:
            path = store.download(step)
        except Unusable as error:
            say(f"{error}; the next older checkpoint in {store.url} is tried")
            continue
        say(f"the checkpoint of step {step} was downloaded from {store.url} to {path}")
        return


def upload(store: Store, experiment_dir: str, step: int, path: str) -> None:
    """Uploads one checkpoint. What is no fault of the store is said and not tried again. Raises OSError."""
    start = time.monotonic()
    try:
        with _writer(experiment_dir):
            if store.upload(step, path):
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


def settings_in(plan: Any) -> Optional[dict[str, Any]]:
    """The store that a launch plan's spec names."""
    try:
        return json.loads(plan.files.get("spec.json", b"{}"))["spec"].get("checkpointStore")
    except (ValueError, KeyError, AttributeError):
        return None


class Companion:
    """The supervisor's side: a process for the download, and one for each upload. Their lines go to the descriptor ``output``."""

    def __init__(self, settings: Mapping[str, Any], names: Sequence[str], environment: Mapping[str, str], output: int) -> None:
        """``names``: experiment, its directory, the shared root. ``environment``: the driver's."""
        # Not the attempt's own variables: by these its left-over processes are found and ended.
        self._environment = {name: value for name, value in environment.items() if not name.startswith("ECHELON_")}
        self._arguments, self._output = [json.dumps(settings), *names], output
        self._process: Optional[subprocess.Popen] = None
        self._wanted: Optional[tuple[int, str]] = None
        self._uploading: Optional[tuple[int, str]] = None
        self._tries, self._again_at = 0, 0.0

    @property
    def pid(self) -> int:
        """Of the present process; 0: there is none."""
        return self._process.pid if self._process else 0

    def download(self, stopped: Callable[[], bool]) -> bool:
        """Downloads the newest checkpoint; False if the store does not answer, or ``stopped`` came first."""
        process = self._start("download")
        while process.poll() is None:
            if stopped():
                process.kill()
            time.sleep(0.05)
        return process.returncode == 0

    def note(self, step: int, path: str) -> None:
        """Has a checkpoint uploaded by the next calls of ``tick``, instead of an older one that waits."""
        self._wanted = (step, path)

    def tick(self) -> bool:
        """Starts what is to be uploaded; one that failed or was killed is tried again later. True while there is work."""
        if self._process is not None:
            if self._process.poll() is None:
                return True
            failed = self._process.returncode != 0
            self._tries = self._tries + 1 if failed else 0
            self._again_at = time.monotonic() + RETRY_SECONDS[min(self._tries, len(RETRY_SECONDS)) - 1] if failed else 0.0
            self._wanted = self._wanted or (self._uploading if failed else None)
            self._process = None
        if self._wanted is not None and time.monotonic() >= self._again_at:
            (step, path), self._uploading = self._wanted, self._wanted
            self._wanted = None
            self._process = self._start("upload", str(step), path)
        return self._process is not None or self._wanted is not None

    def finish(self, given_up: Callable[[], bool]) -> None:
        """Waits until the last checkpoint is in the store."""
        until = time.monotonic() + FINISH_SECONDS
        while self.tick() and self._tries <= len(RETRY_SECONDS):
            if given_up() or time.monotonic() > until:
                break
            time.sleep(0.05)
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _start(self, action: str, *more: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "echelon_rayworker.checkpointstore", action, *self._arguments, *more],
            env=self._environment, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output, start_new_session=True,
        )


def main(action: str, settings: str, experiment: str, experiment_dir: str, shared_root: str, *checkpoint: str) -> int:
    """The exit code: 0 if nothing is left to do."""
    try:
        store = Store(json.loads(settings), experiment, experiment_dir, shared_root)
        if action == "upload":
            upload(store, experiment_dir, int(checkpoint[0]), checkpoint[1])
        else:
            download_newest(store, experiment_dir)
        return 0
    except (Unusable, OSError) as error:
        say(f"checkpointStore: {str(error)[:300]}")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
