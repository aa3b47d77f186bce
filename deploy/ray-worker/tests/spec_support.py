"""What a driver is started with, from the resolved example of its engine (test/golden/vectors/resolved-examples.json)."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any, Mapping, Sequence

from echelon_rayworker.engines.spec import FILE, Launch
from echelon_rayworker.launch import Directories

EXAMPLES = json.loads((Path(__file__).parents[3] / "test" / "golden" / "vectors" / "resolved-examples.json").read_text())
# Arguments of a plan's driver.
DIRECTORIES = ("attempt_dir={attemptDir}", "experiment_dir={experimentDir}", "shared_root={sharedRoot}")


def content_of(engine: str, *changes: str, plan: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The content of the spec's file; ``changes`` of the example's spec: `section.a_field=VALUE`."""
    content = copy.deepcopy(EXAMPLES[engine])
    for change in changes:
        path, _, text = change.partition("=")
        *sections, name = re.sub("_(.)", lambda match: match[1].upper(), path).split(".")
        place = content["spec"]
        for section in sections:
            place = place.setdefault(section, {})
        try:
            place[name] = json.loads(text)
        except ValueError:
            place[name] = text
    content["plan"].update(plan or {})
    return content


def files_of(engine: str, *changes: str, **plan: Any) -> dict[str, bytes]:
    """The files of a launch plan."""
    return {FILE: json.dumps(content_of(engine, *changes, plan=plan)).encode()}


def launch_of(content: Mapping[str, Any], root: Path, passed_on: Sequence[str] = ()) -> Launch:
    """A launch of the first attempt of an experiment below a shared root."""
    attempt = root / "attempts" / "1"
    return Launch(content["spec"], content["plan"], Directories(str(attempt), str(root), str(root)), passed_on, with_ray=False)


def arguments_in(attempt: Path, content: Mapping[str, Any], experiment: Path | str = "", shared_root: Path | str = "") -> list[str]:
    """The arguments of a driver, after its file was written into the attempt's directory."""
    attempt.mkdir(parents=True, exist_ok=True)
    (attempt / FILE).write_text(json.dumps(content))
    return [f"attempt_dir={attempt}", f"experiment_dir={experiment}", f"shared_root={shared_root}"]
