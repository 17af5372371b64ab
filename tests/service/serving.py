"""A server of ours in a thread, with deadlines that a test can wait for."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

from granian.constants import Interfaces

from lineage.process.listening import http_server
from lineage.process.sockets import set_write_deadline

DEADLINE_SECONDS = 0.5


@contextmanager
def served(app: object, interface: Interfaces = Interfaces.ASGI) -> Iterator[int]:
    """The port of an application; headers and reads of answers have `DEADLINE_SECONDS`."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    listening.setblocking(False)  # noqa: FBT003 - the socket's own signature
    set_write_deadline(listening, DEADLINE_SECONDS)
    port = listening.getsockname()[1]
    loop = asyncio.new_event_loop()
    # The server closes it.
    server = http_server(app, listening.detach(), interface, header_seconds=DEADLINE_SECONDS)
    thread = threading.Thread(target=loop.run_until_complete, args=(server.serve(),))
    thread.start()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(server.stop)
        thread.join()
        loop.close()


def answer_of(port: int, request: bytes) -> bytes:
    """All that is answered to these bytes until the connection is closed."""
    with closing(socket.create_connection(("127.0.0.1", port))) as connection:
        connection.settimeout(30)
        connection.sendall(request)
        received = b""
        while part := _received(connection):
            received += part
        return received


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionError:
        return b""
