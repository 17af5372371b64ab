"""Marquez's past, loaded as history: it teaches cadences and lineage, and never counts."""

from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from lineage.origins import MARQUEZ_HISTORY
from service.ingest.backfill import BatchSender
from service.ingest.backfill_report import BackfillReport
from service.ingest.marquez.client import Marquez, MarquezError
from service.ingest.marquez.known import KnownEvents
from service.ingest.marquez.pull import send_unseen
from service.ingest.marquez.settings import MarquezSettings
from service.ingest.marquez.windows import events_between, next_after
from service.runtime.settings import Settings

_ATTEMPTS = 8
_LONGEST_WAIT_SECONDS = 10.0


async def load(
    settings: Settings, bounds: MarquezSettings, after: int, before: int
) -> BackfillReport:
    """Send all events of [after, before), µs of the producers' time, in the order of that time.

    Raises:
        MarquezError: it failed several times; the same span again repeats nothing.
        NotRunningError: the collector did not answer.
    """
    sender = BatchSender(settings, origin=MARQUEZ_HISTORY)
    sender.require_collector()
    marquez = Marquez(bounds)
    longest = min(_LONGEST_WAIT_SECONDS, bounds.longest_wait_seconds)
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
        self._seen = KnownEvents()

    async def go_on(self, before: int) -> None:
        async for page in events_between(self._marquez, self._reached, before):
            await send_unseen(self._sender, self._seen, page)
            self._reached = next_after(page, self._reached)
