"""Says how a driver ended, and why, from its exit status and its last lines."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass
from typing import Callable, Mapping, Optional

from echelon_rayworker.drain import LAST_LINES
from echelon_rayworker.failures import failed_part
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.redaction import without_steering

# What Ray prints when its memory monitor killed a task or an actor of the driver.
RAY_MEMORY = re.compile(r"ray\.exceptions\.OutOfMemoryError|due to the node running low on memory")
# What a driver prints when a GPU had no memory left: it ends with a code of its own.
GPU_MEMORY = re.compile(
    r"CUDA out of memory|torch(?:\.cuda)?\.OutOfMemoryError|CUDA error: out of memory|Cuda failure (?:\d+ )?'out of memory'"
)
# What verl raises when it makes its resource pools, before it has taken a GPU.
GPU_SHORTAGE = re.compile(
    r"Total available GPUs [\d.]+ is less than total desired GPUs|cannot be satisfied in this ray cluster"
    r"|no room for the .* on the allocated nodes"
)
# What writers say if a file system has no space: the system itself, torch.save, Ray.
DISK_FULL = re.compile(
    r"No space left on device|Disk quota exceeded|\[Errno (?:28|122)\]|PytorchStreamWriter failed writing file|OutOfDiskError"
)
# What the driver sees when one of its Ray processes vanished: alone it says nothing about memory.
_RAY_DEATH = re.compile(r"ActorDiedError|WorkerCrashedError|RayActorError|ActorUnavailableError")


@dataclass(frozen=True)
class Circumstances:
    """What the supervisor knows besides the exit status."""

    stop_reason: Optional[str]
    """Why a stop was requested; None if none was."""
    told_to_end: bool
    """Whether the supervisor itself got SIGTERM."""
    kernel_oom_kills: int
    """Kills for memory that the kernel counted during the attempt."""
    last_lines: list[str]
    lost_nodes: Callable[[], Mapping[str, str]] = dict
    """Gives the allocated nodes that are no longer alive, with the reasons. Called once at most: it may wait for Ray."""


# Stands before what a driver of ours says beside the output of its program.
REMARK = "echelon: "


def last_lines(errors: list[str], output: list[str]) -> list[str]:
    """The last lines that say why a driver ended: those on stderr, with those on stdout if the program itself wrote none there."""
    said = all(line.startswith(REMARK) for line in errors)
    return [*output, *errors][-LAST_LINES:] if said else errors


def describe_end(status: int, known: Circumstances) -> pb.Ended:
    """The Ended event of a driver whose wait status is ``status``."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    code = 128 + number if number else os.WEXITSTATUS(status)
    ended = pb.Ended(exit_code=code, signal=number, last_lines=known.last_lines)
    lines = [without_steering(line) for line in known.last_lines]
    text = "\n".join(lines)
    how = f"signal {_signal_name(number)}" if number else f"exit code {code}"
    if known.stop_reason is not None:
        ended.cause, ended.message = pb.Ended.STOPPED, f"stopped: {known.stop_reason or 'on request'} ({how})"
    elif known.told_to_end:
        ended.cause, ended.message = pb.Ended.KILLED, f"the supervisor received SIGTERM ({how})"
    elif code == 0:
        ended.cause, ended.message = pb.Ended.SUCCEEDED, "exit code 0"
    elif memory := _memory(number, code, text, known.kernel_oom_kills):
        ended.cause, ended.message = pb.Ended.OUT_OF_MEMORY, f"{memory} ({how})"
    elif DISK_FULL.search(text):
        ended.cause, ended.message = pb.Ended.DISK_FULL, f"no space was left, or a quota was used up ({how})"
    elif part := failed_part(lines, known.lost_nodes):
        ended.cause, ended.message = pb.Ended.CLUSTER_FAILED, f"{part} ({how})"
    elif GPU_SHORTAGE.search(text):
        ended.cause, ended.message = pb.Ended.GPUS_SHORT, f"Ray had fewer free GPUs than the run needs ({how})"
    elif number:
        ended.cause, ended.message = pb.Ended.KILLED, how
    else:
        ended.cause, ended.message = pb.Ended.FAILED, _error_line(lines, how)
    return ended


def _memory(number: int, code: int, text: str, kernel_oom_kills: int) -> str:
    """What points to a kill for memory; empty if nothing does."""
    if number == signal.SIGKILL and kernel_oom_kills:
        return "killed by the kernel for memory"
    if GPU_MEMORY.search(text):
        return "a GPU ran out of memory"
    if RAY_MEMORY.search(text):
        return "a process of it was killed by Ray for memory"
    # A shell or launcher in between passes a child's SIGKILL on as 137.
    if kernel_oom_kills and (code == 128 + signal.SIGKILL or _RAY_DEATH.search(text)):
        return "a process of it was killed by the kernel for memory"
    return ""


def _error_line(lines: list[str], how: str) -> str:
    """The exit code, with the last line if that is a Python error."""
    # Remarks of our own may follow what the program printed at its end.
    last = next((line for line in reversed(lines) if line.strip() and not line.startswith(REMARK)), "")
    error = re.match(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit)\b.*", last)
    return f"{how}: {last[:300]}" if error else how


def _signal_name(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)
