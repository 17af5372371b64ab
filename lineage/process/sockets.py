"""Listening sockets of HTTP ports with a write deadline, and checks of a server by its `/livez`."""

import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

WRITE_SECONDS: Final = 30.0
_BACKLOG: Final = 4096

_CONNECT_SECONDS = 0.2  # on this machine the kernel accepts, even for a process that stands still
# Any answer but a failure of its own: a server may want another name for its host.
_GOOD = tuple(f"HTTP/1.1 {digit}".encode() for digit in (2, 3, 4))


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address of IPv4 or IPv6; `::` takes both.

    Raises:
        OSError: the address is taken, or is not of this machine.
    """
    is_ipv6 = ":" in host
    listening = socket.create_server(
        (host, port),
        family=socket.AF_INET6 if is_ipv6 else socket.AF_INET,
        backlog=_BACKLOG,
        dualstack_ipv6=is_ipv6 and socket.has_dualstack_ipv6(),
    )
    listening.setblocking(False)  # noqa: FBT003 - Granian's runtime polls, and would hang in a blocking accept
    set_write_deadline(listening)
    return listening


def set_write_deadline(listening: socket.socket, seconds: float = WRITE_SECONDS) -> None:
    """Have the kernel close accepted connections whose client reads nothing for so long.

    The HTTP server has no such deadline. Its stop waits for each answer that is not read.
    """
    # Accepted sockets inherit the option. macOS has none: it closes such connections later.
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        listening.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))


class Livez:
    """Server to check: `ask` sends the request, the response is read later."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (reachable_host(host), port)
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


def is_all_addresses(host: str) -> bool:
    """Return whether a server on `host` listens on every address of this machine."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return not host


def reachable_host(host: str) -> str:
    """Return the address by which this machine reaches a server that listens on `host`."""
    if not is_all_addresses(host):
        return host
    return "::1" if ":" in host else "127.0.0.1"
