"""HTTP API over the catalog, with counts of its responses; described at `/schema`."""

from collections.abc import Callable, Sequence
from typing import Any

from litestar import Litestar, Request
from litestar.datastructures import ResponseHeader, State
from litestar.middleware import DefineMiddleware
from litestar.openapi.config import OpenAPIConfig

from alerts.notify.settings import DeliverySettings, RoutingSettings
from lineage.graph.cache.graph_cache import LineageCache
from lineage.process.clock import Clock, system_clock
from service.api.access.guard import Guard
from service.api.cross_site import host_check
from service.api.etags import ETags
from service.api.input_checks import reject_nul
from service.api.openapi import Json, Yaml
from service.api.problems import HANDLERS, SAFE_HEADERS
from service.api.routes import (
    audit,
    columns,
    datasets,
    event_errors,
    graph,
    incidents,
    lake,
    lineage,
    listener,
    login,
    runbooks,
    runs,
    status,
    suppressions,
    webhooks,
)
from service.api.routes.marquez import MARQUEZ_ROUTES
from service.api.routes.marquez.parameters import NameSegments
from service.api.served.counter_buffer import CounterBuffer
from service.api.served.query_timer import QueryTimer
from service.incidents.inboxes import PagerDutyInbox, SlackInbox
from service.release import installed_version
from service.runtime.jobs import PeriodicJobState
from service.runtime.settings import Settings

_AnyRequest = Request[Any, Any, Any]
_PAGES = (
    status.get_overview,
    datasets.get_dataset_list,
    datasets.get_dataset_page,
    incidents.get_incident_list,
    incidents.get_incident_page,
    incidents.post_page_action,
    runs.get_run_page,
    runs.get_diff_page,
    runs.get_jobs_page,
    datasets.get_unsourced_page,
    event_errors.get_set_aside_page,
    event_errors.get_rejected_page,
    event_errors.get_pipeline_errors_page,
    audit.get_access_audit_page,
    login.get_login,
    login.post_login,
    login.post_logout,
)
_ROUTES = (
    datasets.get_datasets,
    datasets.get_dataset,
    datasets.get_why,
    datasets.get_history,
    lineage.get_lineage,
    lineage.get_impact,
    *columns.COLUMN_ROUTES,
    graph.get_graph_nodes,
    graph.get_graph_edges,
    runs.get_runs,
    runs.get_run,
    lake.get_lake_runs,
    lake.get_lake_run,
    runs.get_jobs,
    datasets.get_unsourced_reads,
    runs.get_diff,
    incidents.get_incidents,
    incidents.get_incident,
    status.get_slis,
    status.get_status,
    webhooks.post_alertmanager,
    incidents.post_action,
    suppressions.get_suppressions,
    suppressions.post_suppression,
    suppressions.delete_suppression,
    audit.get_audit,
    audit.get_access_audit,
    event_errors.get_set_aside_events,
    event_errors.get_rejected_events,
    event_errors.get_pipeline_errors,
    webhooks.post_interaction,
    webhooks.post_event,
    status.get_livez,
    status.get_readyz,
    listener.get_listener,
    runbooks.get_runbooks,
    runbooks.get_runbook,
    runbooks.get_actions,
    runbooks.post_action,
    *MARQUEZ_ROUTES,
)


def _checks(settings: Settings, routing: RoutingSettings) -> Callable[[_AnyRequest], None]:
    """Return the check that each request passes after the gate."""
    of_host = host_check(settings.own_hosts, routing.public_url)

    def check(request: _AnyRequest) -> None:
        of_host(request)
        reject_nul(request)

    return check


def create_app(  # noqa: PLR0913, PLR0917 - what the process was started with
    settings: Settings,
    clock: Clock = system_clock,
    counts: CounterBuffer | None = None,
    guard: Guard | None = None,
    routing: RoutingSettings | None = None,
    delivery: DeliverySettings | None = None,
    live: LineageCache | None = None,
    jobs: Callable[[], Sequence[PeriodicJobState]] = tuple,
) -> Litestar:
    """Build the application over the catalog of these settings.

    What it served goes to `counts`; the guard decides on callers; `routing` has the recipients of
    Alertmanager's alerts and their channels; Slack's buttons are believed by the secret that
    `delivery` names; graphs are drawn from `live` while it has one. `jobs` returns the
    periodic jobs of this process.
    """
    served = CounterBuffer() if counts is None else counts
    guarding = Guard(settings, clock) if guard is None else guard
    router = SlackInbox(
        settings, guarding.policy, delivery.slack_signing_secret_file if delivery else None
    )
    routed = routing or RoutingSettings()
    held = {
        "settings": settings,
        "clock": clock,
        "guard": guarding,
        "policy": guarding.policy,
        "slack": router,
        "pagerduty": PagerDutyInbox(
            settings, delivery.pagerduty_webhook_secret_file if delivery else None
        ),
        "routing": routed,
        "live": live,
        "jobs": jobs,
    }
    timer = DefineMiddleware(QueryTimer, counts=served, clock=clock)
    app = Litestar(
        route_handlers=(*_PAGES, *_ROUTES),
        state=State(held),
        middleware=[timer, ETags, *guarding.middleware()],
        exception_handlers=HANDLERS,
        response_headers=[ResponseHeader(name=n, value=v) for n, v in SAFE_HEADERS.items()],
        before_request=_checks(settings, routed),
        # Litestar's own logs each URL that httpx asks, and a webhook's may hold a secret.
        logging_config=None,
        openapi_config=OpenAPIConfig(
            title="Lineward",
            version=installed_version(),
            path="/schema",
            render_plugins=[Json(path=["/", "/openapi.json"]), Yaml()],
        ),
    )
    app.asgi_handler = NameSegments(app.asgi_handler)
    return app
