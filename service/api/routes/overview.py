"""Overall state: the overview page, the SLIs, and the status of Lineward itself."""

from litestar import get
from litestar.datastructures import State

from service.api.routes.pages import page, render
from service.api.routes.request import AnyRequest, session
from service.explorer.overview import overview
from service.queries.shapes import SliAnswer
from service.queries.slis import objectives_of, slis
from service.queries.status import Status, status
from service.runtime.jobs import all_jobs


@page("/", access="overview", is_cut=True)
def get_overview(request: AnyRequest) -> str:
    """Show the overall state, open incidents and SLIs."""
    state = request.app.state
    with session(request) as asked:
        lineward = status(
            state.settings, asked.now, count_datasets=False, own_policy=state.policy.standing()
        )
        ratios = objectives_of(state.policy.current())
        return render(request, "overview", view=overview(asked, ratios, lineward))


@get("/api/v1/slis", access="slis", is_cut=True, sync_to_thread=True)
def get_slis(request: AnyRequest) -> SliAnswer:
    """Return every SLI of every tier beside its objective."""
    with session(request) as asked:
        ratios = objectives_of(request.app.state.policy.current())
        return slis(asked.reader, asked.evaluated, ratios, now=asked.now)


@get("/api/v1/status", access="status", sync_to_thread=True)
def get_status(state: State) -> Status:
    """Return backlog, rejected events, periodic jobs, and the age of the last evaluation."""
    settings, now = state.settings, state.clock()
    return status(
        settings,
        now,
        own_policy=state.policy.standing(),
        jobs=all_jobs(settings.data_dir, now.timestamp(), state.jobs()),
    )
