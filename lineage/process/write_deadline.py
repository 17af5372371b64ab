"""Sets a deadline for clients that do not read their answers."""

import socket
from typing import Final

WRITE_SECONDS: Final = 30.0


def set_write_deadline(listening: socket.socket, seconds: float = WRITE_SECONDS) -> None:
    """Have the kernel close accepted connections whose client reads nothing for so long.

    The HTTP server has no such deadline. Its stop waits for each answer that is not read.
    """
    # Accepted sockets inherit the option. macOS has none: it closes such connections later.
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        listening.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))
