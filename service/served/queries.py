"""M7 query latency: times every lineage query that the API answers.

Handlers that answer one say so by `query=` in their decorator. From the request's headers to the
last byte of its answer, waiting for a thread included.
"""

import time

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from lineage.clock import Clock, to_micros
from lineage.states import QUERY_LATENCY
from service.served.tallies import Batch, Series, Tallies

METRIC = "lineage_query_seconds"
BACKEND = "lineward"
GOOD_BELOW_SECONDS = 0.5
PROBE = "probe"
_PROBE_HEADER = b"lineward-probe"
_NOT_ASKED = (400, 401, 403)  # no query was run: there is nothing whose latency it would be
_FAILED = 500


class QueryTimer:
    """ASGI middleware; what it adds is in memory."""

    def __init__(self, app: ASGIApp, tallies: Tallies, clock: Clock) -> None:
        self._app = app
        self._tallies = tallies
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and note how long that took."""
        query = scope["route_handler"].opt.get("query")
        if query is None:
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), _FAILED

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            name = PROBE if _is_probe(scope) else str(query)
            seconds = time.perf_counter() - started
            self._tallies.add(judged(name, status, seconds, to_micros(self._clock())))


def judged(query: str, status: int, seconds: float, at: int) -> Batch:
    """What one answer adds: to the histogram, and to M7 unless it was a probe or no query ran."""
    batch = Batch()
    if status in _NOT_ASKED:
        return batch
    batch.observe(Series(METRIC, BACKEND, query), seconds)
    if query != PROBE:
        is_good = status < _FAILED and seconds < GOOD_BELOW_SECONDS
        batch.count(QUERY_LATENCY, at, "good" if is_good else "bad")
    return batch


def _is_probe(scope: Scope) -> bool:
    return any(name.lower() == _PROBE_HEADER for name, _ in scope["headers"])
