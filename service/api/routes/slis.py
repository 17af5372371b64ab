"""The SLIs, and how Lineward itself is."""

from litestar import get
from litestar.datastructures import State

from service.api.routes.session import AnyRequest, session
from service.queries.objectives import objectives_of
from service.queries.shapes import SliAnswer
from service.queries.slis import slis
from service.queries.status import Status, status


@get("/api/v1/slis", access="slis", is_cut=True, sync_to_thread=True)
def get_slis(request: AnyRequest) -> SliAnswer:
    """Every SLI of every tier beside its objective."""
    with session(request) as asked:
        ratios = objectives_of(request.app.state.policy.current())
        return slis(asked.reader, asked.evaluated, ratios, now=asked.now)


@get("/api/v1/status", access="status", sync_to_thread=True)
def get_status(state: State) -> Status:
    """Return backlog, rejected events, periodic jobs, and the age of the last evaluation."""
    return status(
        state.settings,
        state.clock(),
        own_policy=state.policy.standing(),
        own_jobs=state.jobs(),
    )
