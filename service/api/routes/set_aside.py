"""Events that the pipeline set aside, as an answer and as a page: for admins.

An error or a job's name may name any dataset, and no namespace is known of an event that did not
land: nothing of the list could be left out for a token of some namespaces.
"""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from service.api.routes.pages import page, render
from service.api.routes.request import AnyRequest, Cursor, session
from service.queries.set_aside import MOST_SET_ASIDE, SetAsidePage, set_aside_events

_Limit = Annotated[
    int, QueryParameter(ge=1, le=MOST_SET_ASIDE, description=("Maximum number of results."))
]
_All = Annotated[bool, QueryParameter(name="all", description="Include requeued events.")]


@get("/api/v1/set-aside-events", access="set_aside", sync_to_thread=True)
def get_set_aside_events(
    request: AnyRequest, *, with_requeued: _All = False, limit: _Limit = 100, cursor: Cursor = None
) -> SetAsidePage:
    """List events that failed alone and that the pipeline set aside, the newest first."""
    with session(request) as asked:
        return set_aside_events(
            asked.reader, with_requeued=with_requeued, limit=limit, cursor=cursor
        )


@page("/set-aside-events", access="set_aside")
def get_set_aside_page(
    request: AnyRequest, *, with_requeued: _All = False, cursor: Cursor = None
) -> str:
    """Show events that were set aside, and the command that requeues them."""
    with session(request) as asked:
        found = set_aside_events(asked.reader, with_requeued=with_requeued, cursor=cursor)
    return render(request, "set_aside", view=found, all=with_requeued, is_first=cursor is None)
