"""M7 query latency: times every lineage query that the API answers.

Handlers that answer one say so by `query=` in their decorator. From the request's headers to the
last byte of its answer, waiting for a thread included. Who went away before half a second was over
had no answer and none that was too slow: unknown.
"""

import time

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from lineage.process.clock import Clock, to_micros
from lineage.states import QUERY_LATENCY
from service.api.served.counter_buffer import CountBatch, CountedOutcome, CounterBuffer, Series
from service.api.served.disconnect import DisconnectWatcher, is_last

QUERIES_METRIC = "lineage_query_seconds"
BACKEND = "lineward"
GOOD_BELOW_SECONDS = 0.5
PROBE = "probe"
_PROBE_HEADER = b"lineward-probe"
_NOT_ASKED = (400, 401, 403)  # no query was run: there is nothing whose latency it would be
_FAILED = 500


class Took(msgspec.Struct, frozen=True):
    """Duration of a response, and when its client left, if it did; seconds."""

    seconds: float
    left_after_seconds: float | None = None


class QueryTimer:
    """ASGI middleware; what it adds is in memory."""

    def __init__(self, app: ASGIApp, counts: CounterBuffer, clock: Clock) -> None:
        self._app = app
        self._counts = counts
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and note how long that took."""
        query = scope["route_handler"].opt.get("query")
        if query is None:
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), _FAILED
        left_after: float | None = None

        async with DisconnectWatcher(receive) as listening:

            async def watched(message: Message) -> None:
                nonlocal status, left_after
                if message["type"] == "http.response.start":
                    status = message["status"]
                elif is_last(message):
                    # Behind it, every receiver gets a disconnect.
                    left_after = listening.left_after_seconds
                await send(message)

            try:
                await self._app(scope, listening.receive, watched)
            finally:
                name = PROBE if _is_probe(scope) else str(query)
                took = Took(time.perf_counter() - started, left_after)
                self._counts.add(judge_query(name, status, took, to_micros(self._clock())))


def judge_query(query: str, status: int, took: Took, at: int) -> CountBatch:
    """Count one answer: in the histogram, and in M7 unless it was a probe or ran no query.

    A response that no client waited for is in no histogram, unless it was late when they left.
    """
    batch = CountBatch()
    if status in _NOT_ASKED:
        return batch
    outcome = _outcome(status, took)
    if outcome != "unknown":
        batch.observe(Series(QUERIES_METRIC, BACKEND, query), took.seconds)
    if query != PROBE:
        batch.count(QUERY_LATENCY, at, outcome)
    return batch


def _outcome(status: int, took: Took) -> CountedOutcome:
    left = took.left_after_seconds
    if status >= _FAILED or (left is not None and left >= GOOD_BELOW_SECONDS):
        return "bad"
    if left is not None:
        return "unknown"
    return "good" if took.seconds < GOOD_BELOW_SECONDS else "bad"


def _is_probe(scope: Scope) -> bool:
    return any(name.lower() == _PROBE_HEADER for name, _ in scope["headers"])
