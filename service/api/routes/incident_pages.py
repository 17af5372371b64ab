"""Pages of incidents: the list, one incident, and its actions."""

from typing import Annotated

from litestar import post
from litestar.params import FromPath, QueryParameter
from litestar.response import Redirect

from service.api.routes.incident_actions import ActionRequest, wanted_of
from service.api.routes.json_body import MAX_BODY_BYTES
from service.api.routes.pages import HEADERS, page, render
from service.api.routes.session import AnyRequest, Cursor, session
from service.errors import InvalidQuestionError
from service.explorer.addresses import incident_at
from service.explorer.forms import require_own_form
from service.explorer.incident import LENGTHS, MOST_MEMBERS, incident_view
from service.queries.incidents import incidents

_All = Annotated[bool, QueryParameter(name="all", description="Include resolved incidents.")]
_Text = Annotated[str | None, QueryParameter(max_length=80)]
_REASON_MISSING = (
    "reason: missing; a resolved incident sends no notifications while its datasets are bad"
)


@page("/incidents", access="incidents", is_cut=True)
def get_incident_list(
    request: AnyRequest, *, is_over_too: _All = False, cursor: Cursor = None
) -> str:
    """List unresolved incidents, pages first; or all incidents."""
    with session(request) as asked:
        found = incidents(asked.reader, asked.visibility, is_over_too=is_over_too, cursor=cursor)
    return render(request, "incidents", view=found, all=is_over_too, is_first=cursor is None)


@page("/incidents/{incident_id:str}", access="incident", is_cut=True)
def get_incident_page(
    request: AnyRequest, incident_id: FromPath[str], *, did: _Text = None, waits: _Text = None
) -> str:
    """Show cause, affected datasets, notifications, timeline and actions."""
    with session(request) as asked:
        view = incident_view(asked, incident_id, did=did, waits=waits)
    bounds = {"most_members": MOST_MEMBERS, "lengths": LENGTHS}
    return render(request, "incident", view=view, **bounds)


@post(
    "/incidents/{incident_id:str}/{action:str}",
    access="answer",
    page=True,
    include_in_schema=False,
    response_headers=HEADERS,
    request_max_body_size=MAX_BODY_BYTES,
)
async def post_action(
    request: AnyRequest, incident_id: FromPath[str], action: FromPath[str]
) -> Redirect:
    """Run the action of a button, then redirect to the page with its result."""
    require_own_form(request)
    form = await request.form()
    length = str(form.get("for", "")) if action == "suppress" else None
    request_body = ActionRequest(note=str(form.get("note", "")), for_=length)
    if action == "resolve" and not request_body.note.strip():
        raise InvalidQuestionError(
            "reason: missing; a resolved incident sends no notifications while its datasets are bad"
        )
    found = await wanted_of(request, incident_id, action, request_body, "page")
    outcome = "did" if found.is_done else "waits"
    return Redirect(f"{incident_at(incident_id)}?{outcome}={action}", status_code=303)
