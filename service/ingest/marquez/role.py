"""Marquez role: forwarding, pulling, probing and comparing beside each other in one process."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

import structlog

from lineage.catalog.engine import migrate, open_catalog
from lineage.origins import MARQUEZ
from lineage.process.clock import Clock, system_clock
from service.errors import ServiceError
from service.ingest.backfill import Sender
from service.ingest.marquez.client import Marquez
from service.ingest.marquez.compare import Comparer
from service.ingest.marquez.deliver import EventSender, pause
from service.ingest.marquez.forward import Forwarder
from service.ingest.marquez.known import Seen
from service.ingest.marquez.probe import Prober
from service.ingest.marquez.pull import Puller
from service.ingest.marquez.settings import MarquezSettings
from service.ingest.marquez.store import Store, in_catalog
from service.runtime.settings import Settings

_FIRST_COMPARISON_SECONDS = 360.0  # sooner nothing of ours has settled
_SENDER_SECONDS = 5.0
_log = structlog.get_logger()
Work = Callable[[asyncio.Event], Coroutine[None, None, None]]
Round = Callable[[], Awaitable[object]]


async def serve(
    settings: Settings, bounds: MarquezSettings, stop: asyncio.Event, clock: Clock = system_clock
) -> None:
    """Work until stopped; finish what is in flight."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    engine = open_catalog(settings.catalog)
    marquez = Marquez(bounds)
    try:
        await in_catalog(migrate, engine)
        _log.info("marquez_started", url=marquez.url, forward=bounds.forward, pull=bounds.pull)
        async with asyncio.TaskGroup() as group:
            for work in _works(settings, bounds, marquez, Store(engine), clock):
                group.create_task(work(stop))
    finally:
        await marquez.close()
        engine.dispose()


def _works(
    settings: Settings, bounds: MarquezSettings, marquez: Marquez, store: Store, clock: Clock
) -> list[Work]:
    seen = Seen()
    prober = Prober(marquez, store, settings.spool, clock)
    comparer = Comparer(marquez, store, clock)
    first = min(_FIRST_COMPARISON_SECONDS, bounds.compare_seconds)
    works = [
        _every(bounds.probe_seconds, prober.round),
        _every(bounds.compare_seconds, comparer.round, first_seconds=first),
    ]
    if bounds.forward:
        courier = EventSender(marquez, bounds)
        works.append(Forwarder(settings.spool, store, courier, seen=seen, clock=clock).run)
    if bounds.pull:
        # A round that fails comes again: its retries need not be long.
        sender = Sender(settings, origin=MARQUEZ, retry_seconds=_SENDER_SECONDS)
        puller = Puller(marquez, sender, store, seen=seen, clock=clock)
        works.append(_every(bounds.pull_seconds, puller.round))
    return works


def _every(seconds: float, round_: Round, *, first_seconds: float = 0.0) -> Work:
    """Do it again and again; what the other side did not answer is tried the next time."""

    async def work(stop: asyncio.Event) -> None:
        await pause(stop, first_seconds)
        while not stop.is_set():
            await _until_stopped(round_, stop)
            await pause(stop, seconds)

    return work


async def _until_stopped(round_: Round, stop: asyncio.Event) -> None:
    doing = asyncio.create_task(_tolerant(round_))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({doing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    # A round may be cut anywhere: the next one, of whatever process, begins where it did.
    left = stopping if doing.done() else doing
    left.cancel()
    await asyncio.wait({doing, stopping})
    if not doing.cancelled():
        doing.result()


async def _tolerant(round_: Round) -> None:
    try:
        await round_()
    except ServiceError as error:
        _log.warning("try_again", what=type(error).__name__, error=str(error)[:200])
