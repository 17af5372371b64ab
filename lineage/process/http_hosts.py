"""Check of the HTTP requests that a port answers, by `Host` and by the site they come from.

A web page can make a visitor's browser post to 127.0.0.1, and can have its own name resolve to
127.0.0.1 (DNS rebinding). The browser says so in headers that no page can set.
"""

from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec

Header = Callable[[str], str | None]  # the value of a header, by its lower-case name
_SAFE_METHODS: Final = ("GET", "HEAD")
_SHOWN_CHARACTERS: Final = 80


class OwnHosts(msgspec.Struct, frozen=True):
    """Names by which requests may address this process.

    Attributes:
        bound: the address that the port listens on (`LINEWARD_HOST`).
        names: further names, e.g. of a reverse proxy (`LINEWARD_ALLOWED_HOSTS`).
    """

    bound: str
    names: frozenset[str] = frozenset()

    @classmethod
    def read(cls, bound: str, allowed: str) -> "OwnHosts":
        """Build the names from the settings; `allowed` is separated by commas."""
        return cls(bound, frozenset(_names(allowed.split(","))))

    def has(self, host: str) -> bool:
        """Return whether `host` (with or without a port) is one of the names.

        Other machines reach a port that listens beyond loopback by names that are unknown here.
        """
        name = _hostname(host)
        return name in self.names or is_loopback(name) or not is_loopback(self.bound)


def is_loopback(host: str) -> bool:
    """Return whether this name or address leads to the machine itself."""
    try:
        address = ip_address(host)
    except ValueError:
        return host.lower() == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def find_foreign_host(host: str, own: OwnHosts) -> str | None:
    """Return why the value of `Host` is rejected; None where it is one of our names."""
    if own.has(host):
        return None
    return (
        f"Host {host[:_SHOWN_CHARACTERS]!r}: this port listens on {own.bound} and answers to names"
        " of this machine only; add further names to LINEWARD_ALLOWED_HOSTS"
    )


def find_cross_site(method: str, header: Header, own: OwnHosts) -> str | None:
    """Return why a request that a browser sends for another site is rejected, or None.

    Following a link from another site is allowed. Programs that are no browsers send neither
    header. `Sec-Fetch-Site` decides where it is there: behind a proxy, `Origin` has the proxy's
    name.
    """
    site, origin = header("sec-fetch-site"), header("origin")
    if site is None:
        is_foreign = origin is not None and not _is_own_origin(origin, header("host") or "", own)
        return _rejection("Origin", origin) if is_foreign else None
    if site in {"same-origin", "none"}:
        return None
    is_link = method in _SAFE_METHODS and header("sec-fetch-mode") == "navigate"
    return None if is_link else _rejection("Sec-Fetch-Site", site)


def _rejection(name: str, value: str | None) -> str:
    shown = (value or "")[:_SHOWN_CHARACTERS]
    return f"{name} {shown!r}: requests of a browser for another site are rejected"


def _is_own_origin(origin: str, host: str, own: OwnHosts) -> bool:
    netloc = origin.partition("://")[2].lower()
    if not netloc:
        return False  # "null": a sandboxed frame, a file, a redirect
    return netloc == host.lower() or _hostname(netloc) in own.names


def _hostname(netloc: str) -> str:
    try:
        return (urlsplit(f"//{netloc}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _names(allowed: Iterable[str]) -> Iterable[str]:
    return (name for text in allowed if (name := _hostname(text.strip())))
