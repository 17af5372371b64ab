"""Inboxes of PagerDuty's webhook and of Slack's buttons: a signed request becomes a command.

A request writes one row, as any other command does. It evaluates nothing and sends nothing. Slack
shows the result when the message is edited. `response_url` is not used.
"""

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
import structlog
from sqlalchemy import Connection, select

from alerts.notify.channels.channel import MissingSecretError, read_secret_file
from alerts.notify.channels.pagerduty.webhooks import (
    PagerDutyAction,
    parse_action,
    verify_pagerduty_signature,
)
from alerts.notify.channels.slack.blocks import FOUR_HOURS, MORNING
from alerts.notify.channels.slack.interactions import (
    ButtonPress,
    parse_button_press,
    verify_slack_signature,
)
from alerts.operator_actions.audit import add_entry, rejected_entry, storable_text
from alerts.operator_actions.command_requests import CommandRequest, is_incident_id, request_entry
from lineage.catalog.tables import incident
from lineage.errors import NotNowError, UnknownIncidentError
from lineage.policy import Policy
from lineage.process.clock import to_micros
from service.errors import RejectedInputError
from service.incidents.incident_commands import command_transaction, put_command
from service.queries.timestamps import next_morning
from service.runtime.policies import PolicyInForce
from service.runtime.settings import Settings

_MOST_MERGES: Final = 20
_log = structlog.get_logger(__name__)

MAX_INBOX_BYTES: Final = 1 << 20
BAD_SIGNATURE: Final = "bad_signature"
UNKNOWN_USER: Final = "unknown_user"


class PagerDutyInbox:
    """Inbox of a webhook subscription's events. For several threads at once."""

    def __init__(self, settings: Settings, secret_file: Path | None) -> None:
        self._settings = settings
        self._secret_file = secret_file

    @property
    def is_set(self) -> bool:
        """Return whether a file with the secret is set."""
        return self._secret_file is not None

    def take(self, body: bytes, signatures: str | None, now: datetime) -> bool:
        """Store the command of an event; return whether PagerDuty signed it.

        A command that comes to nothing is in the audit log, and is no error of PagerDuty's: it
        would repeat the event, and end the subscription after enough of these.

        Raises:
            RequestError: PagerDuty signed the body, but it is no event.
        """
        if not verify_pagerduty_signature(
            body, signatures, _read_signing_secret(self._secret_file)
        ):
            return False
        did = parse_action(body)
        if did is not None and is_incident_id(did.dedup_key):
            self._put(did, now)
        return True

    def _put(self, did: PagerDutyAction, now: datetime) -> None:
        with command_transaction(self._settings) as connection:
            number = _standing_for(connection, did.dedup_key)
        once = hashlib.sha256(did.event_id.encode()).hexdigest()[:32]
        wanted = CommandRequest(
            incident_id=number,
            action=did.action,
            by=storable_text(did.by, 100),
            via="pagerduty",
            request_id=f"pagerduty {once}",
        )
        try:
            put_command(self._settings, wanted, now)
        except (NotNowError, UnknownIncidentError) as error:
            _log.info("pagerduty_event_rejected", incident=number, reason=str(error))


def _standing_for(connection: Connection, dedup_key: str) -> str:
    """Return the incident of an alert: where that was merged, the one that it merged into."""
    number = dedup_key
    for _ in range(_MOST_MERGES):
        own = select(incident.c.merged_into).where(incident.c.incident_id == number)
        older = connection.scalar(own)
        if older is None:
            break
        number = str(older)
    return number


class Signed(msgspec.Struct, frozen=True):
    """Request as it came: its body, and the two headers that Slack signs it with."""

    body: bytes
    timestamp: str | None
    signature: str | None


class Stranger(msgspec.Struct, frozen=True):
    """User who is rejected, and the reason in one word. `who`: the user's id in Slack, if known."""

    reason: str
    who: str = ""


class SlackInbox:
    """Inbox of pressed buttons. For several threads at once."""

    def __init__(self, settings: Settings, policy: PolicyInForce, secret_file: Path | None) -> None:
        self._settings = settings
        self._secret_file = secret_file
        self._policy = policy

    @property
    def is_set(self) -> bool:
        """Return whether a file with the signing secret is set."""
        return self._secret_file is not None

    def take(self, request: Signed, now: datetime) -> Stranger | None:
        """Store the command of a pressed button; return the sender if they may not use it.

        Raises:
            RequestError: Slack signed the request, but it names no known command.
        """
        if not verify_slack_signature(
            request.body,
            timestamp=request.timestamp,
            signature=request.signature,
            secret=_read_signing_secret(self._secret_file),
            now=now,
        ):
            return Stranger(BAD_SIGNATURE)
        press = parse_button_press(request.body)
        policy = self._policy.current()
        person = _person(press, policy)
        wanted = _ask(press, person or _as_slack_says(press), policy, now)
        if person is None:
            self._reject(wanted, now)
            return Stranger(UNKNOWN_USER, storable_text(press.user_id, 100))
        once = hashlib.sha256(f"{request.signature}".encode()).hexdigest()[:32]
        put_command(
            self._settings, msgspec.structs.replace(wanted, request_id=f"slack {once}"), now
        )
        return None

    def _reject(self, wanted: CommandRequest, now: datetime) -> None:
        entry = rejected_entry(
            request_entry(wanted, to_micros(now)), "the policy has no such person"
        )
        with command_transaction(self._settings) as connection:
            add_entry(connection, entry)


def _person(press: ButtonPress, policy: Policy) -> str | None:
    """Return the user's name in the policy, or in Slack if the policy lists no people."""
    if not policy.people:
        return _as_slack_says(press)
    return next((one.name for one in policy.people if one.slack == press.user_id), None)


def _as_slack_says(press: ButtonPress) -> str:
    return storable_text(
        f"{press.user_name} ({press.user_id})" if press.user_name else press.user_id, 100
    )


def _ask(press: ButtonPress, by: str, policy: Policy, now: datetime) -> CommandRequest:
    until = _end(press.choice, policy, now) if press.answer == "suppress" else None
    return CommandRequest(
        incident_id=press.incident_id,
        action=press.answer,
        by=by,
        via="slack",
        until=None if until is None else to_micros(until),
    )


def _end(choice: str, policy: Policy, now: datetime) -> datetime:
    if choice == MORNING:
        return next_morning(now, policy.time_zone)
    return now + timedelta(hours=4 if choice == FOUR_HOURS else 1)


def _read_signing_secret(file: Path | None) -> str:
    """Return the secret; empty without a file.

    Raises:
        RejectedInputError: the file cannot be read or is empty.
    """
    try:
        return "" if file is None else read_secret_file(file)
    except MissingSecretError as error:
        raise RejectedInputError(str(error)) from error
