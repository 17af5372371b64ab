"""The HTTP API: reads the catalog, writes nothing; its description is at `/schema`."""

from litestar import Litestar
from litestar.datastructures import ResponseHeader, State
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, YamlRenderPlugin

from lineage.clock import Clock, system_clock
from service.hosts import host_check
from service.problems import HANDLERS
from service.release import release
from service.routes import datasets, diff, health, lineage, runs, slis
from service.settings import Settings

# There is no page to run anything in, and none to be framed.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_ROUTES = (
    datasets.get_datasets,
    datasets.get_dataset,
    datasets.get_why,
    datasets.get_history,
    lineage.get_lineage,
    runs.get_run,
    diff.get_diff,
    slis.get_slis,
    slis.get_status,
    health.get_livez,
    health.get_readyz,
)


def create_app(settings: Settings, clock: Clock = system_clock) -> Litestar:
    """The application over the catalog of these settings."""
    return Litestar(
        route_handlers=_ROUTES,
        state=State({"settings": settings, "clock": clock}),
        exception_handlers=HANDLERS,
        response_headers=[ResponseHeader(name=n, value=v) for n, v in _HEADERS.items()],
        before_request=host_check(settings.host),
        openapi_config=OpenAPIConfig(
            title="Lineward",
            version=release(),
            path="/schema",
            render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"]), YamlRenderPlugin()],
        ),
    )
