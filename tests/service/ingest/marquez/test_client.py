import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from service.ingest.marquez import client as client_module
from service.ingest.marquez.client import (
    FAR_FUTURE,
    AnswerTooLargeError,
    Marquez,
    MarquezError,
    events_between,
)
from service.ingest.marquez.settings import MarquezSettings
from tests.fakes.marquez import FakeMarquez, run_event
from tests.service.ingest.marquez.beside import NOON, marquez_settings


def _ask(settings: MarquezSettings, question):
    async def run():
        client = Marquez(settings)
        try:
            return await question(client)
        finally:
            await client.close()

    return asyncio.run(run())


@contextmanager
def _server(head: bytes, part: bytes) -> Iterator[str]:
    """Answer a request with `head`, and then with `part` again and again, a little at a time."""
    gone = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(head)
            while not gone.wait(0.02):
                try:
                    connection.sendall(part)
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        gone.set()
        thread.join(30)


def _first_page(client: Marquez):
    return client.events(after=0, before=FAR_FUTURE, limit=10)


def test_a_slow_answer_has_one_deadline():
    """End the request, although a byte arrives before each read times out."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    with _server(head, b" ") as url:
        settings = MarquezSettings(url=url, timeout_seconds=0.3)
        with pytest.raises(MarquezError, match="TimeoutError"):
            _ask(settings, _first_page)


def test_an_answer_without_an_end_is_cut(monkeypatch):
    """Bound the answer in bytes."""
    monkeypatch.setattr(client_module, "_MAX_ANSWER_BYTES", 100_000)
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    with _server(head, b" " * 60_000) as url, pytest.raises(AnswerTooLargeError):
        _ask(MarquezSettings(url=url), _first_page)


def test_an_answer_that_is_no_page_is_an_error():
    """Raise for a login page of a proxy with status 200, instead of an empty window."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n<html>hi</html>\n"
    with _server(head, b"") as url, pytest.raises(MarquezError, match="expected a page of events"):
        _ask(MarquezSettings(url=url), _first_page)


def test_too_many_events_with_one_timestamp_are_an_error(marquez: FakeMarquez, monkeypatch):
    """Raise, as neither a smaller nor a larger page helps."""
    monkeypatch.setattr(client_module, "_MAX_ANSWER_BYTES", 20_000)
    marquez.store([run_event(n, at=NOON) for n in range(300)])

    async def read(client):
        return [page async for page in events_between(client, 0, FAR_FUTURE)]

    with pytest.raises(AnswerTooLargeError, match="events with one timestamp"):
        _ask(marquez_settings(marquez), read)


def test_an_error_with_deep_nesting_is_a_failure():
    """Return a failure for any answer of a proxy, as an exception would end the sender."""
    deep = b"[" * 60_000
    head = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: %d\r\n\r\n%s" % (len(deep), deep)
    with _server(head, b"") as url:
        result = _ask(MarquezSettings(url=url), lambda client: client.post(b"{}"))

    assert (result.outcome, result.reason) == ("failed", "http_500")
