"""Actions on incidents: stored as commands, and answered by the next evaluation."""

import asyncio
from typing import get_args

import msgspec
from litestar import Response, post
from litestar.params import FromPath

from alerts.operator_actions.audit import Via
from alerts.operator_actions.command_requests import Action, CommandRequest
from service.api.access.gate import who_asks
from service.api.routes.json_body import MAX_BODY_BYTES, json_body
from service.api.routes.session import AnyRequest
from service.cli.time_args import parse_end
from service.errors import InvalidQuestionError
from service.incidents.incident_commands import Outcome, outcome, put

# As they stand in a path.
_ACTIONS: dict[str, Action] = {action.replace("_", "-"): action for action in get_args(Action)}
_DONE, _TAKEN = 200, 202


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
    request_max_body_size=MAX_BODY_BYTES,
)
async def post_action(
    request: AnyRequest, incident_id: FromPath[str], action: FromPath[str]
) -> Response[Outcome]:
    """Acknowledge, suppress, unsuppress, resolve, escalate, false-alarm; 202: not taken yet."""
    found = await wanted_of(
        request, incident_id, action, await json_body(request, ActionRequest), "api"
    )
    return Response(found, status_code=_DONE if found.is_done else _TAKEN)


async def wanted_of(
    request: AnyRequest, incident_id: str, action: str, asked: ActionRequest, via: Via
) -> Outcome:
    """Queue the action in the name of the caller, and wait a little for its result."""
    settings, now = request.app.state.settings, request.app.state.clock()
    if action not in _ACTIONS:
        raise InvalidQuestionError(f"action: one of {', '.join(_ACTIONS)}, got {action[:80]!r}")
    wanted = CommandRequest(
        incident_id=incident_id,
        action=_ACTIONS[action],
        by=who_asks(request.scope),
        via=via,
        until=parse_end(asked.until, asked.for_, begin=now),
        note=asked.note,
    )
    number = await asyncio.to_thread(put, settings, wanted, now)
    return await outcome(settings, wanted, number)
