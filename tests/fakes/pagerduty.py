"""PagerDuty's Events API v2 and webhooks v3 as documented, faults included, over HTTPS.

The library supports https only: the fake has an authority of its own, which its client has to
trust.
"""

import hashlib
import hmac
import itertools
import json
from typing import Any

import trustme

from tests.fakes.http_server import Answer, FakeTlsServer, Request

_MAX_BYTES = 512_000
_ACTIONS = {"trigger": "triggered", "acknowledge": "acknowledged", "resolve": "resolved"}


class FakePagerDuty(FakeTlsServer):
    """Account.

    Attributes:
        keys: routing keys of its services.
        alerts: state by (routing key, dedup_key).
        pages: (routing key, dedup_key) of every alert that was opened and paged somebody.
        events: all accepted ones, in order.
        status: answers this to everything, accepting nothing, while it is set.
        retry_after: seconds that a 429 requires.
        lost_answers: so many next events are accepted, and the connection closed without an
    answer.
    """

    def __init__(self, authority: trustme.CA) -> None:
        super().__init__(authority)
        self.keys = {"R" * 32, "S" * 32}
        self.alerts: dict[tuple[str, str], str] = {}
        self.pages: list[tuple[str, str]] = []
        self.events: list[dict[str, Any]] = []
        self.status: int | None = None
        self.retry_after: int | None = None
        self.lost_answers = 0

    def do(self, key: tuple[str, str], action: str, by: str | None = "Ada Byron") -> bytes:
        """Change an alert in PagerDuty; return the body of its webhook.

        Without `by`, its auto-resolve or acknowledgement timeout did it, and the event has
        no agent.
        """
        self.alerts[key] = _STATES[action]
        return webhook(action, key[1], by)

    def actions(self) -> list[str]:
        """Return the accepted actions, in order."""
        return [event["event_action"] for event in self.events]

    def answer(self, request: Request) -> Answer | None:
        """Answer 202, or the error."""
        if self.status is not None:
            after = () if self.retry_after is None else (("Retry-After", str(self.retry_after)),)
            return Answer(self.status, {"status": "error"}, after)
        event = request.fields()
        if wrong := _wrong_with(event, request, self.keys):
            invalid = {"status": "invalid event", "message": "Event object is invalid"}
            return Answer(400, invalid | {"errors": wrong})
        self._take(event)
        if self.lost_answers:
            self.lost_answers -= 1
            return None
        taken = {"status": "success", "message": "Event processed"}
        return Answer(202, taken | {"dedup_key": event["dedup_key"]})

    def _take(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        key = (event["routing_key"], event["dedup_key"])
        action, state = event["event_action"], self.alerts.get(key)
        if action == "trigger" and state in (None, "resolved"):
            self.pages.append(key)
            self.alerts[key] = _ACTIONS[action]
        elif action != "trigger" and state not in (None, "resolved"):
            self.alerts[key] = _ACTIONS[action]


_STATES = {
    "incident.acknowledged": "acknowledged",
    "incident.unacknowledged": "triggered",
    "incident.resolved": "resolved",
    "incident.reopened": "triggered",
}
_numbers = itertools.count(1)


def webhook(
    event_type: str, dedup_key: str, by: str | None = "Ada Byron", *, agent: str = "user_reference"
) -> bytes:
    """Return the body of an event, with an id of its own."""
    event_id = f"01{next(_numbers):024d}"
    user = {"id": "PLH1HKV", "type": agent, "summary": by, "html_url": None, "self": None}
    service = {"id": "PF9KMXH", "type": "service_reference", "summary": "payments"}
    data = {"id": "PGR0VU2", "type": "incident", "number": 2, "incident_key": dedup_key}
    event = {
        "id": event_id,
        "event_type": event_type,
        "resource_type": "incident",
        "occurred_at": "2026-11-25T03:00:00.000Z",
        "agent": None if by is None else user,
        "client": None,
        "data": data | {"service": service, "title": "a fault"},
    }
    return json.dumps({"event": event}).encode()


def signature(body: bytes, secret: str) -> str:
    """Return a value of `X-PagerDuty-Signature`."""
    return f"v1={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def _wrong_with(event: dict[str, Any], request: Request, keys: set[str]) -> list[str]:
    payload = event.get("payload") or {}
    checks = {
        "'routing_key' is unknown": event.get("routing_key") in keys,
        "'event_action' is invalid": event.get("event_action") in _ACTIONS,
        "'dedup_key' is too long": len(event.get("dedup_key", "")) <= 255,
        "event is too large": len(request.body) <= _MAX_BYTES,
    }
    if event.get("event_action") == "trigger":
        severities = ("critical", "error", "warning", "info")
        checks |= {
            "'summary' is missing or too long": 0 < len(payload.get("summary", "")) <= 1024,
            "'source' is missing or blank": bool(payload.get("source", "").strip()),
            "'severity' is invalid": payload.get("severity") in severities,
        }
    return [message for message, holds in checks.items() if not holds]
