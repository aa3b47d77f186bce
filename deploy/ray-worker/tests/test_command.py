"""The command engine under the ray-worker, without Ray: the program runs where the driver does."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE_ROOT, Client, Server, until

from echelon_rayworker import drain, processes
from echelon_rayworker.engines.command.node import Node
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import SPEC_VERSIONS
from spec_support import DIRECTORIES, files_of
from test_attempt import lines


def launch(client: Client, script: str, *arguments: str, attempt: int = 1, **keys: object) -> None:
    """The engine with `python -c SCRIPT argument…`; ``keys``: fields of its spec, and `resume`."""
    start(client, "python", "-c", script, *arguments, attempt=attempt, environment={"PYTHONPATH": ""}, **keys)


def start(client: Client, *command: str, attempt: int = 1, resume=(), workingDir=None, metrics=None, files=None, **plan) -> None:
    client.launch(
        *DIRECTORIES, "--", *command, engine="command", module="echelon_rayworker.engines.command", attempt=attempt,
        files=command_files(resume=resume, workingDir=workingDir, metrics=metrics, files=files), **plan,
    )  # fmt: skip


def command_files(resume=(), **fields: object) -> dict[str, bytes]:
    changes = (f"{name}={json.dumps(value)}" for name, value in fields.items())
    return files_of("command", *changes, resume=list(resume))


def ended(client: Client, attempt: int = 1) -> pb.Ended:
    return client.events(attempt=attempt)[-1].ended


def metrics(events: list[pb.AttemptEvent]) -> list[tuple[int, dict[str, float]]]:
    return [(event.metrics.step, dict(event.metrics.values)) for event in events if event.HasField("metrics")]


def test_a_program_runs_with_its_arguments_and_both_pipes_are_recorded(client: Client, server: Server) -> None:
    launch(client, "import os, sys; print(sys.argv[1:], os.getcwd()); print('oops', file=sys.stderr)", "a b", "$HOME")
    events = client.events()
    assert lines(events) == [f"['a b', '$HOME'] {server.attempt_dir() / 'work'}"]
    assert lines(events, pb.LogLines.STDERR) == ["oops"]
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED


@pytest.mark.parametrize(
    ("script", "cause", "code"),
    [
        ("import sys; sys.exit(3)", pb.Ended.FAILED, 3),
        ("import os; os.kill(os.getpid(), 9)", pb.Ended.KILLED, 137),
    ],
)
def test_the_end_of_the_program_is_the_end_of_the_attempt(client: Client, script: str, cause: int, code: int) -> None:
    launch(client, script)
    found = ended(client)
    assert (found.cause, found.exit_code) == (cause, code)


def test_a_program_that_does_not_exist_fails_with_its_name(client: Client) -> None:
    start(client, "no-such-program")
    found = ended(client)
    assert found.exit_code == 127 and "no-such-program" in found.last_lines[-1]


TREE = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.run(["sh", "-c", "setsid sleep 1000 > /dev/null 2>&1 &"])
print("ready", flush=True)
time.sleep(1000)
"""


def test_a_stop_ends_the_program_and_everything_below_it(client: Client, server: Server) -> None:
    launch(client, TREE)
    until(lambda: len(server.processes_of()) >= 4)
    response = client.stop(grace=500)
    assert response.ended.cause == pb.Ended.STOPPED
    assert server.processes_of() == []


def test_a_program_gets_sigterm_and_may_end_by_itself(client: Client) -> None:
    launch(client, "import signal, sys, time; signal.signal(15, lambda *_: sys.exit('saved')); print('ready', flush=True); time.sleep(1000)")
    next(event for event in client.attach() if event.HasField("log"))
    response = client.stop(grace=20_000)
    assert response.ended.cause == pb.Ended.STOPPED
    assert lines(client.events(), pb.LogLines.STDERR) == ["saved"]


def test_a_killed_driver_leaves_no_process_and_the_next_attempt_resumes(client: Client, server: Server) -> None:
    script = """
import os, sys, time
from echelon_rayworker.spool import Spool
print(sys.argv[1:], flush=True)
path = os.path.join(os.environ["ECHELON_SPOOL"], "../../../saved")
open(path, "w").close()
Spool.from_environment().checkpoint(7, "saved")
time.sleep(0 if len(sys.argv) > 2 else 1000)
"""
    resume = ["--from={checkpoint}"]
    launch(client, script, "first", resume=resume)
    next(event for event in client.attach() if event.HasField("checkpoint"))
    experiment = server.attempt_dir().parents[1]
    note = experiment / "checkpoint.json"
    until(note.exists)
    os.kill(server.identity()["driverPid"], signal.SIGKILL)
    assert ended(client).cause == pb.Ended.KILLED
    assert server.processes_of() == []
    launch(client, script, "first", resume=resume, attempt=2)
    events = client.events(attempt=2)
    assert lines(events) == [f"['first', '--from={experiment}/saved']"]
    assert any("step 7" in line for line in lines(events, pb.LogLines.STDERR))
    os.unlink(experiment / "saved")
    note.write_text("not JSON")
    launch(client, "print('again')", resume=resume, attempt=3)
    assert any("from the beginning" in line for line in lines(client.events(attempt=3), pb.LogLines.STDERR))


def test_a_working_directory_is_below_the_shared_root_and_no_link_leads_out_of_it(client: Client, server: Server, tmp_path: Path) -> None:
    (server.state_dir / "own").mkdir()
    launch(client, "import os; print(os.getcwd())", workingDir="own")
    assert lines(client.events()) == [str(server.state_dir / "own")]
    (server.state_dir / "out").symlink_to(tmp_path)
    for attempt, (name, message) in enumerate([("out", "outside of the shared root"), ("../..", "outside"), ("none", "no directory")], 2):
        launch(client, "print('started')", workingDir=name, attempt=attempt)
        found = ended(client, attempt)
        assert found.exit_code == 2 and message in found.last_lines[-1]


def test_patterns_find_metrics_in_the_lines(client: Client) -> None:
    script = "print('step 1 | loss =0.5 | acc: 1e-1'); print('Step   2 | loss = -.25 nan'); print('x' * 3000 + 'loss = 9'); print('loss = inf')"
    launch(client, script, metrics={"lines": {"step": "step {number}", "loss": "loss = {number}", "acc": "acc: {number}"}})
    assert metrics(client.events()) == [(1, {"loss": 0.5, "acc": 0.1}), (2, {"loss": -0.25}), (2, {"loss": float("inf")})]


def test_json_objects_are_metrics_whether_printed_or_in_a_file(client: Client) -> None:
    objects = '{"step": 3, "loss": 0.5, "val": {"ok": 1, "name": "x"}, "flag": true}'
    found = [(3, {"loss": 0.5, "val/ok": 1.0})]
    launch(client, f"print('METRICS ' + {objects!r}); print({objects!r}); print('METRICS nonsense')", metrics={"jsonPrefix": "METRICS "})
    assert metrics(client.events()) == found
    script = f"open('m.jsonl', 'a').write({objects!r} + chr(10) + '{{broken' + chr(10))"
    launch(client, script, metrics={"jsonFile": "m.jsonl"}, attempt=2)
    assert metrics(client.events(attempt=2)) == found


def test_endless_output_is_dropped_with_a_gap_and_the_program_is_not_blocked(client: Client) -> None:
    script = "import os\nfor _ in range(8): os.write(1, b'x' * 100000 + b'a line\\n' * 20000)"
    launch(client, script)
    events = client.events()
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED
    notes = [line for line in lines(events, pb.LogLines.STDERR) if "lines were dropped" in line]
    dropped = sum(int(line.split()[1]) for line in notes)
    dropped += sum(event.gap.count for event in events if event.gap.kind == pb.Gap.LOGS)
    assert 160_000 <= len(lines(events)) + dropped <= 160_000 + len(notes)


def test_secrets_of_the_plan_reach_the_program_and_no_event(client: Client, server: Server) -> None:
    secrets = server.state_dir / "secrets"
    secrets.mkdir(mode=0o700, exist_ok=True)
    (secrets / "mine").touch(mode=0o600)
    (secrets / "mine").write_text("correct-horse-battery")
    script = "import os; print(os.environ['MY_KEY'], len(os.environ['MY_KEY']))"
    start(client, "python", "-c", script, secrets={"MY_KEY": "mine"})
    assert lines(client.events()) == ["*** 21"]


def test_the_keeper_ends_everything_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    """As Ray does it to the processes of a job whose driver is gone."""
    mark = f"ECHELON_SPOOL={tmp_path}"
    holder = f"""
import os, time
from echelon_rayworker.engines.command.node import Node
node = Node()
node.start(["python", "-c", {TREE!r}], {{**os.environ, "PYTHONPATH": os.getcwd(), "ECHELON_SPOOL": {str(tmp_path)!r}}}, {str(tmp_path)!r})
time.sleep(1000)
"""
    process = subprocess.Popen([sys.executable, "-c", holder], cwd=PACKAGE_ROOT)
    until(lambda: len(processes.marked_by_environment(mark.encode())) >= 3)
    process.kill()
    process.wait()
    assert until(lambda: not processes.marked_by_environment(mark.encode()), 10)


def test_the_preflight_finds_a_missing_directory_and_a_missing_script(client: Client, server: Server) -> None:
    def findings(directory: str, script: str) -> dict[str, int]:
        arguments = [*DIRECTORIES, "--", "python", script]
        plan = pb.LaunchPlan(
            engine="command", module="echelon_rayworker.engines.command", arguments=arguments, spec_version=SPEC_VERSIONS[-1]
        )
        plan.files.update(command_files(workingDir=directory))
        answer = client.call("Preflight", pb.PreflightRequest(plan=plan), pb.PreflightResponse)
        return {finding.check: finding.severity for finding in answer.findings}

    (server.state_dir / "mine").mkdir()
    (server.state_dir / "mine" / "train.py").touch()
    ok, error = pb.Finding.OK, pb.Finding.ERROR
    assert findings("mine", "train.py") == {"working directory": ok, "script": ok}
    assert findings("mine", "other.py") == {"working directory": ok, "script": error}
    assert findings("none", "train.py") == {"working directory": error}


def test_the_files_of_a_spec_are_in_the_working_directory(client: Client) -> None:
    def run(attempt: int, files: dict[str, str], *command: str) -> list[pb.AttemptEvent]:
        start(client, *command, attempt=attempt, files=files)
        return client.events(attempt=attempt)

    files = {"train.py": "import lib.a", "lib/a.py": "print('imported é')", "run.sh": "#!/bin/sh\nexec python train.py\n"}
    assert lines(run(1, files, "./run.sh")) == ["imported é"]
    last = run(2, {"../../x": "", "a": ""}, "true")[-1].ended
    assert last.exit_code == 2 and "outside of the working directory" in last.last_lines[-1]


def test_a_node_that_waits_for_its_driver_drops_lines_and_counts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "QUEUE_BYTES", 1_000_000)
    script = "import os\nfor _ in range(4): os.write(1, b'a line\\n' * 25000)\nopen('done', 'w').close()"
    node = Node()
    node.start(["python", "-c", script], {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)}, str(tmp_path))
    until((tmp_path / "done").exists)
    outputs = [node.take(1)]
    while outputs[-1].code is None:
        outputs.append(node.take(1))
    dropped = sum(output.dropped for output in outputs)
    assert dropped > 0 and sum(len(output.lines) for output in outputs) + dropped == 100_000
