"""Suppression windows: asked for, listed, ended."""

import asyncio
from typing import Annotated

import msgspec
from litestar import delete, get, post
from litestar.params import PathParameter, QueryParameter

from alerts.operator_actions.suppression_windows import WindowEnding, WindowRequest
from lineage.process.clock import from_micros
from service.api.access.gate import who_asks
from service.api.routes.request import MAX_REQUEST_BYTES, AnyRequest, json_body, session
from service.incidents.window_requests import Begun, begin_window, end_window
from service.queries.suppressions import SuppressionList, list_suppressions
from service.queries.timestamps import parse_end, parse_instant

_Ended = Annotated[bool, QueryParameter(name="ended", description="Include those that have ended.")]

_Number = Annotated[int, PathParameter(ge=1, le=2**63 - 1, description="Its id.")]


class SuppressionRequest(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    rename={"for_": "for", "from_": "from"},
):
    """Body: `from` is now by default; the end is `until`, or `for` after the beginning."""

    pattern: str
    reason: str
    name: str = ""
    from_: str | None = None
    until: str | None = None
    for_: str | None = None


@get("/api/v1/suppressions", access="suppressions", sync_to_thread=True)
def get_suppressions(request: AnyRequest, *, with_ended: _Ended = False) -> SuppressionList:
    """Return the suppressions that are active or planned, of the policy too."""
    with session(request) as asked:
        policy = request.app.state.policy.current()
        return list_suppressions(asked.reader, policy, asked.now, with_ended=with_ended)


@post(
    "/api/v1/suppressions",
    access="suppress",
    sends=SuppressionRequest,
    request_max_body_size=MAX_REQUEST_BYTES,
)
async def post_suppression(request: AnyRequest) -> Begun:
    """Begin one, or plan it."""
    action_request = await json_body(request, SuppressionRequest)
    settings, now = request.app.state.settings, request.app.state.clock()
    begin = 0 if action_request.from_ is None else parse_instant(action_request.from_, "from")
    wanted = WindowRequest(
        pattern=action_request.pattern,
        until=parse_end(
            action_request.until, action_request.for_, begin=max(from_micros(begin), now)
        ),
        begin=begin,
        by=who_asks(request.scope),
        via="api",
        reason=action_request.reason,
        name=action_request.name,
    )
    return await asyncio.to_thread(begin_window, settings, wanted, now)


@delete("/api/v1/suppressions/{number:int}", access="suppress", status_code=204)
async def delete_suppression(request: AnyRequest, number: _Number) -> None:
    """End it now; one that is planned never begins."""
    settings, now = request.app.state.settings, request.app.state.clock()
    ending = WindowEnding(number, who_asks(request.scope), "api")
    await asyncio.to_thread(end_window, settings, ending, now)
