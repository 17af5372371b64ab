"""HTTP of the fake Marquez: routes of requests, and the form of answers."""

import gzip
import time
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_RUNS = "/api/v1/jobs/runs/"


class Answer(NamedTuple):
    """Answer to a request."""

    status: int
    body: bytes
    content_type: str = "application/json"


class Handler(BaseHTTPRequestHandler):
    """Handler of one connection, kept open between requests."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    server: Any

    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - of the standard library
        """Log nothing: tests read the stored events."""

    def do_POST(self) -> None:
        """Accept events."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if (rejection := self._reject()) is not None:
            self._write(rejection)
        elif path != "/api/v1/lineage":
            self._write(Answer(404, b""))
        elif "application/json" not in (self.headers.get("Content-Type") or ""):
            self._write(Answer(415, b""))
        else:
            self._write(self.server.marquez.post(self._decompress(body)))

    def do_PUT(self) -> None:
        """Reject PUT."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._write(Answer(405, b""))

    def do_GET(self) -> None:
        """Return events, lineage and runs."""
        marquez = self.server.marquez
        url = urlsplit(self.path)
        if (rejection := self._reject()) is not None:
            self._write(rejection)
        elif url.path == "/api/v1/events/lineage":
            self._write(marquez.events(url.query))
        elif url.path == "/api/v1/lineage":
            time.sleep(marquez.lineage[1])  # a delay of the fake, no wait for a condition
            self._write(marquez.graph(url.query))
        elif url.path.startswith(_RUNS):
            self._write(marquez.run(url.path.removeprefix(_RUNS)))
        else:
            self._write(Answer(404, b""))

    def _reject(self) -> Answer | None:
        marquez = self.server.marquez
        if marquez.status is not None:
            return Answer(marquez.status, b"")
        if marquez.token and self.headers.get("Authorization") != f"Bearer {marquez.token}":
            return Answer(401, b"")
        return None

    def _decompress(self, body: bytes) -> bytes:
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _write(self, answer: Answer | None) -> None:
        if answer is None:
            self.close_connection = True
            return
        path = urlsplit(self.path).path
        self.server.marquez.seen[self.command, path, answer.status] += 1
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
