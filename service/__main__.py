"""`python -m service`: the service role, API and metrics, in one process."""

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import msgspec
import structlog
from granian.constants import Interfaces
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector

from alerts.notify import settings as notify_settings
from alerts.notify.settings import DeliverySettings, RoutingSettings, read_delivery
from lineage.catalog.policy_notes import PolicyNotes, StoredAccess
from lineage.catalog.reader import keep_connections
from lineage.catalog.trouble import CatalogError
from lineage.errors import RequestError
from lineage.graph.cache.graph_cache import LineageCache
from lineage.process.clock import system_clock, to_micros
from lineage.process.environment import InvalidSettingError
from lineage.process.listening import InheritedServer, http_server
from lineage.process.role import begin_role
from lineage.process.sockets import listen
from runbooks.actions.kubernetes_settings import read_kubernetes_settings
from service.actions import auto_actions
from service.actions.auto_actions import AutoActions
from service.api.access.guard import Guard
from service.api.app import create_app
from service.api.intake import Intake
from service.api.served.counter_buffer import CounterBuffer, flush_counts
from service.errors import RejectedInputError
from service.exporter import cached_metrics
from service.exporter.metrics import CatalogCollector
from service.exporter.scraping import Scraping
from service.incidents import incident_worker
from service.incidents.impact.impact_clock import ImpactClock
from service.runtime import periodic
from service.runtime.catalog_jobs import CatalogJobs
from service.runtime.gc_tuning import freeze_startup
from service.runtime.jobs import JobGroup, JobsFile
from service.runtime.leader import Leader, replica_name
from service.runtime.periodic import CatalogTask, Retention
from service.runtime.policies import PolicyInForce, read_policy
from service.runtime.scheduler import JobRegistry
from service.runtime.settings import Settings, read_settings
from service.runtime.startup_checks import may_be_open, require_guarded_service

# Of PostgreSQL, which has a hundred connections for all roles by default: docs/operations.md.
_READERS, _THREADS = 20, 8
_HEADER_SECONDS = 10.0
_log = structlog.get_logger()


class StartupSettings(msgspec.Struct, frozen=True):
    """Settings that the process was started with."""

    settings: Settings
    routing: RoutingSettings
    delivery: DeliverySettings


def main() -> int:
    """Run the role; the exit status is 2 for a setting or an address that cannot be used."""
    begin_role()
    try:
        settings = read_settings()
        routing = notify_settings.read_routing(settings.service_url)
        given = StartupSettings(settings, routing, read_delivery())
        read_kubernetes_settings()  # else an action in an incident finds an invalid one
        _require_guarded(settings)
        ports = (settings.service_port, settings.metrics_port)
        listening = [listen(settings.host, port) for port in ports]
    except (InvalidSettingError, RequestError, OSError) as error:
        _log.error("service_cannot_start", reason=str(error))
        return 2
    asyncio.run(_serve(given, *listening))
    return 0


def _require_guarded(settings: Settings) -> None:
    """Check who has access. With an invalid policy file nobody has: the API rejects all requests.

    Raises:
        InvalidRequestError: everybody would have access.
    """
    try:
        policy = read_policy(settings.policy)
    except RejectedInputError:
        return
    require_guarded_service(settings, policy, with_collector=False)


async def _serve(given: StartupSettings, asked: socket.socket, scraped: socket.socket) -> None:
    keep_connections(given.settings.catalog, _READERS)
    # Python works at one answer at a time: more threads cost memory, and wait for each other.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
    stored = StoredAccess(given.settings.catalog)
    with suppress(CatalogError):  # read again by the periodic work; nobody may ask until then
        stored.look()
    policy = PolicyInForce(
        given.settings.policy,
        # A file that was invalid at the start may come without the section.
        access_before=stored if may_be_open(given.settings) else lambda: True,
    )
    counts, guard = CounterBuffer(), Guard(given.settings, policy=policy)
    registry = JobRegistry("service", report=JobsFile(given.settings.data_dir, "service"))
    leader = Leader(replica_name(given.settings), given.settings.lease_seconds)
    leader.on_loss = registry.run_leader_jobs
    catalog_metrics = CatalogCollector(
        given.settings, policy=policy, leads=leader.has_led_lately, jobs=registry.states
    )
    for group in _groups(given, counts, guard, stored, leader, catalog_metrics):
        registry.add(group)
    app = create_app(
        given.settings,
        counts=counts,
        guard=guard,
        routing=given.routing,
        delivery=given.delivery,
        live=LineageCache(given.settings.catalog),
        jobs=registry.states,
    )
    metrics = Scraping(_metrics(catalog_metrics), given.settings.own_hosts)
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
    registry.start()
    try:
        await asyncio.gather(*(server.serve() for server in servers))
    finally:
        # What was served is written down last, and then the lease is given up.
        registry.stop()


def _stop(servers: list[InheritedServer]) -> None:
    for server in servers:
        server.stop()  # type: ignore[no-untyped-call]


def _metrics(catalog_metrics: CatalogCollector) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(catalog_metrics)
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def _groups(  # noqa: PLR0913, PLR0917 - what the process consists of
    given: StartupSettings,
    counts: CounterBuffer,
    guard: Guard,
    stored: StoredAccess,
    leader: Leader,
    metrics: CatalogCollector,
) -> list[JobGroup]:
    """Return the groups of periodic jobs in the order of their start.

    docs/kubernetes/several-services.md lists them.
    """
    group = CatalogJobs(given.settings.catalog, leader).group
    counting: list[CatalogTask] = [stored.look, partial(flush_counts, counts=counts), guard.count]
    return [
        # First and last: until the lease is held, the leader's jobs wait.
        group(
            *("lease", ("lease",), lambda: [leader]),
            is_leader_only=False,
            first_seconds=0,
            statement_seconds=given.settings.lease_seconds / 2,
        ),
        group(
            *("counting", ("access_policy", "served_counts", "access_counts"), lambda: counting),
            is_leader_only=False,
            runs_at_stop=True,
        ),
        *_of_leader(given, guard, group, metrics),
    ]


def _of_leader(
    given: StartupSettings,
    guard: Guard,
    group: Callable[..., JobGroup],
    metrics: CatalogCollector,
) -> Iterator[JobGroup]:
    """Return the groups that the leader alone runs."""
    settings, policy, began_at = given.settings, guard.policy, to_micros(system_clock())
    stopping = threading.Event()
    leads = partial(group, is_leader_only=True)

    def judge() -> Sequence[CatalogTask]:
        return guard.judge, PolicyNotes("service", policy.standing), ImpactClock(system_clock)

    def notify() -> Sequence[CatalogTask]:
        return incident_worker.build_tasks(
            settings, given.routing, given.delivery, policy=policy, began_at=began_at
        )

    def cache() -> Sequence[CatalogTask]:
        metrics.drop_cache()  # of an earlier epoch: it may be of another day
        return [lambda _engine: metrics.renew_cache()]

    yield leads("audit", ("access_audit", "policy_notes", "impact_clock"), judge, runs_at_stop=True)
    yield leads("incidents", incident_worker.JOBS, notify, runs_at_stop=True)
    yield leads("diagnosis", ("diagnosis",), lambda: incident_worker.build_diagnosis(settings))
    yield leads(
        "policy_actions",
        ("policy_actions",),
        lambda: [AutoActions(settings, system_clock, policy.current)],
        every_seconds=auto_actions.EVERY_SECONDS,
    )
    yield leads(
        "retention",
        ("retention",),
        lambda: [Retention(settings, system_clock, stopping)],
        every_seconds=periodic.RETENTION_SECONDS,
        interrupt=stopping.set,
    )
    yield leads(
        "metric_cache",
        ("metric_cache",),
        cache,
        every_seconds=cached_metrics.EVERY_SECONDS,
        most_share=cached_metrics.MOST_SHARE,
    )


if __name__ == "__main__":
    sys.exit(main())
