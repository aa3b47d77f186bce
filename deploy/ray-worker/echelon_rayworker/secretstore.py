"""The cluster's secrets: specs name them, and only here do they have values.

A reference is looked up as a file of a directory (``--secrets-dir``, else ``ECHELON_SECRETS_DIR``, else
``STATE_DIR/secrets``) and then as a variable of the ray-worker's own environment, ``ECHELON_SECRET_`` and the reference in
upper case, hyphens and dots as underscores. Read anew for every launch, so that a rotated one counts at once.
"""

from __future__ import annotations

import os
import re
import stat
from typing import Mapping

from echelon_rayworker.redaction import MIN_CHARACTERS

DIRECTORY_VARIABLE = "ECHELON_SECRETS_DIR"
VARIABLE_PREFIX = "ECHELON_SECRET_"
# Names the variables of a driver that hold secrets, for code that reports in its processes.
NAMES_VARIABLE = "ECHELON_HIDDEN_VARIABLES"
MAX_BYTES = 64 * 1024

_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class UnusableSecret(Exception):
    """A reference has no value that may be used; the message names it and the remedy, and never a value."""


class SecretStore:
    """The source of the values of references, for one ray-worker."""

    def __init__(self, directory: str, environment: Mapping[str, str]) -> None:
        """``environment``: the ray-worker's own; only variables with the prefix are looked at."""
        self._directory = directory
        self._variables = {name: value for name, value in environment.items() if name.startswith(VARIABLE_PREFIX)}

    def resolve(self, references: Mapping[str, str]) -> dict[str, str]:
        """The value of each variable's reference. UnusableSecret for the first that has none."""
        return {name: self._value(name, reference) for name, reference in sorted(references.items())}

    def _value(self, name: str, reference: str) -> str:
        what = f"secret {reference!r} (wanted as {name})"
        if not _REFERENCE.fullmatch(reference):
            raise UnusableSecret(f"a secret's name is wanted as {name}: letters, digits, '.', '_', '-'")
        variable = VARIABLE_PREFIX + re.sub(r"[^A-Z0-9]", "_", reference.upper())
        value = self._file(what, reference)
        if value is None:
            value = self._variables.get(variable)
        if value is None:
            raise UnusableSecret(
                f"there is no {what} on this cluster: put its value into {os.path.join(self._directory, reference)} "
                f"(mode 0600) on the ray-worker's node, or set {variable} for the ray-worker"
            )
        value = value.strip("\r\n")
        if "\0" in value:
            raise UnusableSecret(f"the {what} holds a NUL, which no variable can")
        if len(value.strip()) < MIN_CHARACTERS:
            raise UnusableSecret(
                f"the {what} has fewer than {MIN_CHARACTERS} characters, too few to be kept out of logs: use a longer one"
            )
        return value

    def _file(self, what: str, reference: str) -> str | None:
        path = os.path.join(self._directory, reference)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise UnusableSecret(f"the {what} cannot be read: {error.strerror}: {path}") from error
        with open(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise UnusableSecret(f"the {what} is no plain file: {path}")
            # A group may read: that is how Kubernetes mounts a secret for a user who is not root.
            if status.st_mode & (stat.S_IRWXO | stat.S_IWGRP):
                raise UnusableSecret(f"the file of {what} can be read or written by others: chmod 0600 {path}")
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UnusableSecret(f"the {what} is larger than {MAX_BYTES} bytes: {path}")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise UnusableSecret(f"the {what} is not UTF-8: {path}") from error


def secrets_directory(option: str, environment: Mapping[str, str], state_dir: str) -> str:
    """The directory that counts, absolute."""
    chosen = option or environment.get(DIRECTORY_VARIABLE, "") or os.path.join(state_dir, "secrets")
    return os.path.abspath(os.path.expanduser(chosen))
