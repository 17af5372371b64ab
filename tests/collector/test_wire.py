"""Requests byte by byte: too large, too slow, ambiguous, or cut off."""

import socket
import struct
import threading

import pytest

from tests.collector.bodies import new_body
from tests.collector.running import read_to_end
from tests.suite.http_client import CLIENT

POST = b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
RAW = new_body()
LENGTH = b"Content-Length: %d\r\n" % len(RAW)
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(RAW), RAW)
SECOND = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"


def _status(answer):
    return int(answer.split(b" ", 2)[1]) if answer else 0


def _count(collector):
    return collector.rows("SELECT count(*) FROM event")[0][0]


def test_a_body_in_chunks_is_accepted(collector):
    """Accept a body whose length is not known in advance."""
    answer = collector.raw(POST + CHUNKED + b"Connection: close\r\n\r\n" + CHUNKS)

    assert _status(answer) == 201


@pytest.mark.parametrize(
    "request_bytes",
    [
        POST + b"Content-Length: 2000000\r\n\r\n",
        POST + CHUNKED + b"\r\n" + (b"10000\r\n" + b"a" * 65_536 + b"\r\n") * 17,
    ],
    ids=["declared", "chunked"],
)
def test_too_large_a_body_is_answered_as_soon_as_it_is_known(collector, request_bytes):
    """Answer 413 without reading on, and close the connection."""
    assert _status(collector.raw(request_bytes)) == 413


@pytest.mark.parametrize(
    "half",
    [POST + LENGTH + b"\r\n" + RAW[:50], POST + CHUNKED + b"\r\n" + CHUNKS[:50]],
    ids=["declared", "chunked"],
)
def test_a_body_that_does_not_arrive_in_time_is_a_408(collector, half):
    """Answer after a second, so that no sender holds a connection longer."""
    assert _status(collector.raw(half)) == 408


@pytest.mark.parametrize("start", [b"", b"P", POST[:20], POST, POST + LENGTH])
def test_headers_that_do_not_arrive_in_time_close_the_connection(collector, start):
    """Bound idle connections too, before their first byte."""
    assert collector.raw(start) == b""


def test_slow_senders_do_not_delay_others(collector):
    """Serve one sender beside 200 that send a byte at a time (slow loris)."""
    slow = []
    for _ in range(200):
        slow.append(socket.create_connection(("127.0.0.1", collector.port)))
        # At once: one that waits for the others to connect may be late before it has begun.
        slow[-1].sendall(POST + LENGTH + b"\r\n" + RAW[:1])

    answer = collector.post(new_body())

    assert answer.status_code == 201
    assert {_status(read_to_end(connection)) for connection in slow} == {408}
    for connection in slow:
        connection.close()


@pytest.mark.parametrize(
    "head",
    [
        b"POST /api/v1/lineage HTTP/1.1\r\n" + LENGTH,
        POST + b"Host: 127.0.0.1\r\n" + LENGTH,
        POST + LENGTH + b"Content-Length: 3\r\n",
        POST + b"Content-Length: +%d\r\n" % len(RAW),
        POST + b"Content-Length : %d\r\n" % len(RAW),
        POST + b"Content-Length: -1\r\n",
        POST + b"Transfer-Encoding: identity\r\n" + LENGTH,
        POST + b"X: a\r\n b\r\n" + LENGTH,
        POST + b"X: a\0b\r\n" + LENGTH,
    ],
    ids=[
        "no Host",
        "two Hosts",
        "two Content-Lengths",
        "signed length",
        "blank before the colon",
        "negative length",
        "unknown Transfer-Encoding",
        "folded header",
        "NUL",
    ],
)
def test_an_ambiguous_request_is_rejected_and_closed(collector, head):
    """Close the connection: a proxy may have read another request in what follows."""
    before = _count(collector)

    answer = collector.raw(head + b"\r\n" + RAW + SECOND)

    assert _status(answer) == 400
    assert answer.count(b"HTTP/1.1 ") == 1
    assert _count(collector) == before


@pytest.mark.parametrize("head", [POST + LENGTH + CHUNKED, POST + CHUNKED + LENGTH])
def test_after_both_framings_nothing_more_is_read(collector, head):
    """Use the chunks, and close the connection after the answer (RFC 9112, 6.3)."""
    answer = collector.raw(head + b"\r\n" + CHUNKS + SECOND)

    assert _status(answer) == 201
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer


def test_headers_have_a_bound(collector):
    """Reject 70 kB; 16 KiB are more than any sender needs."""
    assert _status(collector.raw(POST + b"X: " + b"a" * 70_000 + b"\r\n\r\n")) == 431


@pytest.mark.parametrize("reset", [True, False])
@pytest.mark.parametrize(
    "cut",
    [POST + LENGTH + b"\r\n" + RAW[:50], POST + CHUNKED + b"\r\n" + CHUNKS[:50], POST[:30]],
    ids=["declared", "chunked", "headers"],
)
def test_a_sender_that_vanishes_leaves_no_event_and_no_traceback(collector, cut, reset):
    """Store no half event, and log nothing."""
    before = _count(collector)
    connection = socket.create_connection(("127.0.0.1", collector.port))
    connection.sendall(cut)
    _close(connection, reset=reset)

    assert CLIENT.get(f"{collector.url}/readyz").status_code == 200
    assert _count(collector) == before
    assert "Traceback" not in collector.log()


def test_a_sender_that_disconnects_before_its_answer_may_repeat(collector):
    """Acknowledge the repeat, and store one row."""
    raw = new_body()
    for _ in range(20):
        connection = socket.create_connection(("127.0.0.1", collector.port))
        connection.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
        connection.close()

    assert collector.post(raw).status_code == 201
    assert collector.rows("SELECT body FROM event").count((raw,)) == 1
    assert "Traceback" not in collector.log()


def test_many_idle_connections_do_not_block_others(collector):
    """Serve a sender beside 1,000 idle connections, and close each at its deadline."""
    idle = [socket.create_connection(("127.0.0.1", collector.port)) for _ in range(1_000)]

    assert collector.post(new_body()).status_code == 201
    assert {read_to_end(connection) for connection in idle} == {b""}
    for connection in idle:
        connection.close()


def test_concurrent_posts_are_each_answered(start):
    """Give each sender its own answer, though a group is committed at once.

    With the usual deadline: one of 64 threads may wait a second for a processor.
    """
    collector = start().ready()
    bodies = [new_body() for _ in range(64)]
    statuses = []
    threads = [
        threading.Thread(target=lambda raw=raw: statuses.append(collector.post(raw).status_code))
        for raw in bodies
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert statuses == [201] * 64
    kept = {row[0] for row in collector.rows("SELECT body FROM event")}
    assert set(bodies) <= kept


def _close(connection: socket.socket, *, reset: bool) -> None:
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
