"""Fallback channel for messages that are rejected or wait too long."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, func, insert, select, update

from alerts.notify import sentences
from alerts.notify.channels.channel import PermanentFailure
from alerts.notify.channels.name import ChannelName
from alerts.notify.channels.registry import can_page, required_settings
from alerts.notify.claims import SendClaim
from alerts.notify.delivery_queries import DELIVERY_FAILED
from alerts.notify.message import Message, MessageLinks, MessageRoot, from_json
from alerts.notify.outbox import add_count, enqueue, message_condition, waiting_messages
from lineage.catalog.tables import notification, notification_channel
from lineage.process.clock import SECOND_MICROS

_FIRST, _LAST = 1, 2


class Fallback(msgspec.Struct, frozen=True):
    """Channel that stands in for the others; None: metrics alone show failures.

    Attributes:
        undelivered_seconds: how long a message may wait before it is copied here.
        owner: of delivery itself.
        runbook: link of an alert on a channel.
    """

    channel: ChannelName | None
    undelivered_seconds: int = 600
    owner: str = "platform"
    runbook: str | None = None

    def hand_over_overdue(self, connection: Connection, now: int) -> int:
        """Copy what waits too long, once, while retries go on; return how many."""
        handed = 0
        for row in _load_overdue(connection, now - self.undelivered_seconds * SECOND_MICROS):
            for pending in _load_pending(connection, row.incident_id, row.channel):
                handed += self._hand_over(connection, pending, now)
        return handed

    def handle_failure(
        self, connection: Connection, claim: SendClaim, failure: PermanentFailure, now: int
    ) -> None:
        """Copy a rejected message, and open an alert on its channel."""
        self.handle_given_up(connection, claim, failure.reason, now)
        self._open_alert(connection, claim, failure, now)

    def handle_given_up(
        self, connection: Connection, claim: SendClaim, reason: str, now: int
    ) -> None:
        """Copy a message that is no longer tried, unless that was done while it waited."""
        row = connection.execute(
            select(notification).where(
                message_condition(claim.message.incident_id, claim.message.revision, claim.channel)
            )
        ).one()
        if row.fell_back_at is None:
            self._hand_over(connection, row, now, reason)

    def resolve_channel_alert(self, connection: Connection, claim: SendClaim, now: int) -> None:
        """Resolve the alert on a channel that accepts messages again."""
        for subject in (claim.channel, claim.kind):
            alert_id = _load_alert_id(connection, subject)
            if alert_id is not None and self.channel is not None:
                message = self._build_alert(subject, alert_id, sentences.DELIVERY_WORKS, now)
                ended = msgspec.structs.replace(message, kind="resolved", revision=_LAST)
                enqueue(connection, ended, self.channel)
                _save_alert_id(connection, subject, None)

    def _hand_over(
        self, connection: Connection, row: Row[Any], now: int, reason: str = "undelivered"
    ) -> bool:
        _mark_handed_over(connection, row, now)
        if reason == "undelivered":
            add_count(connection, DELIVERY_FAILED, row.channel, reason)
        message = from_json(row.message)
        if (
            self.channel is None
            or self._is_fallback(row.channel)
            or self._would_page_for_notice(message)
        ):
            return False
        why = sentences.failure_reason(row.reason or reason, required_settings(row.channel))
        note = sentences.not_delivered(row.channel, why, message.note)
        copy = msgspec.structs.replace(message, note=note, at=now)
        return enqueue(connection, copy, self.channel, fallback_for=row.channel)

    def _open_alert(
        self, connection: Connection, claim: SendClaim, failure: PermanentFailure, now: int
    ) -> None:
        if self.channel is None or self._is_fallback(claim.channel):
            return
        subject = claim.kind if failure.is_of_kind else claim.channel
        if _load_alert_id(connection, subject) is None:
            digest = hashlib.sha256(subject.encode()).hexdigest()[:16]
            alert_id = f"delivery-{digest}-{now}"
            needed = required_settings(claim.channel)
            why = sentences.failure_reason(failure.reason, needed)
            state = sentences.delivery_rejected(why)
            enqueue(connection, self._build_alert(subject, alert_id, state, now), self.channel)
            _save_alert_id(connection, subject, alert_id)

    def _build_alert(self, subject: str, alert_id: str, state: str, now: int) -> Message:
        return Message(
            incident_id=alert_id,
            revision=_FIRST,
            kind="opened",
            severity="page",
            what=sentences.delivery_state(subject, state),
            since=int(alert_id.rpartition("-")[2]),
            at=now,
            root=MessageRoot("delivery", subject, "lineward"),
            owner=self.owner,
            links=MessageLinks(runbook=self.runbook),
            is_answerable=False,
        )

    def _would_page_for_notice(self, message: Message) -> bool:
        """Return whether the fallback channel would page for a notice."""
        return self.channel is not None and can_page(str(self.channel)) and message.kind == "notice"

    def _is_fallback(self, channel: str) -> bool:
        """Return whether it is the fallback channel itself, which has no other."""
        return self.channel is not None and channel == str(self.channel)


def _load_overdue(connection: Connection, before: int) -> Sequence[Row[Any, Any]]:
    return connection.execute(
        select(notification.c.incident_id, notification.c.channel)
        .where(
            notification.c.state == "waiting",
            notification.c.fell_back_at.is_(None),
        )
        .group_by(notification.c.incident_id, notification.c.channel)
        .having(func.min(notification.c.undelivered_since) <= before)
    ).all()


def _load_pending(connection: Connection, incident_id: str, channel: str) -> Sequence[Row[Any]]:
    pending = waiting_messages(incident_id, channel).where(notification.c.fell_back_at.is_(None))
    return connection.execute(pending).all()


def _mark_handed_over(connection: Connection, row: Row[Any], now: int) -> None:
    connection.execute(
        update(notification)
        .where(message_condition(row.incident_id, row.revision, row.channel))
        .values(fell_back_at=now)
    )


def _load_alert_id(connection: Connection, channel: str) -> str | None:
    table = notification_channel
    found: str | None = connection.scalar(
        select(table.c.alert_id).where(table.c.channel == channel)
    )
    return found


def _save_alert_id(connection: Connection, channel: str, alert_id: str | None) -> None:
    table = notification_channel
    changed = connection.execute(
        update(table).where(table.c.channel == channel).values(alert_id=alert_id)
    ).rowcount
    if not changed:
        connection.execute(
            insert(table).values(channel=channel, failures=0, held_until=0, alert_id=alert_id)
        )
