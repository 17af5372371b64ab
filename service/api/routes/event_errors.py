"""Events with errors: rejected, read in part or set aside; as answers and as pages: for admins.

A body, an error or a job's name may name any dataset, and no namespace is known of an event that
did not land: nothing of a list could be left out for a token of some namespaces.
"""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from service.api.routes.request import AnyRequest, Cursor, page, render_for_caller, session
from service.queries.event_errors import (
    MOST_EVENT_ERRORS,
    PipelineErrorPage,
    RejectedPage,
    list_pipeline_errors,
    list_rejected_events,
)
from service.queries.set_aside import MOST_SET_ASIDE, SetAsidePage, list_set_aside_events

_Limit = Annotated[
    int, QueryParameter(ge=1, le=MOST_EVENT_ERRORS, description=("Maximum number of results."))
]
_Reason = Annotated[str | None, QueryParameter(max_length=200, description="Of one reason.")]

_MostSetAside = Annotated[
    int, QueryParameter(ge=1, le=MOST_SET_ASIDE, description=("Maximum number of results."))
]
_All = Annotated[bool, QueryParameter(name="all", description="Include requeued events.")]


@get("/api/v1/rejected-events", access="set_aside", sync_to_thread=True)
def get_rejected_events(
    request: AnyRequest, *, reason: _Reason = None, limit: _Limit = 100, cursor: Cursor = None
) -> RejectedPage:
    """List events that the collector rejected, the newest first, with the beginning of each."""
    spool = request.app.state.settings.spool
    return list_rejected_events(spool, reason=reason, limit=limit, cursor=cursor)


@get("/api/v1/pipeline-errors", access="set_aside", sync_to_thread=True)
def get_pipeline_errors(
    request: AnyRequest, *, reason: _Reason = None, limit: _Limit = 100, cursor: Cursor = None
) -> PipelineErrorPage:
    """List events that the pipeline could not read, or only a part of them, the newest first."""
    spool = request.app.state.settings.spool
    with session(request) as asked:
        return list_pipeline_errors(asked.reader, spool, reason=reason, limit=limit, cursor=cursor)


@page("/rejected-events", access="set_aside")
def get_rejected_page(request: AnyRequest, *, reason: _Reason = None, cursor: Cursor = None) -> str:
    """Show events that the collector rejected, and the command that requeues them."""
    found = list_rejected_events(
        request.app.state.settings.spool, reason=reason or None, cursor=cursor
    )
    return render_for_caller(
        request, "rejected", view=found, reason=reason, is_first=cursor is None
    )


@page("/pipeline-errors", access="set_aside")
def get_pipeline_errors_page(
    request: AnyRequest, *, reason: _Reason = None, cursor: Cursor = None
) -> str:
    """Show events that the pipeline could not read, or only a part of them."""
    spool = request.app.state.settings.spool
    with session(request) as asked:
        found = list_pipeline_errors(asked.reader, spool, reason=reason or None, cursor=cursor)
    return render_for_caller(
        request, "pipeline_errors", view=found, reason=reason, is_first=cursor is None
    )


@get("/api/v1/set-aside-events", access="set_aside", sync_to_thread=True)
def get_set_aside_events(
    request: AnyRequest,
    *,
    with_requeued: _All = False,
    limit: _MostSetAside = 100,
    cursor: Cursor = None,
) -> SetAsidePage:
    """List events that failed alone and that the pipeline set aside, the newest first."""
    with session(request) as asked:
        return list_set_aside_events(
            asked.reader, with_requeued=with_requeued, limit=limit, cursor=cursor
        )


@page("/set-aside-events", access="set_aside")
def get_set_aside_page(
    request: AnyRequest, *, with_requeued: _All = False, cursor: Cursor = None
) -> str:
    """Show events that were set aside, and the command that requeues them."""
    with session(request) as asked:
        found = list_set_aside_events(asked.reader, with_requeued=with_requeued, cursor=cursor)
    return render_for_caller(
        request, "set_aside", view=found, all=with_requeued, is_first=cursor is None
    )
