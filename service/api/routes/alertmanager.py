"""Webhook of Alertmanager, and its own alerts as notifications."""

import asyncio

import msgspec
from litestar import post
from litestar.datastructures import State

from alerts.notify import RoutingSettings, receive_webhook
from alerts.notify.alertmanager_alerts import WebhookResult
from alerts.notify.alertmanager_webhook import WebhookPayload, parse_webhook
from lineage.process.clock import to_micros
from service.api.routes.request import AnyRequest, require_json
from service.incidents.incident_commands import acting
from service.queries.catalog_session import open_session

_MAX_BODY_BYTES = 4 << 20  # a group of some thousand alerts


class WebhookReply(msgspec.Struct, frozen=True):
    """Result of a webhook call.

    Attributes:
        released: incidents that it named, ours or not.
        notifications: how many it caused; `told` in JSON.
    """

    released: int
    notifications: int = msgspec.field(name="told")


@post(
    "/api/v1/alertmanager",
    access="alertmanager",
    sends=WebhookPayload,
    status_code=200,
    request_max_body_size=_MAX_BODY_BYTES,
)
async def post_alertmanager(request: AnyRequest) -> WebhookReply:
    """Accept a call of Alertmanager's webhook, version 4, once it is in the catalog."""
    require_json(request)
    call = parse_webhook(await request.body())
    found = await asyncio.to_thread(_taken, request.app.state, call)
    return WebhookReply(released=len(found.released), notifications=len(found.notifications))


def _taken(state: State, call: WebhookPayload) -> WebhookResult:
    policy = state.policy.current()
    with open_session(
        state.settings, state.clock
    ):  # that there is a catalog: nobody makes one here
        pass
    routing: RoutingSettings = state.routing
    with acting(state.settings) as connection:
        return receive_webhook(connection, call, policy, routing, to_micros(state.clock()))
