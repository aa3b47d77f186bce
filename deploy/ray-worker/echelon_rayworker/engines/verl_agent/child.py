"""The trainer's launcher as a child process: its output passed on as it comes, and read line by line."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from typing import Optional

from echelon_rayworker import processes
from echelon_rayworker.launch import forget_hidden
from echelon_rayworker.packages import with_packages
from echelon_rayworker.programvariables import program_environment

from . import environment, hidden, launcher, panel, process_setup
from .settings import Settings

LAST_LINES = 400
_LINE_END = re.compile(rb"[\r\n]+")
_MAX_LINE_BYTES = 1 << 20


class Child:
    """One launcher process. `lines` gets each line of stdout and stderr, then None once both are closed."""

    def __init__(self, settings: Settings, held: Optional[int] = None) -> None:
        """``held``: a descriptor that the launcher holds as well, so that it is let go when both are gone."""
        init = settings.overrides.take("ray_init.")
        given = {key.partition("env_vars.")[2]: init.pop(key) for key in list(init) if "env_vars." in key}
        own = program_environment(os.environ)
        variables = environment.runtime_variables({**own, **given}, settings.home, settings.observations)
        self._attempt_dir = settings.attempt_dir
        if settings.replicates:
            variables[process_setup.PANEL_VARIABLE] = os.path.join(settings.attempt_dir, panel.FILE)
        shown = hidden.hide({**variables, **given}, settings.attempt_dir)
        runtime = {"variables": shown, "init": {key: _scalar(text) for key, text in init.items()}}
        command = [sys.executable, "-m", launcher.__name__, settings.program, *settings.overrides.arguments()]
        # The launcher's directory is the checkout, so that this package is found by the search path alone.
        path = with_packages(os.environ.get("PYTHONPATH", ""))
        parent = os.getpid()
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.last: deque[str] = deque(maxlen=LAST_LINES)
        self._open = 2
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            command,
            cwd=settings.home,
            env={**own, "PYTHONPATH": path, **given, launcher.VARIABLE: json.dumps(runtime)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=() if held is None else (held,),
            start_new_session=True,  # it gets one SIGTERM, from here
            preexec_fn=lambda: processes.die_with_parent(parent),
        )
        for pipe, out in ((self._process.stdout, 1), (self._process.stderr, 2)):
            threading.Thread(target=self._pass_on, args=(pipe.fileno(), out), daemon=True).start()

    def stop(self) -> None:
        """Asks the launcher to end; its Ray job ends with it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        """Its exit code, as a shell gives it: 128 + number for a signal."""
        code = self._process.wait()
        forget_hidden(self._attempt_dir)
        return 128 - code if code < 0 else code

    def ended(self) -> bool:
        """Whether the process is gone; its pipes may be held open by others."""
        return self._process.poll() is not None

    def _pass_on(self, pipe: int, out: int) -> None:
        rest = b""
        while True:
            try:
                data = os.read(pipe, 65536)
            except OSError:
                data = b""
            if not data:
                break
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(out, view) :]
            except OSError:
                pass  # no listener is left; the training continues
            *lines, rest = _LINE_END.split(rest + data)
            rest = rest[-_MAX_LINE_BYTES:]
            for line in lines:
                self._line(line)
        if rest:
            self._line(rest)
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self.lines.put(None)

    def _line(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        self.last.append(text)
        self.lines.put(text)


def _scalar(text: str) -> object:
    """A value of `ray_init.*`, as Hydra reads it."""
    named = {"null": None, "true": True, "false": False}
    if text.lower() in named:
        return named[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text
