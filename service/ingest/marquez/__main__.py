"""`python -m service.ingest.marquez`: the marquez role, a process beside the collector."""

import asyncio
import signal
import sys
from functools import partial
from threading import Event

import structlog

from lineage.catalog.revision import require_usable
from lineage.process.environment import InvalidSettingError
from lineage.process.health import HEALTH
from lineage.process.health_port import serve_health
from lineage.process.role import await_catalog, begin_role
from service.ingest.marquez.role import serve_marquez
from service.ingest.marquez.settings import MarquezSettings, read_marquez
from service.runtime.settings import Settings, read_settings

_log = structlog.get_logger()


def main() -> int:
    """Run the role; the exit status is 2 for a setting that cannot be used."""
    begin_role()
    HEALTH.beat_beside()
    try:
        settings, marquez_settings = read_settings(), read_marquez()
        serve_health()
    except (InvalidSettingError, OSError) as error:
        _log.error("marquez_cannot_start", reason=str(error))
        return 2
    if marquez_settings.url is None:
        _log.error("marquez_cannot_start", reason="LINEWARD_MARQUEZ_URL: not set")
        return 2
    # Signals end a role that waits: there is nothing in flight.
    await_catalog(partial(require_usable, settings.catalog), Event())
    asyncio.run(_run(settings, marquez_settings))
    return 0


async def _run(settings: Settings, marquez_settings: MarquezSettings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await serve_marquez(settings, marquez_settings, stop)


if __name__ == "__main__":
    sys.exit(main())
