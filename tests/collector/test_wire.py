"""What comes over the wire byte by byte: too much, too slow, in two minds, or cut off."""

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


def test_a_body_in_chunks_is_taken(collector):
    """A producer that streams does not know the length in advance."""
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
def test_too_large_is_said_as_soon_as_it_is_known(collector, request_bytes):
    """413 without reading on: the connection is closed, whatever would have followed."""
    assert _status(collector.raw(request_bytes)) == 413


@pytest.mark.parametrize(
    "half",
    [POST + LENGTH + b"\r\n" + RAW[:50], POST + CHUNKED + b"\r\n" + CHUNKS[:50]],
    ids=["declared", "chunked"],
)
def test_a_body_that_does_not_arrive_in_time_is_a_408(collector, half):
    """The deadline of this collector is a second; no sender holds a connection longer."""
    assert _status(collector.raw(half)) == 408


@pytest.mark.parametrize("start", [b"", b"P", POST[:20], POST, POST + LENGTH])
def test_headers_that_do_not_arrive_in_time_close_the_connection(collector, start):
    """From the first byte on, and before it: idle connections are bounded in time too."""
    assert collector.raw(start) == b""


def test_trickling_senders_do_not_keep_a_good_one_waiting(collector):
    """Slow loris: 200 connections that send a byte at a time, and one that is served."""
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
def test_what_two_parsers_could_read_in_two_ways_is_refused_and_closed(collector, head):
    """A proxy before us may have read it the other way: what follows would be another's."""
    before = _count(collector)

    answer = collector.raw(head + b"\r\n" + RAW + SECOND)

    assert _status(answer) == 400
    assert answer.count(b"HTTP/1.1 ") == 1
    assert _count(collector) == before


@pytest.mark.parametrize("head", [POST + LENGTH + CHUNKED, POST + CHUNKED + LENGTH])
def test_after_both_framings_nothing_more_is_read(collector, head):
    """RFC 9112, 6.3: the chunks hold, and the connection is closed after the answer."""
    answer = collector.raw(head + b"\r\n" + CHUNKS + SECOND)

    assert _status(answer) == 201
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer


def test_headers_have_a_bound(collector):
    """16 KiB are more than any sender needs."""
    assert _status(collector.raw(POST + b"X: " + b"a" * 70_000 + b"\r\n\r\n")) == 431


@pytest.mark.parametrize("reset", [True, False])
@pytest.mark.parametrize(
    "cut",
    [POST + LENGTH + b"\r\n" + RAW[:50], POST + CHUNKED + b"\r\n" + CHUNKS[:50], POST[:30]],
    ids=["declared", "chunked", "headers"],
)
def test_a_sender_that_vanishes_leaves_no_event_and_no_traceback(collector, cut, reset):
    """Half an event is none, and no reason for noise."""
    before = _count(collector)
    connection = socket.create_connection(("127.0.0.1", collector.port))
    connection.sendall(cut)
    _close(connection, reset=reset)

    assert CLIENT.get(f"{collector.url}/readyz").status_code == 200
    assert _count(collector) == before
    assert "Traceback" not in collector.log()


def test_a_sender_that_hangs_up_before_its_answer_may_come_again(collector):
    """Stored or not, it was not acknowledged; the repeat is acknowledged, and one row."""
    raw = new_body()
    for _ in range(20):
        connection = socket.create_connection(("127.0.0.1", collector.port))
        connection.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
        connection.close()

    assert collector.post(raw).status_code == 201
    assert collector.rows("SELECT body FROM event").count((raw,)) == 1
    assert "Traceback" not in collector.log()


def test_many_idle_connections_do_not_keep_a_good_one_out(collector):
    """1,000 connections that ask nothing; each is closed at its deadline."""
    idle = [socket.create_connection(("127.0.0.1", collector.port)) for _ in range(1_000)]

    assert collector.post(new_body()).status_code == 201
    assert {read_to_end(connection) for connection in idle} == {b""}
    for connection in idle:
        connection.close()


def test_posts_side_by_side_are_each_answered(start):
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
