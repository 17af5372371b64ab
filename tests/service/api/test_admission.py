"""Port of the API with many clients that send requests and never read the answers."""

import asyncio
import http.client
import socket
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from service.api.intake import Intake
from service.runtime.supervised_role import CHECK_SECONDS
from tests.service.serving import served
from tests.suite.waiting import until

_CLIENTS = 100
_GET = b"GET /datasets HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
_ESTABLISHED = "01"
_LARGE = b"a" * (4 << 20)


class Pages:
    """Application with large answers that keep the event loop busy for a while."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self.active = self.most = self.answered = 0

    async def __call__(self, scope, _receive, send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise RuntimeError("only HTTP is served")
        is_live = scope["path"] == "/livez"
        if not is_live:
            await self._work()
        body = b"alive" if is_live else _LARGE
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body, "more_body": False})
        self.answered += not is_live

    async def _work(self):
        self.active += 1
        self.most = max(self.most, self.active)
        await asyncio.sleep(0)  # the other requests come first
        time.sleep(self._seconds)  # noqa: ASYNC251 - as an answer that is encoded
        await asyncio.sleep(0)
        self.active -= 1


def ask(port, path, seconds):
    """Return the status of one request after reading it."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)) as connection:
        connection.request("GET", path)
        return connection.getresponse().status


@contextmanager
def unread(port):
    """Open clients that send a request and read nothing, and close them before the server stops."""
    with ExitStack() as held:
        for _ in range(_CLIENTS):
            client = held.enter_context(closing(socket.socket()))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", port))
            client.sendall(_GET)
        yield


def test_livez_answers_while_many_clients_read_nothing():
    """Answer the supervisor, which asks every 5 s; without admission it waits for 100 answers."""
    pages = Pages(seconds=0.1)
    with served(Intake(pages)) as port, unread(port):
        assert ask(port, "/livez", CHECK_SECONDS) == 200
        assert pages.most <= 16


def test_unread_answers_block_no_other_answer():
    """Count an answer no longer once the server has taken it."""
    pages = Pages()
    with served(Intake(pages)) as port, unread(port):
        until(lambda: pages.answered == _CLIENTS)

        assert ask(port, "/datasets", 30) == 200


def test_clients_that_read_nothing_are_closed_at_the_write_deadline():
    """Close them, as each holds one of 4,096 connections and delays the stop."""
    pages = Pages()
    with served(Intake(pages)) as port, unread(port):
        until(lambda: pages.answered == _CLIENTS)

        until(lambda: _open_connections(port) == 0)


def _open_connections(port):
    """Return how many connections the kernel lists for the server."""
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    return sum(
        local.endswith(f":{port:04X}") and state == _ESTABLISHED
        for _, local, _, state, *_ in map(str.split, lines)
    )
