"""Proxy between a client and a PostgreSQL that can stop forwarding as a firewall does."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import unquote

from sqlalchemy import URL


class Proxy:
    """Proxy on loopback that always accepts connections: the client's kernel sees no error."""

    def __init__(self, server: URL) -> None:
        self._server = server
        self._open: list[socket.socket] = []
        self._is_forwarding = threading.Event()
        self._is_forwarding.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Return the URL of the same database, by the proxy."""
        host, port = self._listening.getsockname()
        through = self._server.set(host=host, port=port, query={})
        return through.render_as_string(hide_password=False)

    def stall(self) -> None:
        """Forward nothing: accept data, and return none."""
        self._is_forwarding.clear()

    def resume(self) -> None:
        """Forward again."""
        self._is_forwarding.set()

    def cut(self) -> None:
        """End every connection, as a server in a failover does."""
        while self._open:
            with contextlib.suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End."""
        self.resume()
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = self._connect()
                self._open += [client, server]
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=ends, daemon=True).start()

    def _connect(self) -> socket.socket:
        folder = self._server.query.get("host")
        if folder is None:
            return socket.create_connection((self._server.host, self._server.port or 5432))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{unquote(str(folder))}/.s.PGSQL.{self._server.port or 5432}")
        return connection

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65_536):
                self._is_forwarding.wait()
                sink.sendall(part)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def running_proxy(server: URL) -> Iterator[Proxy]:
    """Start a proxy of this database."""
    proxy = Proxy(server)
    try:
        yield proxy
    finally:
        proxy.close()
