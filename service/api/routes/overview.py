"""Overview page."""

from service.api.routes.pages import page, render
from service.api.routes.session import AnyRequest, session
from service.explorer.overview import overview
from service.queries.objectives import objectives_of
from service.queries.status import status


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
