"""Webhooks v3 of PagerDuty: their signature, and the action of a person."""

import hashlib
import hmac
import re
from typing import Final, Literal

import msgspec

from lineage.errors import InvalidRequestError

_PREFIX: Final = "v1="
_MOST_SIGNATURES: Final = 10  # while a secret is rotated there are two
_SIGNATURE: Final = re.compile(r"v1=[0-9a-f]{64}")
_PERSON: Final = "user_reference"

ActionKind = Literal["acknowledge", "resolve"]
# `unacknowledged` (its timeout) and `reopened` have no counterpart here; nor has what services do.
_ACTIONS: Final[dict[str, ActionKind]] = {
    "incident.acknowledged": "acknowledge",
    "incident.resolved": "resolve",
}


class InvalidPagerDutyEventError(InvalidRequestError):
    """Body that is no event of a webhook v3; the text has what was expected."""


class PagerDutyAction(msgspec.Struct, frozen=True):
    """Action of a person in PagerDuty.

    Attributes:
        event_id: the same whenever PagerDuty repeats the event.
        action: what to do here.
        dedup_key: of the alert: the id by which the channel knows the incident.
        by: the person's name.
    """

    event_id: str
    action: ActionKind
    dedup_key: str
    by: str


class _Agent(msgspec.Struct, frozen=True):
    id: str = ""
    type: str = ""
    summary: str | None = None


class _Data(msgspec.Struct, frozen=True):
    incident_key: str | None = None


class _Event(msgspec.Struct, frozen=True):
    id: str
    event_type: str
    agent: _Agent | None = None
    data: _Data | None = None


class _Body(msgspec.Struct, frozen=True):
    event: _Event


def verify_pagerduty_signature(body: bytes, signatures: str | None, secret: str) -> bool:
    """Return whether one of the signatures is PagerDuty's, made with this secret.

    Args:
        body: as it came, before anything was parsed of it.
        signatures: header `X-PagerDuty-Signature`: one or several, with commas between them.
        secret: of the webhook subscription; an empty one verifies nothing.
    """
    if not secret.strip() or not signatures:
        return False
    own = _PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    given = [each.strip() for each in signatures.split(",", _MOST_SIGNATURES)][:_MOST_SIGNATURES]
    # Each is compared: the time must not show which one fits.
    fits = [hmac.compare_digest(own, each) for each in given if _SIGNATURE.fullmatch(each)]
    return any(fits)


def parse_action(body: bytes) -> PagerDutyAction | None:
    """Return what a person did; None: nothing that concerns an incident here.

    What Lineward itself sends comes back as an event of an integration, and is no command.

    Raises:
        InvalidPagerDutyEventError: the body is no event.
    """
    try:
        event = msgspec.json.decode(body, type=_Body).event
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = "pagerduty: expected an event of a webhook v3"
        raise InvalidPagerDutyEventError(
            f"{message}; {type(error).__name__}: {str(error)[:80]}"
        ) from error
    action, agent, data = _ACTIONS.get(event.event_type), event.agent, event.data
    if action is None or agent is None or agent.type != _PERSON:
        return None
    if data is None or not data.incident_key:
        return None
    by = f"{agent.summary} ({agent.id})" if agent.summary else agent.id
    return PagerDutyAction(event.id, action, data.incident_key, by)
