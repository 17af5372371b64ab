"""Buttons that people press in Slack: the signature of the request, and its action."""

import re
from datetime import datetime
from typing import Final, Literal
from urllib.parse import parse_qs

import msgspec
from slack_sdk.signature import Clock, SignatureVerifier

from alerts.notify.channels.slack.blocks import ACKNOWLEDGE, CHOICES, FALSE_ALARM, SUPPRESS
from lineage.errors import InvalidRequestError

_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}")
_ACTIONS: Final[dict[str, "ButtonAction"]] = {
    ACKNOWLEDGE: "acknowledge",
    SUPPRESS: "suppress",
    FALSE_ALARM: "false_alarm",
}

ButtonAction = Literal["acknowledge", "suppress", "false_alarm"]


class InvalidButtonPressError(InvalidRequestError):
    """Request that is no press of our buttons; the text says what was expected."""


class ButtonPress(msgspec.Struct, frozen=True):
    """Action of a person on an incident. `user_id` and `user_name` as Slack knows them.

    `choice`: for how long, of what is suppressed; empty of all else.
    """

    answer: ButtonAction
    incident_id: str
    user_id: str
    user_name: str
    choice: str = ""


class _User(msgspec.Struct, frozen=True):
    id: str
    username: str = ""
    name: str = ""


class _Option(msgspec.Struct, frozen=True):
    value: str = ""


class _Action(msgspec.Struct, frozen=True):
    action_id: str
    value: str = ""
    selected_option: _Option = _Option()


class _Payload(msgspec.Struct, frozen=True):
    type: str
    user: _User
    actions: tuple[_Action, ...] = ()


class _FixedClock(Clock):
    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> float:
        return self._now.timestamp()


def verify_slack_signature(
    body: bytes, *, timestamp: str | None, signature: str | None, secret: str, now: datetime
) -> bool:
    """Return whether Slack signed this body with our secret within five minutes of `now`.

    Args:
        body: as it came, before anything was parsed of it.
        timestamp: header `X-Slack-Request-Timestamp`, seconds.
        signature: header `X-Slack-Signature`; compared in constant time.
        secret: the app's signing secret; an empty one verifies nothing.
        now: by our clock.
    """
    # The library raises on a body, a time or a signature of another form.
    if not secret.strip() or timestamp is None or not _TIMESTAMP.fullmatch(timestamp):
        return False
    if signature is None or not _SIGNATURE.fullmatch(signature):
        return False
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return False
    return SignatureVerifier(secret, _FixedClock(now)).is_valid(text, timestamp, signature)


def parse_button_press(body: bytes) -> ButtonPress:
    """Return the pressed button and the person; only call it on a verified body.

    Raises:
        InvalidButtonPressError: no interaction, or one with something that is not ours.
    """
    try:
        fields = parse_qs(body.decode(errors="replace"), max_num_fields=10)
        payload = msgspec.json.decode(fields["payload"][0], type=_Payload)
        action = payload.actions[0]
        answer = _ACTIONS[action.action_id]
    except (LookupError, ValueError, msgspec.DecodeError, RecursionError) as error:
        message = "slack: expected a press of Acknowledge, Suppress or False alarm"
        raise InvalidButtonPressError(
            f"{message}; {type(error).__name__}: {str(error)[:80]}"
        ) from error
    choice, _, incident_id = action.selected_option.value.partition(" ")
    if choice not in CHOICES:
        choice, incident_id = "", action.value
    if not incident_id:
        raise InvalidButtonPressError(
            "slack: expected an incident's id as the button's value, got ''"
        )
    user = payload.user
    return ButtonPress(answer, incident_id, user.id, user.username or user.name, choice)
