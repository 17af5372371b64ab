"""Marquez role: forwarding, and beside it the jobs that pull, probe and compare."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import structlog

from lineage.catalog.engine import migrate, open_catalog
from lineage.errors import RequestError
from lineage.origins import MARQUEZ
from lineage.process.clock import Clock, system_clock
from service.ingest.backfill import BatchSender
from service.ingest.marquez.checks import Comparer, Prober
from service.ingest.marquez.client import Marquez
from service.ingest.marquez.deliver import EventSender
from service.ingest.marquez.event_identity import DeliveredEvents
from service.ingest.marquez.forward import Forwarder
from service.ingest.marquez.pull import Puller
from service.ingest.marquez.settings import MarquezSettings
from service.ingest.marquez.store import Store, in_catalog
from service.runtime.jobs import JobGroup, JobsFile, TryAgainError
from service.runtime.scheduler import JobRegistry
from service.runtime.settings import Settings

_FIRST_COMPARISON_SECONDS = 360.0  # sooner nothing of ours has settled
_SENDER_SECONDS = 5.0
_log = structlog.get_logger()
Round = Callable[[], Awaitable[object]]


async def serve_marquez(
    settings: Settings,
    marquez_settings: MarquezSettings,
    stop: asyncio.Event,
    clock: Clock = system_clock,
) -> None:
    """Work until stopped; finish what is in flight."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    engine = open_catalog(settings.catalog)
    marquez = Marquez(marquez_settings)
    try:
        await in_catalog(migrate, engine)
        _log.info(
            "marquez_started",
            url=marquez.url,
            forward=marquez_settings.forward,
            pull=marquez_settings.pull,
        )
        await _work(settings, marquez_settings, marquez, Store(engine), stop=stop, clock=clock)
    finally:
        await marquez.close()
        engine.dispose()


async def _work(  # noqa: PLR0913 - what the role consists of
    settings: Settings,
    marquez_settings: MarquezSettings,
    marquez: Marquez,
    store: Store,
    *,
    stop: asyncio.Event,
    clock: Clock,
) -> None:
    seen = DeliveredEvents()
    registry = JobRegistry("marquez", report=JobsFile(settings.data_dir, "marquez"), clock=clock)
    rounds = list(_rounds(settings, marquez_settings, marquez, store, seen=seen, clock=clock))
    for each in rounds:
        registry.add(each.group)
    registry.start()
    try:
        if marquez_settings.forward:
            sender = EventSender(marquez, marquez_settings)
            await Forwarder(settings.spool, store, sender, seen=seen, clock=clock).run(stop)
        await stop.wait()
    finally:
        for each in rounds:
            each.cancel()
        # The rounds end on this loop: it must go on until each thread has seen that.
        await asyncio.to_thread(registry.stop)


def _rounds(  # noqa: PLR0913 - what the role consists of
    settings: Settings,
    marquez_settings: MarquezSettings,
    marquez: Marquez,
    store: Store,
    *,
    seen: DeliveredEvents,
    clock: Clock,
) -> Iterator["_Rounds"]:
    """Return the periodic rounds."""
    loop = asyncio.get_running_loop()
    prober = Prober(marquez, store, settings.spool, clock)
    comparer = Comparer(marquez, store, clock)
    first = min(_FIRST_COMPARISON_SECONDS, marquez_settings.compare_seconds)
    yield _Rounds(loop, "probe", prober.round, marquez_settings.probe_seconds)
    yield _Rounds(
        loop, "compare", comparer.round, marquez_settings.compare_seconds, first_seconds=first
    )
    if marquez_settings.pull:
        # A round that fails comes again: its retries need not be long.
        sender = BatchSender(settings, origin=MARQUEZ, retry_seconds=_SENDER_SECONDS)
        puller = Puller(marquez, sender, store, seen=seen, clock=clock)
        yield _Rounds(loop, "pull", puller.round, marquez_settings.pull_seconds)


class _Rounds:
    """Rounds of one kind as a job: its thread waits while a round runs on the role's loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        name: str,
        round_: Round,
        seconds: float,
        *,
        first_seconds: float = 0.0,
    ) -> None:
        self._loop, self._round = loop, round_
        self._task: asyncio.Task[None] | None = None
        self._is_cancelled = False
        self.group = JobGroup(
            name=f"marquez_{name}",
            jobs=(f"marquez_{name}",),
            tasks=lambda: (self._run,),
            every_seconds=seconds,
            first_seconds=first_seconds,
        )

    def cancel(self) -> None:
        """End the round that goes on, and begin no other.

        A round may be cut anywhere: the next one, of whatever process, begins where it did.
        """
        self._is_cancelled = True
        if self._task is not None:
            self._task.cancel()

    def _run(self) -> None:
        asyncio.run_coroutine_threadsafe(self._work(), self._loop).result()

    async def _work(self) -> None:
        """Run one round.

        Raises:
            TryAgainError: Marquez or the collector did not answer: the next round tries again.
        """
        if self._is_cancelled:
            return
        self._task = asyncio.current_task()
        try:
            await self._round()
        except asyncio.CancelledError:
            if not self._is_cancelled:
                raise
        except RequestError as error:
            raise TryAgainError(f"{type(error).__name__}: {error}") from error
        finally:
            self._task = None
