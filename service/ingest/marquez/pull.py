"""Pull from Marquez to our collector: events of other producers, again and again some way back.

Marquez knows an event's own time, not when it arrived: one that comes late lies
before whatever was read last. So every round reads the last minute again, and some the last hour
and the last day. What is known already is dropped here or, after a restart, by spool and pipeline.

`load` reads a span of the past once, as history: it teaches cadences and lineage, and never counts.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from lineage.origins import MARQUEZ_HISTORY
from lineage.periods import Monotonic, Period
from lineage.process.clock import SECOND_MICROS, Clock, to_micros
from service.ingest.backfill import BackfillReport, BatchSender, RecordedEvent
from service.ingest.collector_spool import latest_bodies
from service.ingest.marquez.client import (
    FAR_FUTURE,
    Marquez,
    MarquezError,
    events_between,
    next_after,
)
from service.ingest.marquez.event_identity import DeliveredEvents, Pulled, valid_core
from service.ingest.marquez.settings import MarquezSettings
from service.ingest.marquez.store import PullState, Store, in_catalog
from service.runtime.settings import Settings

_SEEDS = 50_000
_AHEAD_SECONDS = 300.0  # clocks of producers; what is further ahead waits for a deep round

_ATTEMPTS = 8
_LONGEST_WAIT_SECONDS = 10.0


class Overlap(msgspec.Struct, frozen=True):
    """Range of a round, and its interval."""

    back_seconds: float
    every_seconds: float


# At the 30 events a second that it takes, a day is 13 GB of answers: not every ten seconds.
OVERLAPS = (Overlap(60, 0), Overlap(3_600, 600), Overlap(86_400, 21_600))


class _Span(msgspec.Struct):
    """Range of one round, µs: however often it is broken off, it counts as read at `now`.

    Attributes:
        now: when it began: what came to Marquez since then is for the next one.
        through: how far had been read before it.
        after: all before that is with the collector, and is not read again.
        before: where it ends.
        due: which overlaps it is.
    """

    now: int
    through: int
    after: int
    before: int
    due: list[Overlap]


class Puller:
    """Reader of one Marquez; the position is in the catalog."""

    def __init__(  # noqa: PLR0913 - whom it asks and whom it hands to, by name
        self,
        marquez: Marquez,
        sender: BatchSender,
        store: Store,
        *,
        seen: DeliveredEvents,
        clock: Clock,
        monotonic: Monotonic = time.monotonic,
    ) -> None:
        self._marquez = marquez
        self._spool = sender.settings.spool
        self._is_seeded = False
        self._store = store
        self._sender = sender
        self._seen = seen
        self._clock = clock
        self._unread: _Span | None = None
        self._periods = {overlap: Period(overlap.every_seconds, monotonic) for overlap in OVERLAPS}

    async def round(self) -> int:
        """Read once, as far back as is due; return how many events were new.

        Raises:
            MarquezError: it did not answer; the next round goes on where it broke off.
            NotRunningError: the collector did not answer; likewise.
        """
        if not self._is_seeded:
            await asyncio.to_thread(self._seed)
        span = self._unread = self._unread or await self._next_span()
        taken = 0
        async for page in events_between(self._marquez, span.after, span.before):
            took, left = await self._land(page)
            taken += took
            span.after = next_after(page, span.after)
            await self._note(max(span.through, min(span.after, span.now)), took, left)
        await self._note(span.now, 0, 0)
        for overlap in span.due:
            with self._periods[overlap].turn():
                pass
        self._unread = None
        return taken

    async def _next_span(self) -> _Span:
        now = to_micros(self._clock())
        state: PullState = await in_catalog(self._store.pull_state, self._marquez.url, now)
        due = [overlap for overlap, period in self._periods.items() if period.is_due()]
        back_seconds = max(overlap.back_seconds for overlap in due)
        # A clock that was ahead may have noted times that have not come yet.
        started, through = min(state.started_at, now), min(state.through, now)
        after = max(started, through - int(back_seconds * SECOND_MICROS))
        is_deep = len(due) > 1
        before = FAR_FUTURE if is_deep else now + int(_AHEAD_SECONDS * SECOND_MICROS)
        return _Span(now, through, after, before, due)

    async def _note(self, through: int, taken: int, rejected: int) -> None:
        url = self._marquez.url
        await in_catalog(self._store.note_pulled, url, through, taken=taken, rejected=rejected)

    def _seed(self) -> None:
        """Mark what the spool had before the start as known: it need not be pulled."""
        for body in latest_bodies(self._spool, _SEEDS):
            self._seen.add(valid_core(body).identity())
        self._is_seeded = True

    async def _land(self, page: list[Pulled]) -> tuple[int, int]:
        report = self._sender.report
        before = report.taken, report.rejected
        await send_unseen(self._sender, self._seen, page)
        return report.taken - before[0], report.rejected - before[1]


async def send_unseen(sender: BatchSender, seen: DeliveredEvents, page: Sequence[Pulled]) -> None:
    """Post what is new to us; it is known from then on, durable or rejected.

    Raises:
        NotRunningError: the collector did not answer.
    """
    fresh = {identity: event for event in page if (identity := event.known.identity()) not in seen}
    await asyncio.to_thread(_send_all, sender, list(fresh.values()))
    for identity in fresh:
        seen.add(identity)


def _send_all(sender: BatchSender, events: Sequence[Pulled]) -> None:
    # In place of a file, a rejection names the run.
    recorded = (
        RecordedEvent(Path(event.known.whose), position, event.body)
        for position, event in enumerate(events, start=1)
    )
    for _ in sender.send(recorded):
        pass


async def pull_window(
    settings: Settings, marquez_settings: MarquezSettings, after: int, before: int
) -> BackfillReport:
    """Send all events of [after, before), µs of the producers' time, in the order of that time.

    Raises:
        MarquezError: it failed several times; the same span again repeats nothing.
        NotRunningError: the collector did not answer.
    """
    sender = BatchSender(settings, origin=MARQUEZ_HISTORY)
    sender.require_collector()
    marquez = Marquez(marquez_settings)
    longest = min(_LONGEST_WAIT_SECONDS, marquez_settings.longest_wait_seconds)
    retrying = AsyncRetrying(
        retry=retry_if_exception_type(MarquezError),
        wait=wait_random_exponential(0.5, max=longest),
        stop=stop_after_attempt(_ATTEMPTS),
        reraise=True,
    )
    try:
        await retrying(_Loading(marquez, sender, after).go_on, before)
    finally:
        await marquez.close()
    return sender.report


class _Loading:
    """Progress of the load, so that a failure does not begin the span again."""

    def __init__(self, marquez: Marquez, sender: BatchSender, after: int) -> None:
        self._marquez = marquez
        self._sender = sender
        self._reached = after
        self._seen = DeliveredEvents()

    async def go_on(self, before: int) -> None:
        async for page in events_between(self._marquez, self._reached, before):
            await send_unseen(self._sender, self._seen, page)
            self._reached = next_after(page, self._reached)
