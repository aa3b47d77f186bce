"""What would fail before anything is paid, as answers (see engines/answers.py)."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

from echelon_rayworker.secretstore import NAMES_VARIABLE

from ..answers import Answer, Check, run_preflight
from ..spec import Launch
from .addresses import ForbiddenAddressError, resolved
from .settings import Settings, settings_of

CONNECT_SECONDS = 10


def check_httpx() -> list[Answer]:
    """The package that calls the endpoint."""
    try:
        import httpx
    except ModuleNotFoundError:
        remedy = "pip install httpx, in the Python environment of the ray-worker"
        return [Answer("packages", False, "the Python package httpx is missing", remedy)]
    return [Answer("packages", True, f"httpx {httpx.__version__}")]


def check_endpoint(base_url: str) -> list[Answer]:
    """Does the endpoint take connections from this node? No request is made."""
    address = urlsplit(base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    place = f"{address.hostname}:{port}"
    try:
        socket.create_connection((resolved(address.hostname or "", port)[0], port), CONNECT_SECONDS).close()
    except ForbiddenAddressError as error:
        return [Answer("endpoint", False, str(error), "name another endpoint")]
    except OSError as error:
        remedy = "start the endpoint, or check /model/baseUrl; behind a proxy this cannot be checked"
        return [Answer("endpoint", False, f"{place} takes no connection from this node: {error}", remedy, "warning")]
    return [Answer("endpoint", True, f"{place} takes connections")]


def check_key(settings: Settings, names: str) -> list[Answer]:
    """Will the driver have the key?"""
    name = settings.model.api_key
    if not name:
        return [Answer("key", True, "no key is sent")]
    known = name in names.split(",")
    remedy = "" if known else f"name the secret under /secrets/{name}"
    return [Answer("key", known, f"the key comes from {name}" if known else f"no secret gives {name}", remedy)]


def checks_of(launch: Launch) -> list[Check]:
    """All checks."""
    settings = settings_of(launch, os.environ)
    return [
        ("packages", check_httpx),
        ("endpoint", lambda: check_endpoint(settings.model.base_url)),
        ("key", lambda: check_key(settings, os.environ.get(NAMES_VARIABLE, ""))),
    ]


if __name__ == "__main__":
    run_preflight(checks_of)
