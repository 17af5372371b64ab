"""Webhook of PagerDuty for actions that people take there. A signature replaces the token."""

import asyncio
import uuid

from litestar import MediaType, Response, post

from service.api.access.gate import OPEN
from service.api.routes.request import AnyRequest
from service.errors import NotSetUpError, TooSlowError, UnknownPersonError
from service.incidents.pagerduty_events import MAX_BODY_BYTES as MAX_EVENT_BYTES
from service.incidents.pagerduty_events import PagerDutyInbox
from service.incidents.slack_buttons import BAD_SIGNATURE

# PagerDuty waits for five seconds, and repeats what was not answered.
_READ_SECONDS, _WRITE_SECONDS = 1.5, 3.0


@post(
    "/api/v1/pagerduty/events",
    access=OPEN,
    status_code=200,
    request_max_body_size=MAX_EVENT_BYTES,
    include_in_schema=False,
)
async def post_event(request: AnyRequest) -> Response[bytes]:
    """Write down what somebody did in PagerDuty; other events are accepted and dropped."""
    router: PagerDutyInbox = request.app.state.pagerduty
    if not router.is_set:
        name = "LINEWARD_DELIVERY_PAGERDUTY_WEBHOOK_SECRET_FILE"
        raise NotSetUpError(f"PagerDuty's webhooks: set {name}")
    try:
        body = await asyncio.wait_for(request.body(), _READ_SECONDS)
        taking = asyncio.to_thread(
            router.take,
            body,
            request.headers.get("x-pagerduty-signature"),
            request.app.state.clock(),
        )
        is_signed = await asyncio.wait_for(taking, _WRITE_SECONDS)
    except TimeoutError as error:
        raise TooSlowError(
            "timed out; the action may have been done, and the same event is processed only once"
        ) from error
    if not is_signed:
        await _reject(request)
    return Response(b"", media_type=MediaType.TEXT)


async def _reject(request: AnyRequest) -> None:
    guard = request.app.state.guard
    await guard.record_rejection("pagerduty", "", BAD_SIGNATURE, uuid.uuid4().hex)
    raise UnknownPersonError("unauthorized: invalid PagerDuty signature")
