"""Helpers that the tests beside a fake Marquez share: a spool to fill, a forwarder to run."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from collector.spool_file import open_spool
from lineage.process.clock import system_clock
from service.ingest.marquez.client import Marquez
from service.ingest.marquez.deliver import EventSender
from service.ingest.marquez.event_identity import DeliveredEvents
from service.ingest.marquez.forward import Forwarder
from service.ingest.marquez.settings import MarquezSettings
from service.ingest.marquez.store import Store
from tests.fakes.marquez import Event, FakeMarquez, minutes, run_event

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
_SECONDS = 90.0


def marquez_settings(marquez: FakeMarquez, **changes: Any) -> MarquezSettings:  # noqa: ANN401 - settings of any kind
    """Return settings for this Marquez, with short waits."""
    given = {"url": marquez.url, "longest_wait_seconds": 0.05, "timeout_seconds": 5.0}
    return MarquezSettings(**(given | changes))


def spool(folder: Path, events: Iterable[Event], *, origin: str = "http") -> None:
    """Append events to the spool in this folder, as its collector would."""
    with closing(open_spool(folder / "spool.db", 1 << 30)) as connection:
        for event in events:
            body = json.dumps(event).encode()
            connection.execute(
                "INSERT OR IGNORE INTO event (body_hash, received_at, origin, kind, body)"
                " VALUES (?, 0, ?, 'run', ?)",
                (hashlib.sha256(body).digest(), origin, body),
            )


def lives(runs: Iterable[int], *, kinds: tuple[str, ...] = ("START", "COMPLETE")) -> list[Event]:
    """Return events of these runs, interleaved: all first ones, then all second ones."""
    runs = list(runs)
    return [
        run_event(run, at=NOON + minutes(step), kind=kind)
        for step, kind in enumerate(kinds)
        for run in runs
    ]


def forward(
    folder: Path,
    engine: Engine,
    marquez: FakeMarquez,
    *,
    until: Callable[[], object],
    meanwhile: Callable[[], Awaitable[object]] | None = None,
    **changes: Any,  # noqa: ANN401 - as above
) -> None:
    """Run a forwarder until the condition holds, then stop it as a SIGTERM does."""

    async def run() -> None:
        client = Marquez(marquez_settings(marquez, **changes))
        sender = EventSender(client, marquez_settings(marquez, **changes))
        store = Store(engine)
        forwarder = Forwarder(
            folder / "spool.db", store, sender, seen=DeliveredEvents(), clock=system_clock
        )
        stop = asyncio.Event()
        running = asyncio.create_task(forwarder.run(stop))
        try:
            if meanwhile is not None:
                await meanwhile()
            await holds(until, running)
        finally:
            stop.set()
            await running
            await client.close()

    asyncio.run(run())


async def holds(condition: Callable[[], object], running: asyncio.Task[None] | None = None) -> None:
    """Wait for it while the process that it depends on runs."""
    async with asyncio.timeout(_SECONDS):
        while not condition():
            if running is not None and running.done():
                running.result()
            await asyncio.sleep(0.01)


def cursor(engine: Engine) -> int:
    """Return how far the catalog says that the spool was forwarded."""
    with engine.connect() as connection:
        sql = text("SELECT seq FROM reader_cursor WHERE reader = 'marquez'")
        return connection.scalar(sql) or 0


def rows(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    """Return rows of the catalog."""
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(sql))]


def counters(engine: Engine) -> dict[str, int]:
    """Return the counters of the role."""
    return dict(rows(engine, "SELECT name, value FROM marquez_counter"))


def kinds_of_runs(marquez: FakeMarquez) -> dict[str, list[str]]:
    """Return, for each run, the kinds of its acknowledged events in the order of arrival."""
    found: dict[str, list[str]] = {}
    for body in marquez.acked:
        event = json.loads(body)
        if "run" not in event:
            continue  # our own sign of life
        found.setdefault(event["run"]["runId"], []).append(event["eventType"])
    return found
