"""Opens listening sockets of HTTP ports, with a deadline for clients that do not read answers."""

import socket
from typing import Final

WRITE_SECONDS: Final = 30.0
_BACKLOG: Final = 4096


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
