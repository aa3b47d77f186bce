"""Plants bugs on two ranks and compares what the command line says of each with what is recorded."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "test" / "golden" / "steps" / "planted-hooks.json"


def slug(source):
    """A folder's name for a source."""
    return "".join(character if character.isalnum() else "-" for character in source)


def outcomes(folder, sources):
    """What `echelon verify` says of the folder of each source."""
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(sources, pool.map(lambda source: outcome(folder / slug(source)), sources)))


def outcome(folder):
    """Exit status, what found something, the first cause, and the stages that are not covered."""
    done = subprocess.run(
        [str(ROOT / "bin" / "echelon"), "verify", "--json", str(folder)], capture_output=True, text=True, timeout=120,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), (folder, done.stderr)
    found, causes, missing = {}, [], {}
    for step in json.loads(done.stdout)["steps"]:
        found |= {f"stage {one['stage']}": None for one in step["stages"] if one["wrong"] > 0 and one["stage"] != "reported"}
        found |= {f"value {value_name(one['name'])}": None for one in step["values"] if one["outcome"] == "wrong"}
        found |= {f"finding {one['code']}": None for one in step["findings"]}
        causes += step.get("causes", [])
        missing |= {one["stage"]: None for one in step["coverage"]["missing"]}
    return {
        "status": done.returncode, "found": list(found), **({"cause": causes[0]} if causes else {}),
        **({"missing": list(missing)} if missing else {}),
    }  # fmt: skip


def value_name(name):
    """The name of a value without its micro-batch."""
    return name.rpartition(".")[2]


def compared(trainer, found, not_planted):
    """Compares with the record, or renews it if ECHELON_RECORD is set."""
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    own = {"planted": found, "notPlanted": not_planted}
    if os.environ.get("ECHELON_RECORD"):
        RECORDED.write_text(json.dumps({**recorded, trainer: own}, indent=1, ensure_ascii=False) + "\n")
    else:
        assert own == recorded.get(trainer)
