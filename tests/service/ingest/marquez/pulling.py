"""Puller between a fake Marquez and a collector that a test brings."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine

from service.ingest.backfill import BatchSender, RecordedEvent
from service.ingest.marquez.client import Marquez
from service.ingest.marquez.event_identity import DeliveredEvents
from service.ingest.marquez.pull import Puller
from service.ingest.marquez.store import Store
from service.runtime.settings import Settings
from tests.fakes.marquez import FakeMarquez
from tests.service.ingest.marquez.beside import NOON, marquez_settings


class Hands:
    """Clock that a test moves."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now
        self.ahead = timedelta(0)

    def __call__(self) -> datetime:
        """Return the time of a clock that may be wrong."""
        return self.now + self.ahead

    def monotonic(self) -> float:
        """Return the seconds of a clock that nobody sets."""
        return self.now.timestamp()


class Taking(BatchSender):
    """Stand-in for the collector: accepts everything, in the order of arrival."""

    def __init__(self) -> None:
        super().__init__(Settings())
        self.bodies: list[bytes] = []

    def _post(self, batch: list[RecordedEvent]) -> None:
        self.bodies += [event.body for event in batch]
        self.report.taken += len(batch)


def pull(
    marquez: FakeMarquez,
    engine: Engine,
    sender: BatchSender,
    clock: Hands,
    work: Callable[[Puller], Awaitable[Any]],
) -> None:
    """Do something with a puller that has just been started."""

    async def run() -> None:
        client = Marquez(marquez_settings(marquez))
        try:
            given = (client, sender, Store(engine))
            puller = Puller(*given, seen=DeliveredEvents(), clock=clock, monotonic=clock.monotonic)
            await work(puller)
        finally:
            await client.close()

    asyncio.run(run())
