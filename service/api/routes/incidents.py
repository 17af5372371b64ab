"""Incidents, as answers and as pages, and the actions of people on them."""

import asyncio
from typing import Annotated, get_args

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, QueryParameter
from litestar.response import Redirect

from alerts.operator_actions.audit import Via
from alerts.operator_actions.command_requests import CommandAction, CommandRequest
from lineage.errors import InvalidRequestError
from service.api.access.gate import who_asks
from service.api.cross_site import require_own_form
from service.api.routes.request import (
    HEADERS,
    MAX_REQUEST_BYTES,
    AnyRequest,
    Cursor,
    json_body,
    page,
    render_for_caller,
    session,
)
from service.explorer.addresses import incident_at
from service.explorer.incident import LENGTHS, MOST_MEMBERS, incident_view
from service.incidents.incident_commands import Outcome, await_outcome, put_command
from service.queries.incident import load_incident
from service.queries.incident_shapes import IncidentDetail, IncidentPage
from service.queries.incidents import list_incidents
from service.queries.timestamps import parse_end

_Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="Maximum number of results.")]
_All = Annotated[bool, QueryParameter(name="all", description="Include those that have ended.")]
# As they stand in a path.
_ACTIONS: dict[str, CommandAction] = {
    action.replace("_", "-"): action for action in get_args(CommandAction)
}
_DONE, _TAKEN = 200, 202
_Text = Annotated[str | None, QueryParameter(max_length=80)]
_REASON_MISSING = (
    "reason: missing; a resolved incident sends no notifications while its datasets are bad"
)


@get("/api/v1/incidents", access="incidents", is_cut=True, sync_to_thread=True)
def get_incidents(
    request: AnyRequest, *, limit: _Limit = 100, is_over_too: _All = False, cursor: Cursor = None
) -> IncidentPage:
    """Return the active incidents, or all of the last months."""
    with session(request) as asked:
        return list_incidents(
            asked.reader, asked.visibility, is_over_too=is_over_too, limit=limit, cursor=cursor
        )


@get("/api/v1/incidents/{incident_id:str}", access="incident", is_cut=True, sync_to_thread=True)
def get_incident(request: AnyRequest, incident_id: FromPath[str]) -> IncidentDetail:
    """Return one incident, with its datasets, the evidence for each, and its history."""
    with session(request) as asked:
        return load_incident(asked.reader, incident_id, asked.visibility)


class ActionRequest(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"for_": "for"}
):
    """Body: the note; and of a suppression its end, as a time or as a duration from now."""

    note: str = ""
    until: str | None = None
    for_: str | None = None


@post(
    "/api/v1/incidents/{incident_id:str}/{action:str}",
    access="answer",
    sends=ActionRequest,
    request_max_body_size=MAX_REQUEST_BYTES,
)
async def post_action(
    request: AnyRequest, incident_id: FromPath[str], action: FromPath[str]
) -> Response[Outcome]:
    """Acknowledge, suppress, unsuppress, resolve, escalate, false-alarm; 202: not taken yet."""
    found = await request_action(
        request, incident_id, action, await json_body(request, ActionRequest), "api"
    )
    return Response(found, status_code=_DONE if found.is_done else _TAKEN)


async def request_action(
    request: AnyRequest, incident_id: str, action: str, asked: ActionRequest, via: Via
) -> Outcome:
    """Queue the action in the name of the caller, and wait a little for its result."""
    settings, now = request.app.state.settings, request.app.state.clock()
    if action not in _ACTIONS:
        raise InvalidRequestError(f"action: one of {', '.join(_ACTIONS)}, got {action[:80]!r}")
    wanted = CommandRequest(
        incident_id=incident_id,
        action=_ACTIONS[action],
        by=who_asks(request.scope),
        via=via,
        until=parse_end(asked.until, asked.for_, begin=now),
        note=asked.note,
    )
    number = await asyncio.to_thread(put_command, settings, wanted, now)
    return await await_outcome(settings, wanted, number)


@page("/incidents", access="incidents", is_cut=True)
def get_incident_list(
    request: AnyRequest, *, is_over_too: _All = False, cursor: Cursor = None
) -> str:
    """List unresolved incidents, pages first; or all incidents."""
    with session(request) as asked:
        found = list_incidents(
            asked.reader, asked.visibility, is_over_too=is_over_too, cursor=cursor
        )
    return render_for_caller(
        request, "incidents", view=found, all=is_over_too, is_first=cursor is None
    )


@page("/incidents/{incident_id:str}", access="incident", is_cut=True)
def get_incident_page(
    request: AnyRequest, incident_id: FromPath[str], *, did: _Text = None, waits: _Text = None
) -> str:
    """Show cause, affected datasets, notifications, timeline and actions."""
    with session(request) as asked:
        view = incident_view(asked, incident_id, did=did, waits=waits)
    bounds = {"most_members": MOST_MEMBERS, "lengths": LENGTHS}
    return render_for_caller(request, "incident", view=view, **bounds)


@post(
    "/incidents/{incident_id:str}/{action:str}",
    access="answer",
    page=True,
    include_in_schema=False,
    response_headers=HEADERS,
    request_max_body_size=MAX_REQUEST_BYTES,
)
async def post_page_action(
    request: AnyRequest, incident_id: FromPath[str], action: FromPath[str]
) -> Redirect:
    """Run the action of a button, then redirect to the page with its result."""
    require_own_form(request)
    form = await request.form()
    length = str(form.get("for", "")) if action == "suppress" else None
    request_body = ActionRequest(note=str(form.get("note", "")), for_=length)
    if action == "resolve" and not request_body.note.strip():
        raise InvalidRequestError(_REASON_MISSING)
    found = await request_action(request, incident_id, action, request_body, "page")
    outcome = "did" if found.is_done else "waits"
    return Redirect(f"{incident_at(incident_id)}?{outcome}={action}", status_code=303)
