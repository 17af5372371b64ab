"""Webhooks of Alertmanager, PagerDuty and Slack.

For the last two, a signature replaces the token: they are outside the gate.
"""

import asyncio
import uuid
from typing import TYPE_CHECKING

import msgspec
from litestar import MediaType, Response, post
from litestar.datastructures import State

from alerts.notify.alertmanager_alerts import WebhookResult
from alerts.notify.alertmanager_webhook import WebhookPayload, parse_webhook
from alerts.notify.router import receive_webhook
from lineage.process.clock import to_micros
from service.api.access.gate import OPEN, address_of
from service.api.routes.request import AnyRequest, require_json
from service.errors import NotSetUpError, RequestTimeoutError, UnknownPersonError
from service.incidents.inboxes import (
    BAD_SIGNATURE,
    MAX_INBOX_BYTES,
    PagerDutyInbox,
    Signed,
    SlackInbox,
    Stranger,
)
from service.incidents.incident_commands import command_transaction
from service.queries.catalog_session import open_session

if TYPE_CHECKING:
    from alerts.notify.settings import RoutingSettings

_MAX_ALERT_BYTES = 4 << 20  # a group of some thousand alerts

# PagerDuty waits for five seconds, and repeats what was not answered.
_PAGERDUTY_READ_SECONDS, _PAGERDUTY_WRITE_SECONDS = 1.5, 3.0

# Slack waits for three seconds.
_SLACK_READ_SECONDS, _SLACK_WRITE_SECONDS = 1.0, 1.8


class WebhookReply(msgspec.Struct, frozen=True):
    """Result of a webhook call.

    Attributes:
        released: incidents that it named, ours or not.
        notifications: how many it caused.
        old_notifications: the same under its old name, which the next release removes.
    """

    released: int
    notifications: int
    old_notifications: int = msgspec.field(name="told")


@post(
    "/api/v1/alertmanager",
    access="alertmanager",
    sends=WebhookPayload,
    status_code=200,
    request_max_body_size=_MAX_ALERT_BYTES,
)
async def post_alertmanager(request: AnyRequest) -> WebhookReply:
    """Accept a call of Alertmanager's webhook, version 4, once it is in the catalog."""
    require_json(request)
    call = parse_webhook(await request.body())
    found = await asyncio.to_thread(_taken, request.app.state, call)
    count = len(found.notifications)
    return WebhookReply(released=len(found.confirmed), notifications=count, old_notifications=count)


def _taken(state: State, call: WebhookPayload) -> WebhookResult:
    policy = state.policy.current()
    with open_session(
        state.settings, state.clock
    ):  # that there is a catalog: nobody makes one here
        pass
    routing: RoutingSettings = state.routing
    with command_transaction(state.settings) as connection:
        return receive_webhook(connection, call, policy, routing, to_micros(state.clock()))


@post(
    "/api/v1/pagerduty/events",
    access=OPEN,
    status_code=200,
    request_max_body_size=MAX_INBOX_BYTES,
    include_in_schema=False,
)
async def post_event(request: AnyRequest) -> Response[bytes]:
    """Write down what somebody did in PagerDuty; other events are accepted and dropped."""
    router: PagerDutyInbox = request.app.state.pagerduty
    if not router.is_set:
        name = "LINEWARD_DELIVERY_PAGERDUTY_WEBHOOK_SECRET_FILE"
        raise NotSetUpError(f"PagerDuty's webhooks: set {name}")
    try:
        body = await asyncio.wait_for(request.body(), _PAGERDUTY_READ_SECONDS)
        taking = asyncio.to_thread(
            router.take,
            body,
            request.headers.get("x-pagerduty-signature"),
            request.app.state.clock(),
        )
        is_signed = await asyncio.wait_for(taking, _PAGERDUTY_WRITE_SECONDS)
    except TimeoutError as error:
        raise RequestTimeoutError(
            "timed out; the action may have been done, and the same event is processed only once"
        ) from error
    if not is_signed:
        await _reject_event(request)
    return Response(b"", media_type=MediaType.TEXT)


async def _reject_event(request: AnyRequest) -> None:
    guard = request.app.state.guard
    await guard.record_rejection(
        "pagerduty", "", BAD_SIGNATURE, uuid.uuid4().hex, address_of(request.scope)
    )
    raise UnknownPersonError("unauthorized: invalid PagerDuty signature")


@post(
    "/api/v1/slack/interactions",
    access=OPEN,
    status_code=200,
    request_max_body_size=MAX_INBOX_BYTES,
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
        stranger = await asyncio.wait_for(taking, _SLACK_WRITE_SECONDS)
    except TimeoutError as error:
        raise RequestTimeoutError("the catalog is busy; the action may have been done") from error
    if stranger is not None:
        await _reject_stranger(request, stranger)
    return Response(b"", media_type=MediaType.TEXT)


async def _signed(request: AnyRequest) -> Signed:
    try:
        body = await asyncio.wait_for(request.body(), _SLACK_READ_SECONDS)
    except TimeoutError as error:
        raise RequestTimeoutError("the body did not arrive in time") from error
    named = request.headers
    return Signed(body, named.get("x-slack-request-timestamp"), named.get("x-slack-signature"))


async def _reject_stranger(request: AnyRequest, stranger: Stranger) -> None:
    guard = request.app.state.guard
    await guard.record_rejection(
        "slack", stranger.who, stranger.reason, uuid.uuid4().hex, address_of(request.scope)
    )
    raise UnknownPersonError("unauthorized: invalid Slack signature, or unknown user")
