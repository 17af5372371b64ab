"""Operator actions, and who asked for what, as answers and as a page: for admins."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from service.api.routes.request import AnyRequest, Cursor, page, render_for_caller, session
from service.queries.audit import (
    AccessFilters,
    AccessPage,
    AuditFilters,
    AuditPage,
    list_accesses,
    list_actions,
)

_Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="Maximum number of results.")]
_Text = Annotated[str | None, QueryParameter(max_length=4_096)]
_Decision = Annotated[str | None, QueryParameter(description="allow or deny.")]


@get("/api/v1/audit", access="audit", sync_to_thread=True)
def get_audit(
    request: AnyRequest,
    *,
    who: _Text = None,
    action: _Text = None,
    limit: _Limit = 100,
    cursor: Cursor = None,
) -> AuditPage:
    """List operator actions, newest first."""
    with session(request) as asked:
        return list_actions(asked.reader, AuditFilters(who, action), limit=limit, cursor=cursor)


@get("/api/v1/access-audit", access="audit", sync_to_thread=True)
def get_access_audit(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    *,
    who: _Text = None,
    action: _Text = None,
    decision: _Decision = None,
    limit: _Limit = 100,
    cursor: Cursor = None,
) -> AccessPage:
    """List who asked the API for what, the newest first."""
    with session(request) as asked:
        filters = AccessFilters(who, action, decision)
        return list_accesses(asked.reader, filters, limit=limit, cursor=cursor)


@page("/access-audit", access="audit")
def get_access_audit_page(
    request: AnyRequest, *, who: _Text = None, decision: _Text = None, cursor: Cursor = None
) -> str:
    """Show who asked the API for what, the newest first."""
    filters = AccessFilters(who=who or None, decision=decision or None)
    with session(request) as asked:
        found = list_accesses(asked.reader, filters, limit=100, cursor=cursor)
    return render_for_caller(
        request, "access_audit", view=found, filters=filters, is_first=cursor is None
    )
