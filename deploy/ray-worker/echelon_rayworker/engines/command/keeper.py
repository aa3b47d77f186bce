"""`python -m echelon_rayworker.engines.command.keeper CONTROL STATUS PROGRAM argument…`: owns the user's program on one node.

Ray ends a process of its own together with that process's children, but not with their children. The keeper is therefore
no child of it, starts the program in a session of its own, and is the reaper of everything below it. A byte on the
descriptor CONTROL sends SIGTERM to the program's process group. The end of CONTROL, which comes with the end of the process
that holds the other side, kills everything. When the program has ended, nothing of it is left; then STATUS gets a JSON object: its return
`code`, and `left`, commands of processes that still ran and were ended with it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import Callable

from echelon_rayworker import processes
from echelon_rayworker.programvariables import program_environment

TICK_SECONDS = 0.05
# What the program leaves running gets this long between SIGTERM and SIGKILL.
REMNANT_SECONDS = 1.0
# Helpers of a program, such as multiprocessing's resource tracker, end by themselves shortly after it.
LINGER_SECONDS = 0.5
# Of what STATUS gets: a pipe takes 4,096 bytes at once.
MAX_NAMED = 5
MAX_COMMAND_CHARACTERS = 120


def main(arguments: list[str]) -> None:
    control, status, command = int(arguments[0]), int(arguments[1]), arguments[2:]
    for fd in (control, status):
        os.set_inheritable(fd, False)
    if os.fork() != 0:
        os._exit(0)
    processes.become_subreaper()
    keeper = os.getpid()
    try:
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, start_new_session=True, env=program_environment(os.environ),
            preexec_fn=lambda: _prepare(keeper),
        )
    except (OSError, subprocess.SubprocessError) as error:
        print(f"error: the program cannot be started: {error}", file=sys.stderr, flush=True)
        os.write(status, json.dumps({"code": 127, "left": []}).encode())
        return
    # The pipes shall end with the program and all that it started.
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    is_abandoned, is_stopped = _wait(program, control)

    def find() -> list[int]:
        return [*{*processes.descendants(keeper), *processes.members_of_session(program.pid)}]

    left = [] if is_abandoned or is_stopped else _left_running(find)
    processes.end_all(find, 0 if is_abandoned else REMNANT_SECONDS)
    os.write(status, json.dumps({"code": program.wait(), "left": left}).encode())


def _prepare(keeper: int) -> None:
    """Between fork and exec of the program."""
    processes.die_with_parent(keeper)
    processes.reset_signals()


def _wait(program: subprocess.Popen, control: int) -> tuple[bool, bool]:
    """Until the program has ended. Whether the other side of CONTROL ended first, and whether the program was asked to end."""
    is_stopped = False
    while program.poll() is None:
        processes.reap(program.pid)
        if select.select([control], [], [], TICK_SECONDS)[0]:
            if not os.read(control, 64):
                return True, is_stopped
            is_stopped = True
            try:
                os.killpg(program.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
    return False, is_stopped


def _left_running(find: Callable[[], list[int]]) -> list[str]:
    """The commands of processes that do not end by themselves when the program has ended."""
    until = time.monotonic() + LINGER_SECONDS
    while find() and time.monotonic() < until:
        processes.reap()
        time.sleep(TICK_SECONDS)
    commands = [command for pid in sorted(find()) if (command := processes.command_of(pid))]
    more = [f"and {len(commands) - MAX_NAMED} more"] if len(commands) > MAX_NAMED else []
    return [command[:MAX_COMMAND_CHARACTERS] for command in commands[:MAX_NAMED]] + more


if __name__ == "__main__":
    main(sys.argv[1:])
