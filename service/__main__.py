"""`python -m service`: the service role, API and metrics, in one process."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import msgspec
import structlog
from granian.constants import Interfaces
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector

from alerts.notify import settings as notify_settings
from alerts.notify.settings import DeliverySettings, RoutingSettings, read_delivery
from lineage.catalog.access_versions import StoredAccess
from lineage.catalog.policy_notes import PolicyNotes
from lineage.catalog.reader import keep_connections
from lineage.catalog.trouble import CatalogError
from lineage.graph.cache.graph_cache import LineageCache
from lineage.policy.model import Policy
from lineage.process.clock import system_clock, to_micros
from lineage.process.environment import InvalidSettingError
from lineage.process.listening import InheritedServer, http_server
from lineage.process.role import begin_role
from lineage.process.sockets import listen
from service.actions.auto_actions import AutoActions
from service.api.access.guard import Guard
from service.api.app import create_app
from service.api.intake import Intake
from service.api.served.counter_buffer import CounterBuffer
from service.api.served.flush import flush_counts
from service.errors import RejectedInputError
from service.exporter.metrics import CatalogCollector
from service.exporter.scraping import Scraping
from service.incidents import incident_worker
from service.incidents.impact.clock import ImpactClock
from service.runtime.binding import require_guarded
from service.runtime.gc_tuning import freeze_startup
from service.runtime.leader import Leader, LeaderWorks, replica_name
from service.runtime.periodic import PeriodicWorker, Work
from service.runtime.policies import PolicyInForce, policy_of
from service.runtime.retention import Retention
from service.runtime.settings import Settings, read

# Of PostgreSQL, which has a hundred connections for all roles by default: docs/operations.md.
_READERS, _THREADS = 20, 8
_HEADER_SECONDS = 10.0
_log = structlog.get_logger()


class Given(msgspec.Struct, frozen=True):
    """Values that the process was started with."""

    settings: Settings
    routing: RoutingSettings
    delivery: DeliverySettings


def main() -> int:
    """Run the role; the exit status is 2 for a setting or an address that cannot be used."""
    begin_role()
    try:
        given = Given(read(), notify_settings.read_routing(), read_delivery())
        require_guarded(given.settings, _policy(given.settings), with_collector=False)
        ports = (given.settings.service_port, given.settings.metrics_port)
        listening = [listen(given.settings.host, port) for port in ports]
    except (InvalidSettingError, RejectedInputError, OSError) as error:
        _log.error("service_cannot_start", reason=str(error))
        return 2
    asyncio.run(_serve(given, *listening))
    return 0


def _policy(settings: Settings) -> Policy | None:
    """Load the policy file, or None if it is invalid: then the API rejects every request."""
    try:
        return policy_of(settings.policy)
    except RejectedInputError:
        return None


async def _serve(given: Given, asked: socket.socket, scraped: socket.socket) -> None:
    keep_connections(given.settings.catalog, _READERS)
    # Python works at one answer at a time: more threads cost memory, and wait for each other.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
    stored = StoredAccess(given.settings.catalog)
    with suppress(CatalogError):  # read again by the periodic work; nobody may ask until then
        stored.look()
    policy = PolicyInForce(given.settings.policy, access_before=stored)
    tallies, guard = CounterBuffer(), Guard(given.settings, policy=policy)
    app = create_app(
        given.settings,
        tallies=tallies,
        guard=guard,
        routing=given.routing,
        delivery=given.delivery,
        live=LineageCache(given.settings.catalog),
    )
    leader = Leader(replica_name(given.settings), given.settings.lease_seconds)
    registry = _registry(given.settings, guard.policy, leader)
    metrics = Scraping(registry, given.settings.own_hosts)
    served = partial(http_server, header_seconds=_HEADER_SECONDS)
    servers = [
        served(Intake(app), asked.detach(), Interfaces.ASGI),
        served(metrics, scraped.detach(), Interfaces.ASGINL),
    ]
    freeze_startup()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _stop, servers)
    _log.info("service_listening", host=given.settings.host, port=given.settings.service_port)
    beside = _beside(given, tallies, guard, stored, leader)
    for thread in beside:
        thread.start()
    try:
        await asyncio.gather(*(server.serve() for server in servers))
    finally:
        # What was served is written down last, and then the lease is given up.
        for thread in reversed(beside):
            thread.stop()


def _stop(servers: list[InheritedServer]) -> None:
    for server in servers:
        server.stop()  # type: ignore[no-untyped-call]


def _registry(settings: Settings, policy: PolicyInForce, leader: Leader) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(CatalogCollector(settings, policy=policy, leads=leader.is_leading))
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def _beside(
    given: Given, tallies: CounterBuffer, guard: Guard, stored: StoredAccess, leader: Leader
) -> tuple[PeriodicWorker, ...]:
    """Return what is done beside answering, in the order of its start: see docs/kubernetes.md."""
    catalog = given.settings.catalog
    counting: list[Work] = [stored.look, partial(flush_counts, tallies=tallies), guard.count]
    lease_limit = given.settings.lease_seconds / 2
    return (
        # First and last: until the lease is held, the leader's works wait.
        PeriodicWorker(
            catalog, [leader], name="lease", is_first=True, statement_seconds=lease_limit
        ),
        PeriodicWorker(catalog, counting),
        *(
            PeriodicWorker(catalog, LeaderWorks(leader, build), name=name)
            for name, build in _of_leader(given, guard).items()
        ),
    )


def _of_leader(given: Given, guard: Guard) -> dict[str, Callable[[], Sequence[Work]]]:
    """Return what builds the works that the leader alone does, by the name of their thread."""
    settings, policy, began_at = given.settings, guard.policy, to_micros(system_clock())
    routing, delivery = given.routing, given.delivery

    def judge() -> Sequence[Work]:
        notes = PolicyNotes("service", policy.standing)
        return guard.judge, notes, ImpactClock(system_clock)

    def notify() -> Sequence[Work]:
        return incident_worker.build_tasks(
            settings, routing, delivery, policy=policy, began_at=began_at
        )

    return {
        "judging": judge,
        "notifier": notify,
        "diagnosis": lambda: incident_worker.diagnosis(settings),
        "actor": lambda: [AutoActions(settings, system_clock, policy.current)],
        "retention": lambda: [Retention(settings, system_clock)],
    }


if __name__ == "__main__":
    sys.exit(main())
