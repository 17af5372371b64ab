"""Batches and bodies are bounded in events, work and memory; other senders are served meanwhile."""

import asyncio
import gzip
import http.client
import itertools
import json
import os
import socket
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import msgspec
import pytest

from collector import batch
from collector.errors import BusyError, ClientGoneError
from collector.in_flight import InFlight
from collector.parser import EventParser
from collector.settings import Limits
from tests.collector.bodies import body, new_body, run_event, with_facet
from tests.collector.running import Collector
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

BATCH = "/api/v1/lineage/batch"
_MAX_BYTES = 300 << 20
_DEADLINE_SECONDS = 3
_ELEMENTS = {
    "numbers": b"7,",
    "nulls": b"null,",
    "objects": b"{},",
    "texts": b'"x",',
    "arrays": b"[[]],",
}


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    """Yield a collector that waits longer than the others: the bodies here are large."""
    folder = tmp_path_factory.mktemp("collector") / "data"
    running = Collector(folder, read_deadline_seconds=_DEADLINE_SECONDS)
    yield running.ready()
    running.kill()


def _array(element: bytes, count: int) -> bytes:
    return b"[" + (element * count)[:-1] + b"]"


@contextmanager
def _another_sender(collector):
    """Post events in another thread, and return the statuses."""
    statuses, done = [], threading.Event()

    def send():
        while not done.is_set():
            statuses.append(collector.post(new_body()).status_code)

    thread = threading.Thread(target=send)
    thread.start()
    yield statuses
    done.set()
    thread.join(60)


def _side_by_side(calls):
    answers = []
    threads = [threading.Thread(target=lambda c=call: answers.append(c())) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return answers


@pytest.mark.parametrize("element", _ELEMENTS.values(), ids=_ELEMENTS)
def test_batches_of_tiny_values_are_rejected_within_the_memory(collector, element):
    """Reject four batches at once that inflate a few kilobytes to millions of elements."""
    bomb = gzip.compress(_array(element, (10 << 20) // len(element) - 1), 9)

    with _another_sender(collector) as statuses:
        answers = _side_by_side([lambda: collector.post(bomb, BATCH, content_encoding="gzip")] * 4)

    assert {answer.status_code for answer in answers} == {413}
    assert "1000000 JSON values" in answers[0].json()["detail"]
    assert collector.peak_bytes() < _MAX_BYTES
    assert set(statuses) == {201}


def test_the_answer_names_the_bound_on_events_of_a_batch(collector):
    """Store the head of such a batch, as of every rejected body."""
    raw = _array(b"1,", 10_001)

    answer = collector.post(raw, BATCH)

    detail = "$: 10001 events; the maximum of a batch is 10000: split it"
    assert (answer.status_code, answer.json()["detail"]) == (413, detail)
    kept = collector.rows("SELECT reason, detail, body_bytes FROM rejected")
    assert ("too_many", detail, len(raw)) in kept


@pytest.mark.parametrize("facet", [b'{"":1},', b"1.5,", b'{"a":1,"a":2},', b'"\xf0\x9f\x98\x80",'])
def test_one_event_of_many_values_is_rejected_within_the_memory(collector, facet):
    """Reject ten megabytes of JSON that would be hundreds as objects."""
    bomb = with_facet(_array(facet, (10 << 20) // len(facet) - 100).decode())

    with _another_sender(collector) as statuses:
        answers = _side_by_side(
            [lambda: collector.post(gzip.compress(bomb), content_encoding="gzip")] * 3
        )

    assert {answer.status_code for answer in answers} <= {413, 503}
    assert collector.peak_bytes() < _MAX_BYTES
    assert set(statuses) == {201}


def test_events_just_within_the_bound_of_values_stay_within_the_memory(collector):
    """Accept the most expensive events within the bound, beside the pages of SQLite's cache."""
    for _ in range(45):
        assert collector.post(with_facet('"' + os.urandom(450_000).hex() + '"')).status_code == 201
    unit = b'{"a":{"b":1}},'
    large = with_facet(_array(unit, 999_900 // unit.count(b"{") // 2).decode())
    packed = [gzip.compress(large + b" " * n, 1) for n in range(6)]

    answers = _side_by_side(
        [lambda one=one: collector.post(one, content_encoding="gzip") for one in packed]
    )

    statuses = [answer.status_code for answer in answers]
    assert set(statuses) <= {201, 503}
    assert 201 in statuses
    assert collector.peak_bytes() < _MAX_BYTES


@pytest.fixture
def strict(start):
    """Start a collector with small bounds on batches."""
    return start(max_batch_rejected=3, max_batch_events=50).ready()


def _commits(collector):
    text = CLIENT.get(f"{collector.url}/metrics").text
    (line,) = [
        row for row in text.splitlines() if row.startswith("lineage_collector_commit_seconds_count")
    ]
    return float(line.split()[-1])


def test_a_batch_is_judged_until_too_many_of_its_events_are_rejected(strict):
    """Report the events behind them as not judged, so that they may be sent again."""
    good = [json.loads(new_body()) for _ in range(4)]
    sent = [good[0], 1, good[1], {}, [], good[2], 4, good[3]]

    answer = strict.post(body(sent), BATCH).json()

    assert answer["summary"] == {
        "received": 8,
        "successful": 2,
        "failed": 6,
        "retriable": 3,
        "non_retriable": 3,
    }
    again = [one["index"] for one in answer["failed_events"] if one["retriable"]]
    assert again == [5, 6, 7]
    kept = [json.loads(row[0]) for row in strict.rows("SELECT body FROM event ORDER BY seq")]
    assert kept == good[:2]
    assert strict.post(body([sent[index] for index in again]), BATCH).status_code == 200
    assert strict.rows("SELECT count(*) FROM event") == [(4,)]


def test_accepted_and_rejected_events_of_a_batch_are_one_commit(strict):
    """Commit once, as an fsync for each rejected element would take hours."""
    before = _commits(strict)

    strict.post(body([json.loads(new_body()), 1, 2]), BATCH)

    assert _commits(strict) - before == 1
    assert strict.rows("SELECT count(*) FROM rejected") == [(2,)]


class _Sender:
    """Client that disconnects when the test decides."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def client_disconnect(self):
        await self.gone.wait()


async def _judge(parser, raw, sender):
    return await batch.judge(await batch.split(raw, parser), parser, "http", sender)


def test_the_work_on_a_batch_ends_with_its_client():
    """Stop soon after the client has gone, and store no event."""
    parsed = []

    class Counting(EventParser):
        async def parse(self, raw):
            parsed.append(raw)
            return await super().parse(raw)

    async def scenario():
        parser, sender = Counting(Limits()), _Sender()
        sender.gone.set()
        with pytest.raises(ClientGoneError):
            await _judge(parser, body([run_event()] * 5_000), sender)

    asyncio.run(scenario())
    assert len(parsed) < 1_000


def test_a_batch_of_a_connected_client_is_judged_to_its_end():
    """Judge all events, unlike in the test before."""

    async def scenario():
        return await _judge(EventParser(Limits()), body([run_event()] * 5_000), _Sender())

    assert len(asyncio.run(scenario()).taken) == 5_000


def test_a_large_batch_leaves_as_much_time_as_it_takes(monkeypatch):
    """Pause after each turn for its duration: the writer needs Python's lock to store others."""
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    clock = SimpleNamespace(monotonic=itertools.count(0, 3).__next__)
    loop = SimpleNamespace(sleep=pause, ensure_future=asyncio.ensure_future)
    monkeypatch.setattr(batch, "time", clock)
    monkeypatch.setattr(batch, "asyncio", loop)

    asyncio.run(_judge(EventParser(Limits()), body([run_event()] * 2_000), _Sender()))

    assert len(pauses) > 3
    assert set(pauses) == {3}


@pytest.mark.parametrize(
    ("held", "more", "fits"), [(0, 999, True), (60, 40, True), (60, 41, False)]
)
def test_bytes_in_flight_are_bounded_except_for_a_single_body(held, more, fits):
    """Accept a single body that is larger than the bound."""
    in_flight = InFlight(100)
    with in_flight.reserve() as other, in_flight.reserve() as own:
        other.add(held)
        if fits:
            own.add(more)
        else:
            with pytest.raises(BusyError):
                own.add(more)
        assert in_flight.bytes == held + more * fits
    assert in_flight.bytes == 0


def _half(port, size, sent):
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    head = f"POST {BATCH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n"
    connection.sendall(head.encode() + b" " * sent)
    return connection


def test_large_bodies_in_flight_are_bounded_and_small_ones_are_served(start):
    """Delay only other large bodies, which may be sent again, when senders are slow."""
    collector = start(max_in_flight_bytes=2_000_000).ready()
    slow = [_half(collector.port, 900_000, 890_000) for _ in range(2)]
    _until_held(collector, 1_700_000)

    rejection = collector.post(body([json.loads(new_body())] * 2_000), BATCH)
    small = [collector.post(new_body()).status_code for _ in range(20)]

    assert (rejection.status_code, rejection.headers["retry-after"]) == (503, "1")
    assert rejection.json()["error"] == "BusyError"
    assert small == [201] * 20
    for connection in slow:
        connection.close()
    _until_held(collector, 0)
    assert collector.post(body([json.loads(new_body())] * 1_000), BATCH).status_code == 204


def test_inflated_bytes_count_as_in_flight(start):
    """Reject a few kilobytes that would become a megabyte, while there is no room for that."""
    collector = start(max_in_flight_bytes=2_000_000).ready()
    slow = [_half(collector.port, 700_000, 600_000) for _ in range(2)]
    _until_held(collector, 1_200_000)
    packed = gzip.compress(with_facet('"' + "x" * 900_000 + '"'))

    rejection = collector.post(packed, content_encoding="gzip")

    assert (len(packed) < 10_000, rejection.status_code) == (True, 503)
    assert rejection.json()["error"] == "BusyError"
    for connection in slow:
        connection.close()
    _until_held(collector, 0)
    assert collector.post(packed, content_encoding="gzip").status_code == 201


def _until_held(collector, at_least):
    def held():
        text = CLIENT.get(f"{collector.url}/metrics").text
        (line,) = [
            row for row in text.splitlines() if row.startswith("lineage_collector_in_flight")
        ]
        return float(line.split()[-1])

    until(lambda: held() >= at_least if at_least else held() == 0)


def _post_with_http_client(collector, raw, path="/api/v1/lineage", **headers: str):
    """Post as Python's client does, which sends the whole body before it reads an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=60)
    connection.request("POST", path, raw, headers)
    answer = connection.getresponse()
    text = msgspec.json.decode(answer.read())
    connection.close()
    return answer.status, text


@pytest.mark.parametrize("size", [1_048_577, 10 << 20, 40 << 20])
def test_an_ordinary_client_sees_that_its_body_is_too_large(collector, size):
    """Store the head of the body with the size of all of it."""
    raw = with_facet('"' + "x" * size + '"')

    status, answer = _post_with_http_client(collector, raw)

    assert (status, answer["error"]) == (413, "TooLargeError")
    assert "1048576 bytes" in answer["detail"]
    kept = collector.rows("SELECT body, body_bytes FROM rejected WHERE reason = 'too_large'")
    assert (raw[:65_536], len(raw)) in kept


def test_a_slow_client_sees_that_its_body_is_too_large(collector):
    """Send for longer than the read deadline, never so long without a byte."""

    def send_slowly():
        yield b"s" * 1_200_000
        for _ in range(26):
            time.sleep(_DEADLINE_SECONDS / 20)
            yield b"s" * 50_000

    status, answer = _post_with_http_client(collector, send_slowly())

    assert (status, answer["error"]) == (413, "TooLargeError")
    kept = collector.rows("SELECT body, body_bytes FROM rejected WHERE reason = 'too_large'")
    assert (b"s" * 65_536, 2_500_000) in kept


def test_a_large_body_in_chunks_is_answered_too(collector):
    """Answer 413 for a body whose length is not known in advance."""
    parts = [b"y" * 100_000 for _ in range(60)]

    status, answer = _post_with_http_client(collector, iter(parts))

    assert (status, answer["error"]) == (413, "TooLargeError")
    kept = collector.rows("SELECT body, body_bytes FROM rejected WHERE reason = 'too_large'")
    assert (b"y" * 65_536, 6_000_000) in kept


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/v1/linage", {}, 404),
        ("/livez", {}, 405),
        ("/api/v1/lineage", {"Content-Encoding": "br"}, 415),
        ("/api/v1/lineage", {"Host": "evil.example"}, 400),
        ("/api/v1/lineage", {"Origin": "https://evil.example"}, 403),
    ],
)
def test_a_rejection_by_headers_is_answered_after_a_large_body(collector, path, headers, status):
    """Answer after the body, as a client that only sees a reset learns nothing."""
    assert _post_with_http_client(collector, b"z" * 9_000_000, path, **headers)[0] == status


def test_a_client_that_expects_100_continue_is_answered_without_its_body(collector):
    """Answer `Expect: 100-continue` with the rejection, without asking for the body."""
    head = b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"

    answer = collector.raw(head + b"Content-Length: 9000000\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 413 ")
