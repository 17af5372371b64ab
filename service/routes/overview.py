"""The first page: today at a glance."""

from service.answers.status import status
from service.explorer.overview import overview
from service.objectives import objectives
from service.routes.asked import AnyRequest, asked_by
from service.routes.paged import page, shown


@page("/", access="overview", is_cut=True)
def get_overview(request: AnyRequest) -> str:
    """Are we all right, if not what is wrong, who is on it."""
    state = request.app.state
    with asked_by(request) as asked:
        lineward = status(state.settings, asked.now, count_datasets=False)
        return shown(
            request, "overview", view=overview(asked, objectives(state.settings), lineward)
        )
