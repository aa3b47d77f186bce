"""A certificate of the ray-worker's own, for clusters that bring none. Clients are given it over the authenticated
channel on which they asked for the token, and trust nothing else."""

from __future__ import annotations

import ipaddress
import os
import shutil
import subprocess
from typing import Iterable, Optional

from echelon_rayworker.files import make_directories, write_file

_DAYS = "3650"


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to ``host``."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def ensure_certificate(state_dir: str, hosts: Iterable[str]) -> Optional[tuple[str, str]]:
    """Paths of a self-signed certificate for ``hosts`` and of its key, made if there is none for them yet. None
    if there is no ``openssl`` to make one with. subprocess.CalledProcessError if that fails."""
    names = ",".join(sorted({_alternative_name(host) for host in hosts if host}))
    cert, key, made_for = (os.path.join(state_dir, name) for name in ("tls.crt", "tls.key", "tls.names"))
    if _read(made_for) == names:
        return cert, key
    openssl = shutil.which("openssl")
    if openssl is None:
        return None
    make_directories(os.path.abspath(state_dir))
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", _DAYS, "-subj", "/CN=echelon-ray-worker", "-addext", f"subjectAltName={names}",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True, umask=0o077,
    )
    write_file(made_for, names.encode())
    return cert, key


def _alternative_name(host: str) -> str:
    try:
        return f"IP:{ipaddress.ip_address(host.strip('[]'))}"
    except ValueError:
        return f"DNS:{host}"


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""
