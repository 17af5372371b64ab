"""The HTTP API: reads the catalog, and counts what it answers; described at `/schema`."""

from litestar import Litestar
from litestar.datastructures import ResponseHeader, State
from litestar.middleware import DefineMiddleware
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, YamlRenderPlugin

from lineage.clock import Clock, system_clock
from service.access.guard import Guard
from service.hosts import host_check
from service.problems import HANDLERS, SAFE_HEADERS
from service.release import release
from service.routes import datasets, diff, health, lineage, runs, slis
from service.served.queries import QueryTimer
from service.served.tallies import Tallies
from service.settings import Settings

_ROUTES = (
    datasets.get_datasets,
    datasets.get_dataset,
    datasets.get_why,
    datasets.get_history,
    lineage.get_lineage,
    lineage.get_impact,
    runs.get_run,
    diff.get_diff,
    slis.get_slis,
    slis.get_status,
    health.get_livez,
    health.get_readyz,
)


def create_app(
    settings: Settings,
    clock: Clock = system_clock,
    tallies: Tallies | None = None,
    guard: Guard | None = None,
) -> Litestar:
    """The application over the catalog of these settings.

    What it served goes to `tallies`; who may ask is the guard's to say.
    """
    served = Tallies() if tallies is None else tallies
    guarding = Guard(settings, clock) if guard is None else guard
    timer = DefineMiddleware(QueryTimer, tallies=served, clock=clock)
    return Litestar(
        route_handlers=_ROUTES,
        state=State({"settings": settings, "clock": clock}),
        middleware=[timer, *guarding.middleware()],
        exception_handlers=HANDLERS,
        response_headers=[ResponseHeader(name=n, value=v) for n, v in SAFE_HEADERS.items()],
        before_request=host_check(settings.host),
        openapi_config=OpenAPIConfig(
            title="Lineward",
            version=release(),
            path="/schema",
            render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"]), YamlRenderPlugin()],
        ),
    )
