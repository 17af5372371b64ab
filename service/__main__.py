"""`python -m service`: the service role, API and metrics, in one process."""

import asyncio
import signal
import sys
from functools import partial

import structlog
from granian.constants import Interfaces
from granian.server.embed import Server
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector, start_http_server

from alerts.delivery.settings import DeliverySettings
from alerts.delivery.settings import read as read_delivery
from alerts.routing import settings as routing_settings
from alerts.routing.settings import RoutingSettings
from lineage.clock import system_clock
from lineage.environment import InvalidSettingError
from lineage.live.held import LiveLineage
from lineage.logs import log_to_stderr
from service import notifying
from service.access.guard import Guard
from service.acting.by_policy import ByPolicy
from service.app import create_app
from service.bookkeeping import Bookkeeper, Work
from service.impact.clock import ImpactClock
from service.memory import settle
from service.metrics import CatalogCollector
from service.policies import PolicyInForce
from service.retention import Retention
from service.served.keeping import write_down
from service.served.tallies import Tallies
from service.settings import Settings, read

_log = structlog.get_logger()


def main() -> int:
    """Run the role; the exit status is 2 for a setting or an address that cannot be used."""
    log_to_stderr()
    try:
        settings, routing, delivery = read(), routing_settings.read(), read_delivery()
        _start_metrics(settings)
    except (InvalidSettingError, OSError) as error:
        _log.error("service_cannot_start", reason=str(error))
        return 2
    asyncio.run(_serve(settings, routing, delivery))
    return 0


def _start_metrics(settings: Settings) -> None:
    """The metrics, on a port of their own: scrapes need none of what guards the API."""
    registry = CollectorRegistry()
    registry.register(CatalogCollector(settings))
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    start_http_server(settings.metrics_port, addr=settings.host, registry=registry)


async def _serve(settings: Settings, routing: RoutingSettings, delivery: DeliverySettings) -> None:
    tallies, guard = Tallies(), Guard(settings)
    counting: list[Work] = [
        partial(write_down, tallies=tallies),
        guard.judge,
        ImpactClock(system_clock),
    ]
    by_policy = ByPolicy(settings, system_clock, PolicyInForce(settings.policy).current)
    beside = (
        Bookkeeper(settings.catalog, counting),
        Bookkeeper(settings.catalog, notifying.works(settings, routing, delivery), name="notifier"),
        Bookkeeper(settings.catalog, notifying.diagnosis(settings), name="diagnosis"),
        Bookkeeper(settings.catalog, [by_policy], name="actor"),
        Bookkeeper(settings.catalog, [Retention(settings, system_clock)], name="retention"),
    )
    server = Server(
        create_app(
            settings,
            tallies=tallies,
            guard=guard,
            routing=routing,
            delivery=delivery,
            live=LiveLineage(settings.catalog),
        ),
        address=settings.host,
        port=settings.service_port,
        interface=Interfaces.ASGI,
        log_access=False,
    )
    settle()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    _log.info("service_listening", host=settings.host, port=settings.service_port)
    for thread in beside:
        thread.start()
    try:
        await server.serve()
    finally:
        # What was served is written down last.
        for thread in reversed(beside):
            thread.stop()


if __name__ == "__main__":
    sys.exit(main())
