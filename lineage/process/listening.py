"""HTTP/1 server on a listening socket that another process opened, with deadlines."""

from typing import Any, Final

from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

# Connections that wait to be accepted, and those that are open at once.
_BACKLOG: Final = 4096
_BACKPRESSURE: Final = 4096
_HEADER_BYTES: Final = 16_384


class InheritedServer(Server):
    """Granian's embedded server on a listening socket that another process opened.

    Granian itself binds a socket in each worker, which dies with it: a client in between
    is rejected.
    """

    listening_fd: int

    def _init_shared_socket(self) -> None:
        # Granian's own hook; its types know only sockets that it bound itself.
        self._ssp: None = None
        self._shd: Any = SocketHolder(  # type: ignore[call-arg]
            self.listening_fd,
            False,  # noqa: FBT003 - no Unix socket
            _BACKLOG,
        )
        self._sfd: Any = self.listening_fd


def http_server(
    app: object,
    fd: int,
    interface: Interfaces,
    *,
    header_seconds: float,
) -> InheritedServer:
    """Build a server of this application; a request's header has so long to arrive."""
    server = InheritedServer(
        app,
        interface=interface,
        # To detect HTTP/1 or 2, it would wait without a deadline for a connection's first bytes.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=int(header_seconds * 1000), max_buffer_size=_HEADER_BYTES
        ),
        websockets=False,
        log_enabled=False,
        backpressure=_BACKPRESSURE,
    )
    server.listening_fd = fd
    return server
