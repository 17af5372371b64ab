"""Commits of requests: rows go from the event loop to the spool's thread; requests wait."""

import asyncio
import sqlite3
from collections.abc import Sequence

from collector import metrics
from collector.errors import UnavailableError
from collector.events import ValidEvent
from collector.spool import Spool
from collector.writes import Rejected, WriteRequest

_Waiter = asyncio.Future[None]


class SpoolCommits:
    """Commits of events to the spool: `store` returns when they are durable."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._spool: Spool | None = None
        self._gathered: list[WriteRequest] = []
        self._reason = "the spool is being opened: send the event again"

    def attach(self, spool: Spool) -> None:
        """Send rows there from now on."""
        self._spool = spool

    def explain(self, reason: str) -> None:
        """Say why nothing can be stored now."""
        self._reason = reason

    async def store(
        self,
        events: Sequence[ValidEvent],
        origin: str,
        *,
        rejected: Sequence[Rejected] = (),
        requeued: int | None = None,
    ) -> None:
        """Store events and rejected bodies in one commit, in their order.

        Args:
            events: valid ones; repeats of stored ones are no error.
            origin: of `lineage.origins`.
            rejected: are kept with their reasons.
            requeued: number under which the first was kept as rejected, and is no more.

        Raises:
            UnavailableError: the spool could not; nothing of them is kept, and the sender is asked
                to come again.
        """
        spool = self._ready()
        waiter: _Waiter = self._loop.create_future()
        rows = tuple(spool.event_row(event, origin) for event in events)
        kept = tuple(spool.rejected_row(one) for one in rejected)
        struck = () if requeued is None else ((requeued, events[0].body),)
        self._submit(spool, WriteRequest(rows, kept, waiter, struck))
        await waiter
        if repeats := sum(event.duplicate_keys for event in events):
            metrics.DUPLICATE_KEYS.inc(repeats)

    def _submit(self, spool: Spool, write: WriteRequest) -> None:
        # What one turn of the event loop brings shares an fsync, and one waking of the writer.
        if not self._gathered:
            self._loop.call_soon(self._submit_gathered, spool)
        self._gathered.append(write)

    def _submit_gathered(self, spool: Spool) -> None:
        writes, self._gathered = self._gathered, []
        spool.submit(*writes)

    def _ready(self) -> Spool:
        if self._spool is None or self._spool.broken.is_set():
            raise UnavailableError(self._reason)
        return self._spool

    def committed(self, group: list[WriteRequest], stored: int, seconds: float) -> None:
        """Complete the requests of a committed group, as `writes.Observer` says."""
        if group:
            events = sum(len(write.events) for write in group)
            metrics.EVENTS.labels("stored").inc(stored)
            metrics.EVENTS.labels("duplicate").inc(events - stored)
            metrics.COMMIT_SECONDS.observe(seconds)
            self._loop.call_soon_threadsafe(_wake, group, None)

    def failed(self, group: list[WriteRequest], error: sqlite3.Error) -> None:
        """Fail the requests of a group, as `writes.Observer` says."""
        metrics.COMMIT_FAILURES.inc()
        self._loop.call_soon_threadsafe(_wake, group, error)


def _wake(group: list[WriteRequest], error: sqlite3.Error | None) -> None:
    for write in group:
        waiter = write.ticket
        # A sender that went away has cancelled its future; its event is stored all the same.
        if not isinstance(waiter, asyncio.Future) or waiter.done():
            continue
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(UnavailableError(f"the spool could not store the event: {error}"))
