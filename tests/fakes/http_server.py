"""HTTP server in a thread, on any free port: the base of the fakes of providers."""

import json
import ssl
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import trustme


class Answer(NamedTuple):
    """Answer to a request."""

    status: int
    body: Any
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def stream(self) -> Iterator[bytes] | None:
        """Return the parts of a body that is sent as it comes; None for one that is whole."""
        return self.body if isinstance(self.body, Iterator) else None

    def encoded(self) -> bytes:
        """Return the body as sent: text as it is, all else as JSON."""
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body).encode()


class Request(NamedTuple):
    """Received request."""

    path: str
    headers: dict[str, str]
    body: bytes
    query: str = ""
    method: str = "POST"

    def fields(self) -> dict[str, Any]:
        """Return the fields of a JSON body, or of a form."""
        if "json" in self.headers.get("content-type", ""):
            return dict(json.loads(self.body))
        return dict(parse_qsl(self.body.decode()))


class FakeServer:
    """Server that answers each POST with `answer`; None closes the connection without an answer.

    Attributes:
        stalled: no accepted request is answered while it is unset.
        requests: all received ones, in order.
        host: address that it listens on.
    """

    host = "127.0.0.1"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.stalled = threading.Event()
        self.stalled.set()
        self.lock = threading.RLock()
        self._port = 0
        self._server: ThreadingHTTPServer | None = None

    @property
    def address(self) -> str:
        """Return host and port, also while it is stopped."""
        return f"{self.host}:{self._port}"

    def answer(self, request: Request) -> Answer | None:
        """Return the provider's answer."""
        raise NotImplementedError

    def hold(self, _request: Request) -> None:
        """Wait before an accepted request is answered."""
        self.stalled.wait(20)

    def start(self, context: ssl.SSLContext | None = None) -> None:
        """Listen: on any port at first, and on the same one afterwards."""
        server = _Server((self.host, self._port), _Handler)
        server.listening = self
        if context is not None:
            # The handshake runs in the thread of its connection, and blocks no other.
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._port = server.server_address[1]
        self._server = server
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Accept no more connections."""
        self.stalled.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    listening: FakeServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect, which some tests are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    timeout = 30
    server: Any

    def log_message(self, *_: object) -> None:
        """Log nothing: tests read `requests`."""

    def do_POST(self) -> None:
        """Answer one request per connection."""
        listening: FakeServer = self.server.listening
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = urlsplit(self.path)
        request = Request(asked.path, headers, body, asked.query, self.command)
        with listening.lock:
            listening.requests.append(request)
            answer = listening.answer(request)
        listening.hold(request)
        if answer is not None:
            self._write(answer)

    def do_PATCH(self) -> None:
        """Answer as Kubernetes answers a change."""
        self.do_POST()

    def do_GET(self) -> None:
        """Answer the GET of a redirected POST, and Grafana's reads."""
        self.do_POST()

    def _write(self, answer: Answer) -> None:
        if answer.stream is not None:
            self._write_chunks(answer.status, answer.stream)
            return
        body = answer.encoded()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _write_chunks(self, status: int, chunks: Iterator[bytes]) -> None:
        """Send each chunk as it comes; an empty one breaks the connection in the middle."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            if not chunk:
                return
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")


class FakeTlsServer(FakeServer):
    """Server with TLS and an authority of its own, which clients have to trust."""

    def __init__(self, authority: trustme.CA) -> None:
        super().__init__()
        self._authority = authority

    @property
    def url(self) -> str:
        """Return its base URL."""
        return f"https://{self.address}"

    def write_authority(self, path: Path) -> Path:
        """Write the certificate of the authority."""
        self._authority.cert_pem.write_to_path(path)
        return path

    def listen(self) -> None:
        """Listen with TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(self.host).configure_cert(context)
        self.start(context)
