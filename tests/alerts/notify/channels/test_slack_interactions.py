"""Requests of Slack's buttons, and their signatures."""

import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.notify.channels.slack.blocks import build_blocks
from alerts.notify.channels.slack.interactions import (
    ButtonPress,
    InvalidButtonPressError,
    parse_button_press,
    verify_slack_signature,
)
from tests.alerts.notify.messages import START, message

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"  # noqa: S105 - of nobody
OTHER, BLANK = "another", " "
BODY = b"payload=%7B%22type%22%3A%22block_actions%22%7D"
SENT = str(int(START.timestamp()))


def _signature(body: bytes = BODY, timestamp: str = SENT, secret: str = SECRET) -> str:
    digest = hmac.new(secret.encode(), f"v0:{timestamp}:".encode() + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"


def _is_taken(body=BODY, timestamp=SENT, signature=None, secret=SECRET, after_seconds=0):
    return verify_slack_signature(
        body,
        timestamp=timestamp,
        signature=_signature() if signature is None else signature,
        secret=secret,
        now=START + timedelta(seconds=after_seconds),
    )


def test_request_signed_by_slack_is_accepted():
    """Verify the body as it came, with our secret."""
    assert _is_taken()


@pytest.mark.parametrize(
    "wrong",
    [
        {"body": BODY + b" "},
        {"signature": _signature(secret=OTHER)},
        {"signature": ""},
        {"signature": _signature().upper()},
        {"signature": "v0=é" + "0" * 63},
        {"timestamp": None},
        {"timestamp": str(int(SENT) + 1)},
        {"timestamp": "soon"},
        {"timestamp": "٣" * 10},
        {"secret": ""},
        {"secret": BLANK, "signature": _signature(secret=BLANK)},
        {"body": b"\xff", "signature": _signature(b"\xff")},
    ],
)
def test_any_other_request_is_rejected(wrong):
    """Reject another body, secret, time or form without raising."""
    assert not _is_taken(**wrong)


@pytest.mark.parametrize(("after_seconds", "taken"), [(300, True), (301, False), (-301, False)])
def test_request_is_accepted_for_five_minutes(after_seconds, taken):
    """Reject a request that is replayed later."""
    assert _is_taken(after_seconds=after_seconds) is taken


@given(st.binary(max_size=100), st.text(max_size=20), st.text(max_size=80), st.text(max_size=20))
def test_any_request_gets_yes_or_no(body, timestamp, signature, secret):
    """Raise for no input."""
    assert (
        verify_slack_signature(
            body, timestamp=timestamp, signature=signature, secret=secret, now=START
        )
        is False
    )


def _press_body(*actions: dict[str, Any], kind: str = "block_actions") -> bytes:
    user = {"id": "U1", "username": "ann", "team_id": "T1"}
    payload = {"type": kind, "user": user, "actions": actions, "response_url": "https://a.test"}
    return urlencode({"payload": json.dumps(payload)}).encode()


def test_each_button_of_a_message_is_parsed():
    """Parse what Slack sends back for the message's own buttons."""
    acknowledge, suppress, false_alarm = build_blocks(message())[-1]["elements"]
    buttons = [acknowledge, false_alarm]
    chosen = [suppress | {"selected_option": option} for option in suppress["options"]]

    answers = [parse_button_press(_press_body(each)) for each in buttons + chosen]

    assert answers == [
        ButtonPress("acknowledge", "inc-1", "U1", "ann"),
        ButtonPress("false_alarm", "inc-1", "U1", "ann"),
        ButtonPress("suppress", "inc-1", "U1", "ann", "1h"),
        ButtonPress("suppress", "inc-1", "U1", "ann", "4h"),
        ButtonPress("suppress", "inc-1", "U1", "ann", "tomorrow"),
    ]


def test_suppress_button_of_an_older_message_is_parsed():
    """Take the shortest time: Suppress was a button before it was a menu."""
    press = _press_body({"action_id": "lineward_suppress", "value": "inc-1"})

    assert parse_button_press(press) == ButtonPress("suppress", "inc-1", "U1", "ann")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"payload=",
        b"payload=%7B%7D",
        b"payload=" + b"[" * 100_000,
        b"\xff=1",
        b"payload=1&" * 20,
        _press_body(),
        _press_body({"action_id": "another", "value": "inc-1"}),
        _press_body({"action_id": "lineward_suppress", "value": ""}),
        _press_body({"action_id": "lineward_suppress", "selected_option": {"value": "1y inc-1"}}),
        _press_body({"action_id": "lineward_suppress", "selected_option": None}),
    ],
)
def test_other_request_is_rejected_by_one_error(body):
    """Raise the same error for every other request."""
    with pytest.raises(InvalidButtonPressError, match="slack: expected"):
        parse_button_press(body)
