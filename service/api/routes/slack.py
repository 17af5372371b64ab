"""Endpoint for Slack's buttons. It is outside the gate: a signature replaces the token."""

import asyncio
import uuid

from litestar import MediaType, Response, post

from service.api.access.gate import OPEN, address_of
from service.api.routes.request import AnyRequest
from service.errors import NotSetUpError, TooSlowError, UnknownPersonError
from service.incidents.slack_buttons import MAX_BODY_BYTES as MAX_CLICK_BYTES
from service.incidents.slack_buttons import Signed, SlackInbox, Stranger

# Slack waits for three seconds.
_READ_SECONDS, _WRITE_SECONDS = 1.0, 1.8


@post(
    "/api/v1/slack/interactions",
    access=OPEN,
    status_code=200,
    request_max_body_size=MAX_CLICK_BYTES,
    include_in_schema=False,
)
async def post_interaction(request: AnyRequest) -> Response[bytes]:
    """Store a click on a button of a message; the message later shows the outcome."""
    router: SlackInbox = request.app.state.slack
    if not router.is_set:
        raise NotSetUpError("Slack's buttons: set LINEWARD_DELIVERY_SLACK_SIGNING_SECRET_FILE")
    signed = await _signed(request)
    taking = asyncio.to_thread(router.take, signed, request.app.state.clock())
    try:
        stranger = await asyncio.wait_for(taking, _WRITE_SECONDS)
    except TimeoutError as error:
        raise TooSlowError("the catalog is busy; the action may have been done") from error
    if stranger is not None:
        await _reject(request, stranger)
    return Response(b"", media_type=MediaType.TEXT)


async def _signed(request: AnyRequest) -> Signed:
    try:
        body = await asyncio.wait_for(request.body(), _READ_SECONDS)
    except TimeoutError as error:
        raise TooSlowError("the body did not arrive in time") from error
    named = request.headers
    return Signed(body, named.get("x-slack-request-timestamp"), named.get("x-slack-signature"))


async def _reject(request: AnyRequest, stranger: Stranger) -> None:
    guard = request.app.state.guard
    await guard.record_rejection(
        "slack", stranger.who, stranger.reason, uuid.uuid4().hex, address_of(request.scope)
    )
    raise UnknownPersonError("unauthorized: invalid Slack signature, or unknown user")
