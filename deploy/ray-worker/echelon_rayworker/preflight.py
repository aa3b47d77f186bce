"""`python -m echelon_rayworker.preflight PARENT MODULE argument…`: runs a module as long as its parent lives.

Runs a preflight program for a launch that has not happened: in a process of its own, with a deadline, in a
directory that is gone afterwards. Connecting to Ray, or importing a recipe, may hang, and cannot be undone in a thread."""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import threading
import time
import uuid
from typing import Any, Mapping

from echelon_rayworker import launch, processes, redaction
from echelon_rayworker.engines.answers import Answer, print_answers
from echelon_rayworker.files import make_directories
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.programvariables import program_environment
from echelon_rayworker.secretstore import NAMES_VARIABLE

DEFAULT_SECONDS = 300.0
MAX_SECONDS = 1800.0
CLUSTER_MODULE = "echelon_rayworker.nodes"
# Lines of a program that gave no answers; they go into the message.
LAST_LINES = 3
_SEVERITIES = {"warning": pb.Finding.WARNING, "error": pb.Finding.ERROR}


class Preflight:
    """The preflights of one ray-worker, one at a time."""

    def __init__(self, state_dir: str, shared_root: str, environment: Mapping[str, str], with_ray: bool) -> None:
        """``environment``: what drivers start from (``launch.base_environment``)."""
        self._scratch = os.path.join(os.path.abspath(state_dir), "preflight")
        self._shared_root = os.path.abspath(shared_root)
        self._environment = dict(environment)
        self._with_ray = with_ray
        self._turn = threading.Lock()
        self._closed = threading.Event()

    def close(self) -> None:
        """Ends the program that runs now; later ones end at once."""
        self._closed.set()

    def run(self, request: pb.PreflightRequest) -> pb.PreflightResponse:
        """The findings. InvalidLaunch, OtherVersion; OSError if no process can be made."""
        planned = request.HasField("plan")
        if planned:
            launch.check_plan(request.plan)
            launch.check_version(request.plan)
        seconds = min(request.deadline_ms / 1000 or DEFAULT_SECONDS, MAX_SECONDS)
        with self._turn:
            # What a run before left that was ended in the middle.
            shutil.rmtree(self._scratch, ignore_errors=True)
            experiment = os.path.join(self._scratch, uuid.uuid4().hex)
            directories = launch.Directories(os.path.join(experiment, "attempts", "1"), experiment, self._shared_root)
            make_directories(directories.attempt)
            try:
                launch.write_files(request.plan, directories.attempt)
                return self._run(request.plan if planned else None, directories, seconds)
            finally:
                shutil.rmtree(self._scratch, ignore_errors=True)

    def _run(
        self, plan: pb.LaunchPlan | None, directories: launch.Directories, seconds: float
    ) -> pb.PreflightResponse:
        module = CLUSTER_MODULE if plan is None else f"{plan.module}.preflight"
        arguments = [] if plan is None else [launch.fill(one, directories) for one in plan.arguments]
        own = [f"shared_root={self._shared_root}", f"ray={str(self._with_ray).lower()}"]
        environment = dict(self._environment)
        if plan is not None:
            environment = launch.plan_environment(environment, plan, directories)
            # Names alone: the program sees which variables the driver will have, and no value.
            environment[NAMES_VARIABLE] = ",".join(sorted(plan.secrets))
        code, output, errors = run_program(
            [module, *own, *arguments], environment, directories.attempt, seconds, self._closed
        )
        if code is None:
            remedy = "see that Ray and the shared file system answer, and try again"
            return _response(_finding("preflight", pb.Finding.ERROR, f"it was not over after {seconds:g} s", remedy))
        answers = read_answers(output)
        redactor = redaction.Redactor(redaction.secret_values(program_environment(environment)))
        if answers is None:
            text = " / ".join(errors.strip().splitlines()[-LAST_LINES:]) or "no message"
            text = redactor.text(f"the program ended with {code}: {text}")
            return _response(_finding("preflight", pb.Finding.ERROR, text, "look at the message"))
        return _response(*(to_finding(answer, redactor) for answer in answers))


def run_program(
    program: list[str], environment: Mapping[str, str], directory: str, seconds: float, closed: threading.Event
) -> tuple[int | None, str, str]:
    """Runs a module with its arguments. Exit code (None: it was ended at the deadline, or since ``closed`` was set), stdout and stderr. No process of it
    is left."""
    # No preexec_fn: Python between fork and exec does not get on with grpc's threads.
    command = [sys.executable, "-m", "echelon_rayworker.preflight", str(os.getpid()), *program]
    paths = [os.path.join(directory, name) for name in ("preflight.out", "preflight.err")]
    # To files: a pipe may be held open by a process that outlives the program.
    with open(paths[0], "wb") as out, open(paths[1], "wb") as errors:
        process = subprocess.Popen(
            command, env=dict(environment), cwd=directory, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
            start_new_session=True,
        )
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline and not closed.is_set():
            time.sleep(0.02)
        code = process.poll()
        processes.end_all(lambda: processes.members_of_session(process.pid), term_seconds=0)
        process.wait()
    texts = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    return code, texts[0], texts[1]


def read_answers(output: str) -> list[dict[str, Any]] | None:
    """The JSON list at the end of what a program printed, whatever stands before it; None if there is none."""
    lines = output.splitlines(keepends=True)
    for at in reversed(range(len(lines))):
        if lines[at].startswith("["):
            try:
                found = json.loads("".join(lines[at:]))
            except ValueError:
                continue
            return found if isinstance(found, list) else None
    return None


def to_finding(answer: Mapping[str, Any], redactor: redaction.Redactor) -> pb.Finding:
    """An answer (see engines/answers.py) as it is sent, without secrets."""
    severity = pb.Finding.OK if answer["ok"] else _SEVERITIES.get(answer.get("severity", "error"), pb.Finding.ERROR)
    return _finding(answer["check"], severity, redactor.text(answer["message"]), redactor.text(answer.get("remedy", "")))


def _finding(check: str, severity: int, message: str, remedy: str) -> pb.Finding:
    return pb.Finding(check=check, severity=severity, message=message, remedy=remedy)


def _response(*findings: pb.Finding) -> pb.PreflightResponse:
    return pb.PreflightResponse(findings=findings)


def main() -> None:
    parent, module, *arguments = sys.argv[1:]
    processes.die_with_parent(int(parent))
    sys.argv = [module, *arguments]
    if importlib.util.find_spec(module) is None:
        answer = Answer("engine", True, "the engine has no preflight of its own")
        sys.exit(print_answers([answer]))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
