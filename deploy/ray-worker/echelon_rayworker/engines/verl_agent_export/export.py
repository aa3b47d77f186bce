"""One export, top to bottom: check, merge beside the target, rename, report."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from contextlib import contextmanager
from typing import Any, Iterator

from echelon_rayworker.files import lock_file, sync_directory, write_file

from ..diskspace import free_at, size_of
from .merging import merge, merge_on_cluster
from .source import EXPORTED_SHARE, NotExportable, Settings, Source, find_source

# The file of an export that says which checkpoint it is of.
RECORD = "echelon-export.json"


def export(settings: Settings, spool: Any) -> None:
    """Exports the checkpoint unless that is done. Raises NotExportable, and whatever the merge raises."""
    begin = time.monotonic()
    source = find_source(settings)
    check_target(settings, source)
    if not is_exported(source):
        with _work_directory(source.target) as work:
            if not is_exported(source):
                _merge(settings, source, work, spool)
    size = size_of(source.target)
    spool.metrics(source.step, {"export/bytes": size, "export/seconds": round(time.monotonic() - begin, 3)})
    spool.checkpoint(source.step, os.path.relpath(source.target, settings.experiment_dir))
    print(f"echelon: step {source.step} is exported to {source.target} ({size / 1e9:.1f} GB)", file=sys.stderr, flush=True)


def check_target(settings: Settings, source: Source) -> None:
    """Raises NotExportable if the checkout cannot merge, or if the target has no room or belongs to something else."""
    if not os.path.isfile(settings.script):
        raise NotExportable(
            f"{settings.script} is missing: put a verl-agent checkout there, or set VERL_AGENT_HOME to the path of one"
        )
    if os.path.lexists(source.target):
        if not is_exported(source):
            raise NotExportable(
                f"{source.target} exists and is not an export of this checkpoint: remove it, or set output"
            )
        return
    needed, free = source.bytes * EXPORTED_SHARE, free_at(os.path.dirname(source.target))
    if free < needed:
        raise NotExportable(
            f"the export takes about {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free at "
            f"{os.path.dirname(source.target)}: make room, or set output to a directory of a larger file system"
        )


def is_exported(source: Source) -> bool:
    """Whether the target is an export of this very checkpoint."""
    try:
        with open(os.path.join(source.target, RECORD), encoding="utf-8") as file:
            return json.load(file) == source.identity
    except (OSError, ValueError):
        return False


def _merge(settings: Settings, source: Source, work: str, spool: Any) -> None:
    spool.stage(f"merging {source.world_size} shards of step {source.step}")
    model = os.path.join(work, "model")
    shutil.rmtree(model, ignore_errors=True)
    if os.environ.get("RAY_ADDRESS"):
        merge_on_cluster(settings.script, source.shards, model, settings.cpus)
    else:
        merge(settings.script, source.shards, model)
    names = os.listdir(model) if os.path.isdir(model) else []
    if "config.json" not in names or not any(name.endswith((".safetensors", ".bin")) for name in names):
        raise NotExportable(f"{settings.script} wrote no model: see its output above, and check the checkout")
    write_file(os.path.join(model, RECORD), json.dumps(source.identity).encode())
    os.rename(model, source.target)
    sync_directory(os.path.dirname(source.target))


@contextmanager
def _work_directory(target: str) -> Iterator[str]:
    """A directory beside the target for one export at a time; what an earlier attempt left there is used again or removed."""
    work = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.partial")
    try:
        os.makedirs(work, exist_ok=True)
        held = lock_file(os.path.join(work, "lock"))
    except OSError as error:
        raise NotExportable(f"{work} cannot be written: {error.strerror}") from None
    if held is None:
        raise NotExportable(f"{target} is being written by another experiment: wait for it, or set output")
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(held)
