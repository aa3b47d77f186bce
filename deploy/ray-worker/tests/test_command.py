"""The command engine under the ray-worker, without Ray: the program runs where the driver does."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE_ROOT, PYTHON_PATH, Client, Server, end_everything, until

from echelon_rayworker import drain, processes
from echelon_rayworker.engines.command.driver import Driver
from echelon_rayworker.engines.command.node import Node, Output
from echelon_rayworker.engines.command.settings import Settings
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.launch import SPEC_VERSIONS
from echelon_rayworker.spool import Spool
from echelon_rayworker.spooltail import SpoolTail
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


def gaps(events: list[pb.AttemptEvent]) -> list[tuple[int, str]]:
    return [(event.gap.count, event.gap.reason) for event in events if event.HasField("gap")]


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


def test_patterns_find_metrics_in_the_lines_and_the_log_says_what_they_matched(client: Client) -> None:
    script = "print('step 1 | loss =0.5'); print('50%|#  loss = 2', end=chr(13)); print('100%|# loss = 3')"
    launch(client, script, metrics={"lines": {"step": "step {number}", "loss": "loss = {number}", "acc": "acc: {number}"}})
    events = client.events()
    assert metrics(events) == [(1, {"loss": 0.5}), (1, {"loss": 2.0}), (1, {"loss": 3.0})]
    assert lines(events) == ["step 1 | loss =0.5", "100%|# loss = 3"]
    assert lines(events, pb.LogLines.STDERR) == ["echelon: metrics.lines matched 3 of 3 printed lines; never found: acc"]


def test_json_objects_are_metrics_whether_printed_or_in_a_file(client: Client) -> None:
    objects = '{"step": 3, "loss": 0.5, "val": {"ok": 1, "name": "x"}, "flag": true}'
    found = [(3, {"loss": 0.5, "val/ok": 1.0})]
    launch(client, f"print('METRICS ' + {objects!r}); print({objects!r}); print('METRICS nonsense')", metrics={"jsonPrefix": "METRICS "})
    events = client.events()
    assert metrics(events) == found and gaps(events)[0][0] == 1 and '"nonsense"' in gaps(events)[0][1]
    # The last line has no line feed.
    script = f"open('m.jsonl', 'a').write('{{broken' + chr(10) + {objects!r})"
    launch(client, script, metrics={"jsonFile": "m.jsonl"}, attempt=2)
    events = client.events(attempt=2)
    assert metrics(events) == found and gaps(events)[0][0] == 1 and '"{broken"' in gaps(events)[0][1]


def test_a_long_line_is_cut_and_counted_and_its_metrics_are_found(client: Client) -> None:
    long = '{"step": 1, "pad": "' + "x" * 100_000 + '", "loss": 2}'
    launch(client, f"print({long!r}); print('y' * 3_000_000); print('end')", metrics={"jsonPrefix": ""})
    events = client.events()
    assert metrics(events) == [(1, {"loss": 2.0})]
    printed = sum(map(len, lines(events))) + sum(event.log.cut_bytes for event in events)
    dropped = sum(event.gap.bytes for event in events if event.gap.kind == pb.Gap.LOGS)
    assert printed + dropped == len(long) + 3_000_000 + len("end") and dropped == 3_000_000 - 2**20
    assert lines(events)[-1] == "end"


def test_a_progress_bar_is_one_line_whose_present_state_is_recorded(client: Client, server: Server) -> None:
    script = """
import os, sys, time
sys.stderr.write("10%\\r20%\\r30%")
sys.stderr.flush()
while not os.path.exists("go"):
    time.sleep(0.02)
sys.stderr.write("\\r100%\\n")
"""
    launch(client, script)
    state = next(event.log for event in client.attach() if event.log.progress)
    assert (state.source, state.progress, list(state.lines)) == (pb.LogLines.STDERR, "30%", [])
    (server.attempt_dir() / "work" / "go").touch()
    assert lines(client.events(), pb.LogLines.STDERR) == ["100%"]


INHERITED = """
import os, resource, signal, sys
status = dict(line.rstrip().split(":\t") for line in open("/proc/self/status") if line.startswith("Sig"))
print(int(status["SigBlk"], 16), int(status["SigIgn"], 16) & ~(1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1))
print(sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")), os.get_inheritable(0))
"""


@pytest.mark.own_server
def test_a_program_inherits_no_blocked_or_ignored_signal_and_no_descriptor(
    client: Client, tmp_path: Path
) -> None:
    # As Ray starts its processes.
    code = "import os, signal, sys; signal.pthread_sigmask(0, [2, 1]); signal.signal(2, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"
    server = type("Blocked", (Server,), {"wrapper": [sys.executable, "-c", code]})(tmp_path / "blocked")
    try:
        blocked = server.client()
        launch(blocked, INHERITED)
        expected = ["0 0", "[0, 1, 2] 4 True"]
        assert lines(blocked.events()) == expected
        # As in a Ray actor: the process that starts the program has the mask too.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        assert lines_of_node(tmp_path, ["python", "-c", INHERITED], {}) == expected
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        end_everything(server)


def lines_of_node(directory: Path, command: list[str], variables: dict[str, str]) -> list[str]:
    node, found = Node(), []
    node.start(command, {**os.environ, "PYTHONPATH": PYTHON_PATH, **variables}, str(directory))
    while (output := node.take(0.5)).code is None:
        found += output.lines
    return [line for _, line, _ in [*found, *output.lines]]


def test_variables_of_python_reach_the_program_and_none_of_our_processes(client: Client) -> None:
    script = """
import os, sys
os.write(1, "\u2713 done".encode() + bytes([10]))
print(os.environ["PYTHONIOENCODING"], sys.flags.hash_randomization, [name for name in os.environ if "PROGRAM_VARIABLES" in name])
"""
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "0", "PYTHONSTARTUP": "/none", "PYTHONHOME": "", "PYTHONWARNINGS": "nonsense"}
    start(client, "python", "-c", script, environment={"PYTHONPATH": "", **environment})
    events = client.events()
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED
    assert lines(events) == ["\u2713 done", "ascii 0 []"]
    # Only the program itself complains.
    assert len([line for line in lines(events, pb.LogLines.STDERR) if "nonsense" in line]) == 1


def test_a_process_that_outlives_its_program_is_ended_and_named(client: Client) -> None:
    start(client, "bash", "-c", "nohup sleep 1000 & echo started")
    events = client.events()
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED and lines(events) == ["started"]
    (line,) = lines(events, pb.LogLines.STDERR)
    assert "processes that it left running were ended too: sleep 1000." in line
    # One that ends by itself, and one of a program that was stopped, are as they should be.
    start(client, "bash", "-c", "sleep 0.1 & echo started", attempt=2)
    assert lines(client.events(attempt=2), pb.LogLines.STDERR) == []
    start(client, "bash", "-c", "trap 'exit 0' TERM; sleep 1000 & echo started; wait", attempt=3)
    next(event for event in client.attach(attempt=3) if event.HasField("log"))
    client.stop(attempt=3, grace=10_000)
    assert lines(client.events(attempt=3), pb.LogLines.STDERR) == []
    # The reason of a failure is the program's own last line, in colours or not.
    start(client, "bash", "-c", "sleep 1000 & echo -e '\\033[31mValueError\\033[0m: bad'; exit 1", attempt=4)
    assert ended(client, 4).message == "exit code 1: ValueError: bad"


def test_endless_output_is_dropped_with_a_gap_and_the_program_is_not_blocked(client: Client) -> None:
    script = "import os\nfor _ in range(8): os.write(1, b'x' * 100000 + b'a line\\n' * 20000)"
    launch(client, script)
    events = client.events()
    assert events[-1].ended.cause == pb.Ended.SUCCEEDED
    dropped = sum(event.gap.count for event in events if event.gap.kind == pb.Gap.LOGS)
    assert len(lines(events)) + dropped == 160_000
    size = sum(len(line) + 1 for line in lines(events)) + sum(event.log.cut_bytes + event.gap.bytes for event in events)
    assert size == 8 * (100_000 + 7 * 20_000)


def test_what_a_node_has_not_handed_on_is_a_gap_that_names_the_node(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    settings = Settings([], str(tmp_path), {}, str(tmp_path), str(tmp_path), "per-node", [], {}, "")
    spool = Spool(str(tmp_path))
    Driver(settings, spool, {})._account(1, Output(dropped=(3, 30), cut_bytes=7, is_cut_off=True, left=["sleep 9"]))
    spool.close()
    found = [report.gap for report in SpoolTail(str(tmp_path)).poll()]
    assert [(gap.kind, gap.count, gap.bytes) for gap in found] == [(pb.Gap.LOGS, 3, 30), (pb.Gap.LOGS, 0, 7), (pb.Gap.LOGS, 0, 0)]
    assert all(gap.reason.startswith("[node 1] ") for gap in found)
    assert "[node 1] the program has ended, so processes that it left running were ended too: sleep 9." in capsys.readouterr().err


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
    node.start(["python", "-c", script], {**os.environ, "PYTHONPATH": PYTHON_PATH}, str(tmp_path))
    until((tmp_path / "done").exists)
    outputs = [node.take(1)]
    while outputs[-1].code is None:
        outputs.append(node.take(1))
    dropped = sum(output.dropped[0] for output in outputs)
    assert dropped > 0 and sum(len(output.lines) for output in outputs) + dropped == 100_000
