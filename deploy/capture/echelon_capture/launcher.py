"""The command `echelon-capture`: starts a training of verl or verl-agent with the capture in all its processes."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from typing import Any, Mapping, Sequence

from .injected import REPORT, TESTED
from .settings import DEFAULT_EVERY, DEFAULT_FOLDER, DEFAULT_PROFILE, FOLDER, HOOK, STEPS_EVERY, STEPS_PROFILE
from .sinks import FolderSink
from .steps import PROFILES
from .version import __version__

INJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inject")
USAGE, NOT_EXECUTABLE, NOT_FOUND = 2, 126, 127
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_HELP = """\
examples:
  echelon-capture run -- python -m verl.trainer.main_ppo trainer.total_epochs=1
  echelon-capture run --folder runs/captured --steps-every 5 -- bash run_alfworld.sh
  eval "$(echelon-capture env)"; python -m verl.trainer.main_ppo    # the same by variables

With ECHELON_URL and ECHELON_TOKEN the data goes to a run of Echelon instead of the folder. A Ray that runs already does not get them:
its processes write to the folder. echelon-capture must be at the same path on every node."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit status: that of the training, 2 for wrong usage, 126 or 127 if it cannot be started."""
    parser = _parser()
    given = list(sys.argv[1:] if arguments is None else arguments)
    at = given.index("--") if "--" in given else len(given)
    options, command = parser.parse_args(given[:at]), given[at + 1 :]
    if options.action == "env":
        if command:
            parser.error("env takes no command: it prints the variables")
        print("".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables_of(options, os.environ).items()), end="")
        return 0
    if not command:
        parser.error("no command: echelon-capture run [options] -- python -m verl.trainer.main_ppo ...")
    return run(command, {**os.environ, **variables_of(options, os.environ)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="echelon-capture", description="Records what verl or verl-agent computes, without an edit of its sources.",
        epilog=_HELP, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=__version__)
    actions = parser.add_subparsers(dest="action", required=True, metavar="run|env")
    for name, words in (("run", "start a command with the capture in all its processes"), ("env", "print the variables that do the same")):
        one = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.", epilog=_HELP,
                                 usage=f"echelon-capture {name} [options]{' -- COMMAND ...' if name == 'run' else ''}",
                                 formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
        one.add_argument("--folder", help=f"folder of the files. Default: {FOLDER}, or else ./{DEFAULT_FOLDER}")
        one.add_argument("--steps-every", type=_count, metavar="N",
                         help=f"capture the tokens of every Nth optimizer step; 0 captures no steps. Default: {DEFAULT_EVERY}")  # fmt: skip
        one.add_argument("--steps-profile", choices=list(PROFILES), help=f"columns of the tokens. Default: {DEFAULT_PROFILE}")
    return parser


def _count(text: str) -> str:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0")
    return text


def variables_of(options: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables by which every process installs the hook. The folder is absolute, since processes of Ray have other directories."""
    entries = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != INJECT]
    given = {STEPS_EVERY: options.steps_every, STEPS_PROFILE: options.steps_profile}
    return {
        HOOK: "1",
        "PYTHONPATH": os.pathsep.join((INJECT, *entries)),
        FOLDER: os.path.abspath(options.folder or environment.get(FOLDER) or DEFAULT_FOLDER),
        **{name: value for name, value in given.items() if value is not None},
    }


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs a command, forwards signals to it, and says at its end where the hook was installed; returns its exit status."""
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        is_there = os.path.exists(command[0])
        _say(f"{command[0]} {'is not executable' if is_there else 'was not found'}")
        return NOT_EXECUTABLE if is_there else NOT_FOUND
    report = os.path.join(environment[FOLDER], REPORT)
    before = len(_lines(report))
    try:
        process = subprocess.Popen(list(command), env=dict(environment))
    except OSError as error:
        _say(f"{command[0]} cannot be started: {error.strerror}")
        return NOT_EXECUTABLE
    status = _wait(process)
    _conclude(_lines(report)[before:], environment)
    return status


def _wait(process: subprocess.Popen[Any]) -> int:
    """The terminal sends SIGINT to the command as well: it decides what that means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _FORWARDED:
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, lambda number, _frame: process.send_signal(number))
    status = process.wait()
    return status if status >= 0 else 128 - status


def _conclude(lines: Sequence[Mapping[str, Any]], environment: Mapping[str, str]) -> None:
    problems = list(dict.fromkeys(line["problem"] for line in lines if "problem" in line))
    installed = [line for line in lines if "problem" not in line]
    if installed:
        kinds = [f"{sum(line['hook'] == kind for line in installed)} of {kind}s" for kind in ("trainer", "actor")]
        _say(f"the hook was in {len(installed)} processes ({', '.join(kinds)}); records: {environment[FOLDER]}")
    for problem in problems:
        _say(f"not installed: {problem}. Tested: {TESTED}")
    if not lines:
        reason = "no process used a trainer that the hook follows, or none that shares this folder"
        _say(f"nothing was recorded in {environment[FOLDER]}: {reason}. Tested: {TESTED}")
        with contextlib.suppress(OSError):
            FolderSink(environment[FOLDER]).gap(0, 0, reason)


def _lines(path: str) -> list[Mapping[str, Any]]:
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except (OSError, ValueError):
        return []


def _say(text: str) -> None:
    print(f"echelon-capture: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
