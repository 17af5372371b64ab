"""Operator actions and their results: for admins."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from service.api.routes.session import AnyRequest, Cursor, session
from service.queries.audit import AuditPage, Wanted, audit

_Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="Maximum number of results.")]
_Text = Annotated[str | None, QueryParameter(max_length=4_096)]


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
        return audit(asked.reader, Wanted(who, action), limit=limit, cursor=cursor)
