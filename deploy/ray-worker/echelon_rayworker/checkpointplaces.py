"""Which paths and addresses a checkpoint store may use with the rights of the ray-worker.

A path comes from a report of a driver, from a note on the shared root or from a manifest; an address comes from the settings
of the store. None of them is believed: a path is resolved, links included, and must be below a directory of the experiment's
own; the addresses behind a name are looked at before anything is sent to one.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass
from typing import Any, BinaryIO, Mapping, Optional, Sequence
from urllib.parse import parse_qs, urlsplit

from echelon_rayworker.files import open_regular

# In the experiment's directory: launch files, event logs and secrets of attempts, and the notes of this package.
_ATTEMPTS = "attempts"
_OWN_FILES = ("checkpoint.json", "checkpoint-upload.json", "checkpoint-upload.lock")
_MAX_NAME = 4096

# Addresses that give credentials of the machine which asks.
_METADATA = [ipaddress.ip_network(one) for one in ("169.254.0.0/16", "fe80::/10", "100.100.100.200/32", "fd00:ec2::254/128")]
# The process that speaks to the store has the ray-worker's variables, of the driver's only these and those of the cluster.
_CREDENTIALS = frozenset(
    "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN GOOGLE_APPLICATION_CREDENTIALS".split()
)
_PROGRAMS = ("PATH", "HOME", "SHELL", "USER")
# Without keys in its variables, a client library would ask the machine's metadata service for the rights of the machine.
_NO_METADATA = {"AWS_EC2_METADATA_DISABLED": "true"}


class Unusable(Exception):
    """A checkpoint in the store cannot be used; the message says why."""


@dataclass(frozen=True)
class Places:
    """The directories of one experiment. ``checkpoints``: where its engine saves besides the experiment's own directory."""

    experiment: str
    checkpoints: Optional[str] = None

    def target(self, path: str) -> str:
        """The real path of a checkpoint that was reported relative to the experiment's directory. Raises Unusable if it is not
        the experiment's own: a link or `..` may lead anywhere."""
        try:
            absolute = os.path.realpath(os.path.join(self.experiment, path))
        except (OSError, ValueError):
            raise Unusable(f"the path {path[:200]!r} is none") from None
        if self._is_own(absolute):
            return absolute
        raise Unusable(f"the checkpoint {path[:200]} is outside of the experiment's own directory")

    def _is_own(self, absolute: str) -> bool:
        below = _names_below(absolute, self.experiment)
        if below and below[0] != _ATTEMPTS and below[0] not in _OWN_FILES:
            return True
        return bool(self.checkpoints and _names_below(absolute, self.checkpoints))


def _names_below(path: str, directory: str) -> list[str]:
    """The names from a directory to a real path below it; none if it is not below."""
    root = os.path.realpath(directory)
    return path[len(root) + 1 :].split("/") if path.startswith(f"{root}/") else []


def check_name(name: Any) -> str:
    """The name of a checkpoint's file, relative to the checkpoint. Raises Unusable for one that leads out of it."""
    parts = name.split("/") if isinstance(name, str) else [""]
    if any(part in ("", ".", "..") for part in parts) or "\0" in name or len(name) > _MAX_NAME:
        raise Unusable(f"the checkpoint names a file outside of itself: {str(name)[:200]!r}")
    return name


def open_below(root: str, name: str) -> BinaryIO:
    """A checkpoint's file, for reading. Raises Unusable if it is no regular file, or a link leads to it: a training may put links
    into its checkpoint, and change them at any time."""
    path = os.path.join(root, check_name(name))
    try:
        file = os.fdopen(open_regular(path), "rb")
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}") from None
    if os.readlink(f"/proc/self/fd/{file.fileno()}") != os.path.join(os.path.realpath(root), name):
        file.close()
        raise Unusable(f"{path} is reached by a link")
    return file


def create_below(root: str, name: str) -> BinaryIO:
    """A checkpoint's file, new and empty; its directories are made. Raises Unusable if a link leads out, or OSError."""
    path = os.path.join(root, check_name(name))
    parent = os.path.dirname(path)
    os.makedirs(parent, exist_ok=True)
    if os.path.realpath(parent) != os.path.normpath(os.path.join(os.path.realpath(root), os.path.dirname(name))):
        raise Unusable(f"{parent} is reached by a link")
    if os.path.lexists(path):
        os.unlink(path)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644), "wb")


def files_of(source: str) -> tuple[str, list[str]]:
    """The directory and the names of the files below it, or of the one file. Raises Unusable for anything but regular files."""
    if not os.path.isdir(source):
        return os.path.dirname(source), [os.path.basename(source)]
    names: list[str] = []
    for at, directories, files in os.walk(source):
        for one in [*directories, *files]:
            path = os.path.join(at, one)
            if os.path.islink(path):
                raise Unusable(f"{path} is a link")
        names += [os.path.relpath(os.path.join(at, one), source) for one in files]
    return source, sorted(names)


def check_address(url: str) -> None:
    """Raises Unusable if the endpoint of a store is, or resolves to, an address that gives away the rights of this machine."""
    endpoint = parse_qs(urlsplit(url).query).get("endpoint_override", [""])[-1]
    host = urlsplit(f"//{endpoint}").hostname or ""
    if not host:
        return
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return  # the client says that it does not resolve
    for *_, (address, *_) in found:
        if _is_metadata(str(address)):
            raise Unusable(f"the endpoint {host} is an address of this machine's own credentials")


def _is_metadata(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_unspecified or address.is_multicast or any(address in one for one in _METADATA if one.version == address.version)


def store_environment(
    base: Mapping[str, str], driver: Mapping[str, str], own_variables: Sequence[str]
) -> dict[str, str]:
    """The variables of the process that speaks to the store: the ray-worker's, over them those of the cluster, and the
    credentials. ``own_variables``: set by the spec, whose sender must not choose a proxy, an endpoint or a library."""
    names = [name for name in driver if name in _CREDENTIALS or not (name in own_variables or _runs_code(name))]
    chosen = {**_NO_METADATA, **base, **{name: driver[name] for name in names}}
    # Not the attempt's own variables: by these its left-over processes are found and ended.
    return {name: value for name, value in chosen.items() if not name.startswith("ECHELON_")}


def _runs_code(name: str) -> bool:
    return name in _PROGRAMS or name.startswith(("PYTHON", "LD_", "RAY_"))
