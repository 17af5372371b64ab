"""Refuses requests for another host's name while we listen on loopback alone.

A web page may make its own name lead to 127.0.0.1 and have a visitor's browser ask us: the browser
then names that page's host, and must not be given the catalog.
"""

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from litestar import Request
from litestar.exceptions import ClientException

_AnyRequest = Request[Any, Any, Any]


def host_check(host: str) -> Callable[[_AnyRequest], None] | None:
    """A check of every request; none when other machines may ask, by names unknown here."""
    return _require_loopback if is_loopback(host) else None


def is_loopback(host: str) -> bool:
    """Whether this name or address leads to the machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _require_loopback(request: _AnyRequest) -> None:
    asked = request.headers.get("host", "")
    try:
        name = urlsplit(f"//{asked}").hostname or ""
    except ValueError:
        name = ""
    if not is_loopback(name):
        message = f"host {asked[:80]!r}: only this machine's own names are answered"
        raise ClientException(message)
