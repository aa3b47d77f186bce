"""Where the engine may connect: never to a cloud's metadata service, which gives the machine's credentials to every caller.

The api refuses the same addresses (src/engines/prompt/endpoint.ts); here a name is resolved first, and the connection goes to
the address that was checked.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import Any, Iterable
from urllib.parse import urlsplit

from ..spec import SpecError
from .errors import PromptError

_NEVER = tuple(ipaddress.ip_network(one) for one in (
    "169.254.0.0/16", "fe80::/10", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254",
))  # fmt: skip
# Addresses of IPv6 whose last 32 bits are one of IPv4.
_EMBEDDED = tuple(ipaddress.ip_network(one) for one in ("::/96", "::ffff:0:0/96", "64:ff9b::/96"))
_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._~-]+)*/?")


class ForbiddenAddressError(PromptError):
    """The endpoint is an address that is never called."""


def check_base_url(base_url: str) -> None:
    """Raises SpecError unless calls stay below this address: http or https, a host, a path without ``..`` in any form."""
    try:
        address = urlsplit(base_url)
        whole = f"{address.scheme}://{address.netloc}{address.path}" == base_url
        host = address.hostname and address.port != 0 and "@" not in address.netloc
        usable = address.scheme in ("http", "https") and whole and host and _PATH.fullmatch(address.path)
    except ValueError:
        usable = False
    if not usable:
        raise SpecError("/model/baseUrl is not the address of an endpoint")


def is_forbidden(address: str) -> bool:
    """Whether an address of IPv4 or IPv6 is one of a metadata service."""
    ip = ipaddress.ip_address(address.split("%", 1)[0])
    if any(ip in network for network in _EMBEDDED if network.version == ip.version):
        ip = ipaddress.ip_address(int(ip) & 0xFFFFFFFF)
    return any(ip in network for network in _NEVER if network.version == ip.version)


def checked(host: str, found: Iterable[tuple[Any, ...]]) -> list[str]:
    """The addresses of ``found``, what getaddrinfo says of the host. Raises ForbiddenAddressError."""
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    if any(is_forbidden(address) for address in addresses):
        raise ForbiddenAddressError(
            f"{host} is an address where clouds give out credentials, which is never called: check /model/baseUrl"
        )
    return addresses


def resolved(host: str, port: int) -> list[str]:
    """The addresses of a host. Raises OSError if it has none, and ForbiddenAddressError."""
    return checked(host, socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
