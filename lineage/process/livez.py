"""Asks a server of this machine for its `/livez`, without ever waiting for the answer."""

import socket
from contextlib import suppress
from ipaddress import ip_address

_CONNECT_SECONDS = 0.2  # on this machine the kernel accepts, even for a process that stands still
# Any answer but a failure of its own: a server may want another name for its host.
_GOOD = tuple(f"HTTP/1.1 {digit}".encode() for digit in (2, 3, 4))


class Livez:
    """Server to check: `ask` sends the request, the response is read later."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (_reachable(host), port)
        self._asked: socket.socket | None = None

    def ask(self) -> None:
        """Send a request; the answer to an earlier one is not waited for any longer."""
        self.close()
        host = f"[{self._address[0]}]" if ":" in self._address[0] else self._address[0]
        request = f"GET /livez HTTP/1.1\r\nHost: {host}:{self._address[1]}\r\n"
        with suppress(OSError):
            self._asked = socket.create_connection(self._address, timeout=_CONNECT_SECONDS)
            self._asked.sendall(f"{request}Connection: close\r\n\r\n".encode())

    def has_answered(self) -> bool:
        """Return whether the last request was answered as by a server that works."""
        if self._asked is None:
            return False
        try:
            return self._asked.recv(64, socket.MSG_DONTWAIT).startswith(_GOOD)
        except OSError:
            return False
        finally:
            self.close()

    def close(self) -> None:
        """Forget the request in flight."""
        if self._asked is not None:
            self._asked.close()
            self._asked = None


def _reachable(host: str) -> str:
    """Return the address to connect to, for a server that listens on all of them."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if address.version == 4 else "::1"  # noqa: PLR2004 - of IP
