"""`python -m echelon_rayworker.engines.command.keeper CONTROL STATUS PROGRAM argument…`: owns the user's program on one node.

Ray ends a process of its own together with that process's children, but not with their children. The keeper is therefore
no child of it, starts the program in a session of its own, and is the reaper of everything below it. A byte on the
descriptor CONTROL sends SIGTERM to the program's process group. The end of CONTROL, which comes with the end of the process
that holds the other side, kills everything. When the program has ended, nothing of it is left; then its return code is
written to STATUS.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

from echelon_rayworker import processes

TICK_SECONDS = 0.05
# What the program leaves running gets this long between SIGTERM and SIGKILL.
REMNANT_SECONDS = 1.0


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
            command, stdin=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=lambda: processes.die_with_parent(keeper),
        )
    except (OSError, subprocess.SubprocessError) as error:
        print(f"error: the program cannot be started: {error}", file=sys.stderr, flush=True)
        os.write(status, b"127")
        return
    # The pipes shall end with the program and all that it started.
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    is_abandoned = _wait(program, control)
    processes.end_all(
        lambda: [*{*processes.descendants(keeper), *processes.members_of_session(program.pid)}],
        0 if is_abandoned else REMNANT_SECONDS,
    )
    os.write(status, str(program.wait()).encode())


def _wait(program: subprocess.Popen, control: int) -> bool:
    """Until the program has ended; True if the other side of CONTROL ended first."""
    while program.poll() is None:
        processes.reap(program.pid)
        if select.select([control], [], [], TICK_SECONDS)[0]:
            if not os.read(control, 64):
                return True
            try:
                os.killpg(program.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
    return False


if __name__ == "__main__":
    main(sys.argv[1:])
