"""Secret variables of the trainer's processes, on any node.

Ray writes the variables of a runtime environment into its metadata and, for every process that it starts, into the logs of
its agents. So what is secret goes another way: into a file of the attempt's directory, which all nodes see and only this
user can read, and which is removed when the run has ended. `process_setup` reads it in every process of the job.
"""

from __future__ import annotations

import json
import os
from typing import Mapping

from echelon_rayworker.files import write_file
from echelon_rayworker.launch import HIDDEN_FILE
from echelon_rayworker.redaction import SECRET_NAME, Redactor
from echelon_rayworker.secretstore import NAMES_VARIABLE

from .process_setup import FILE_VARIABLE


def hide(variables: Mapping[str, str], attempt_dir: str) -> dict[str, str]:
    """The variables that Ray may know. The secret ones, by the plan, by their names or by what they look like, are written
    to the attempt's directory."""
    named = variables.get(NAMES_VARIABLE, "").split(",")
    pattern = Redactor()
    secret = {
        name: value for name, value in variables.items()
        if name != NAMES_VARIABLE and (name in named or SECRET_NAME.search(name) or pattern.text(value) != value)
    }
    plain = {name: value for name, value in variables.items() if name not in secret}
    if secret:
        plain[FILE_VARIABLE] = os.path.join(attempt_dir, HIDDEN_FILE)
        # Those that are not the plan's are masked in reports as well.
        plain[NAMES_VARIABLE] = ",".join(sorted(secret))
        write_file(plain[FILE_VARIABLE], json.dumps(secret).encode())
    return plain
