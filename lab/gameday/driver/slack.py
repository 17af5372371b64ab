"""Fake Slack: posts of the service to its Web API are passed to the receivers.

It accepts any token, and returns no history: a post in doubt comes twice.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from lab.gameday.fake_receivers import Receivers
from lineage.process.clock import system_clock, to_micros
from service.errors import OccupiedError

PATH: Final = "/api/"
_MOST_BYTES: Final = 1_048_576
_Answer = dict[str, Any]


@contextmanager
def listening(receivers: Receivers, host: str, port: int) -> Iterator[str]:
    """Yield its URL for `LINEWARD_DELIVERY_SLACK_URL`, while it listens.

    Raises:
        OccupiedError: something else listens there.
    """
    try:
        server = _Server((host, port), receivers)
    except OSError as error:
        raise OccupiedError(f"--listen {host}:{port}: {error}") from error
    thread = threading.Thread(target=server.serve_forever, args=(0.1,))
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}{PATH}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], receivers: Receivers) -> None:
        self._receivers = receivers
        self._lock = threading.Lock()
        self._methods: dict[str, Callable[[_Answer], _Answer]] = {
            "chat.postMessage": self._post,
            "chat.update": self._update,
        }
        super().__init__(address, _Handler)

    def answer(self, method: str, fields: _Answer) -> _Answer:
        """Answer as Slack's Web API does."""
        asked = self._methods.get(method)
        if asked is None:
            return {"ok": False, "error": "missing_scope"}
        with self._lock:
            return {"ok": True} | asked(fields)

    def _post(self, fields: _Answer) -> _Answer:
        channel = fields["channel"]
        ts = self._receivers.slack_post(channel, fields, to_micros(system_clock()))
        return {"channel": channel, "ts": ts}

    def _update(self, fields: _Answer) -> _Answer:
        channel, ts = fields["channel"], fields["ts"]
        self._receivers.slack_update(channel, fields, to_micros(system_clock()))
        return {"channel": channel, "ts": ts}


class _Handler(BaseHTTPRequestHandler):
    timeout = 30

    def log_message(self, *_: object) -> None:
        """Log nothing: messages are shown at the end."""

    def do_POST(self) -> None:
        """Handle one call of a method."""
        size = int(self.headers.get("Content-Length") or 0)
        if not self.path.startswith(PATH) or size > _MOST_BYTES:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        try:
            fields = _fields(self.headers.get("Content-Type", ""), self.rfile.read(size))
            reply = cast("_Server", self.server).answer(self.path.removeprefix(PATH), fields)
        except (LookupError, ValueError, TypeError):
            reply = {"ok": False, "error": "invalid_arguments"}
        body = json.dumps(reply).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _fields(kind: str, body: bytes) -> _Answer:
    """Return the fields of a JSON body, or of a form."""
    return dict(json.loads(body)) if "json" in kind else dict(parse_qsl(body.decode()))
