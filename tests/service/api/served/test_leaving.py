import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from lineage.process.clock import to_micros
from lineage.states import QUERY_LATENCY
from service.api.served import query_timer
from service.api.served.counter_buffer import CounterBuffer, flush_counts
from service.api.served.query_timer import Took
from tests.service import shop
from tests.service.commandline import answer

NOW = datetime.fromisoformat("2026-11-21T12:30:00+00:00")
AT = to_micros(NOW)
HOUR = to_micros(NOW.replace(minute=0))


@pytest.fixture
def counts() -> CounterBuffer:
    """Return counts that wait to be stored."""
    return CounterBuffer()


@pytest.mark.parametrize(
    ("status", "seconds", "left", "outcome"),
    [
        (200, 0.499, 0.1, "unknown"),
        (200, 9.0, 0.499, "unknown"),
        (200, 9.0, 0.5, "bad"),
        (500, 0.499, 0.1, "bad"),
    ],
)
def test_a_client_that_left_in_time_is_unknown(status, seconds, left, outcome):
    """Count an early departure as unknown, unless the answer was slow or a 500.

    An answer that nobody waited for is in no histogram.
    """
    batch = query_timer.judge_query("lineage", status, Took(seconds, left), AT)

    assert batch.outcomes == {(QUERY_LATENCY.id, HOUR, outcome): 1}
    assert bool(batch.buckets) == (outcome == "bad")


def test_unknown_queries_are_in_no_total(catalog, counts):
    """Count it separately; above a twentieth of the day, there is no ratio."""
    shop.fill(catalog)
    for left in (None, 0.1):
        counts.add(
            query_timer.judge_query("lineage", 200, Took(0.2, left), to_micros(datetime.now(UTC)))
        )
    flush_counts(catalog, counts)

    with catalog.connect() as connection:
        counter = text("SELECT sli, good, total, unknown FROM served_counter")
        assert [tuple(row) for row in connection.execute(counter)] == [("M7", 1.0, 1.0, 1.0)]
    (row,) = [row for row in answer("slis", catalog=catalog) if row["id"] == "M7"]
    assert (row["good"], row["total"], row["ratio"]) == (1, 1, None)


async def _run_query(left_at: str | None, counts: CounterBuffer) -> None:
    """Run a query whose client leaves while it runs, after the answer, or not at all."""
    leaving = asyncio.Event()
    inbox = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:  # noqa: ANN401 - ASGI
        if inbox:
            return inbox.pop()
        await leaving.wait()
        return {"type": "http.disconnect"}

    async def app(_scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
        assert (await receive())["type"] == "http.request"
        if left_at == "running":
            leaving.set()
            assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}", "more_body": False})
        leaving.set()  # as every server says behind the last byte

    async def send(_message: Any) -> None:  # noqa: ANN401 - ASGI
        """Raise as for a client that has left."""

    scope: Any = {"route_handler": SimpleNamespace(opt={"query": "lineage"}), "headers": []}
    timer = query_timer.QueryTimer(app, counts, lambda: NOW)  # type: ignore[arg-type]
    async with asyncio.timeout(10):
        await timer(scope, receive, send)


@pytest.mark.parametrize(("left_at", "outcome"), [("running", "unknown"), (None, "good")])
def test_a_client_that_leaves_is_noticed(counts, left_at, outcome):
    """Notice it before the last byte, after which every client leaves."""
    asyncio.run(_run_query(left_at, counts))

    assert counts.take().outcomes == {(QUERY_LATENCY.id, HOUR, outcome): 1}
