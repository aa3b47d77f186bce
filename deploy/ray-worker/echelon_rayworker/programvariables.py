"""Variables by which a plan changes Python itself, such as PYTHONINSPECT or PYTHONIOENCODING.

Our own processes start from the environment of their plan, and a variable that suits a user's program may break them. So these
variables go to the program alone: until it starts, they are the JSON value of one variable that Python ignores. PYTHONPATH is not
among them, since our package is found by it.
"""

from __future__ import annotations

import json
from typing import Mapping

VARIABLE = "ECHELON_PROGRAM_VARIABLES"


def withheld(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables as our own processes get them."""
    ours = {name: value for name, value in variables.items() if not _is_pythons(name)}
    theirs = {name: value for name, value in variables.items() if _is_pythons(name)}
    return {**ours, VARIABLE: json.dumps(theirs)} if theirs else ours


def program_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the user's program, made from that of our process."""
    ours = {name: value for name, value in environment.items() if name != VARIABLE}
    return {**ours, **json.loads(environment.get(VARIABLE, "{}"))}


def _is_pythons(name: str) -> bool:
    return name.startswith("PYTHON") and name != "PYTHONPATH"
