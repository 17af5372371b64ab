"""Incidents: what is wrong, and what happened to it."""

from typing import Annotated

from litestar import get
from litestar.params import FromPath, QueryParameter

from service.api.routes.session import AnyRequest, Cursor, session
from service.queries.incident_shapes import IncidentDetail, IncidentPage
from service.queries.incidents import incident, incidents

_Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="Maximum number of results.")]
_All = Annotated[bool, QueryParameter(name="all", description="Include those that have ended.")]


@get("/api/v1/incidents", access="incidents", is_cut=True, sync_to_thread=True)
def get_incidents(
    request: AnyRequest, *, limit: _Limit = 100, is_over_too: _All = False, cursor: Cursor = None
) -> IncidentPage:
    """Return the active incidents, or all of the last months."""
    with session(request) as asked:
        return incidents(
            asked.reader, asked.visibility, is_over_too=is_over_too, limit=limit, cursor=cursor
        )


@get("/api/v1/incidents/{incident_id:str}", access="incident", is_cut=True, sync_to_thread=True)
def get_incident(request: AnyRequest, incident_id: FromPath[str]) -> IncidentDetail:
    """Return one incident, with its datasets, the evidence for each, and its history."""
    with session(request) as asked:
        return incident(asked.reader, incident_id, asked.visibility)
