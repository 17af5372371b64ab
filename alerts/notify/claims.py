"""Claims on the next message of a channel: in order, and for one sender only.

An attempt is recorded before it is made. If its sender dies, the message is due again when the
lease ends, and is known to be in doubt.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, exists, func, not_, or_, select, update

from alerts.notify.channels.channel import ChannelTask
from alerts.notify.channels.name import parse_channel
from alerts.notify.channels.page_actions import RESOLVING
from alerts.notify.coalescing import (
    NEVER_TRIGGERED,
    SUPERSEDED,
    NextMessage,
    WaitingMessage,
    choose_next,
)
from alerts.notify.message import Message, MessageKind, from_json
from alerts.notify.outbox import IS_PAGE, incident_condition, message_condition, waiting_messages
from alerts.notify.settings import DeliverySettings
from lineage.catalog.tables import notification, notification_channel
from lineage.process.clock import SECOND_MICROS

# A provider may ask for a longer wait than ours, hardly for more than an hour.
_LONGEST_RETRY_SECONDS: Final = 3_600
# Messages sent since then are looked for before one is sent again.
_DOUBT_SECONDS: Final = 86_400


class SendClaim(msgspec.Struct, frozen=True):
    """Message that this sender may send until its lease ends.

    Attributes:
        channel: its name.
        kind: of the channel.
        attempts: this one among them.
        created_at: µs.
        began_at: of this attempt; µs.
    """

    channel: str
    kind: str
    task: ChannelTask
    attempts: int
    created_at: int
    began_at: int

    @property
    def message(self) -> Message:
        """Return the message to send."""
        return self.task.message


def is_any_waiting(connection: Connection) -> bool:
    """Return whether any message waits, due now or later."""
    waits = exists().where(notification.c.state == "waiting")
    return bool(connection.scalar(select(waits)))


def due_channels(connection: Connection, now: int) -> list[str]:
    """Return the channels that have a due message and are not held; `now` in µs."""
    held = notification_channel
    return list(
        connection.scalars(
            select(notification.c.channel)
            .distinct()
            .outerjoin(held, held.c.channel == notification.c.channel)
            .where(
                notification.c.state == "waiting",
                notification.c.next_attempt_at <= now,
                or_(held.c.held_until.is_(None), held.c.held_until <= now),
            )
            .order_by(notification.c.channel)
        )
    )


def claim(connection: Connection, channel: str, now: int, lease_seconds: int) -> SendClaim | None:
    """Claim the channel's next message; None: there is none.

    Args:
        connection: in a write transaction.
        channel: its name.
        now: µs.
        lease_seconds: for so long no other sender takes it.
    """
    while (incident_id := _next_incident(connection, channel, now)) is not None:
        rows = connection.execute(waiting_messages(incident_id, channel).with_for_update()).all()
        if not rows or rows[0].next_attempt_at > now:
            return None  # another sender was quicker
        before = _load_last_sent(connection, channel, incident_id)
        plan = choose_next(channel, [_waiting_of(row) for row in rows], before.kind)
        _drop_superseded(connection, rows, plan, now)
        if plan.revision is not None:
            row = _record_attempt(connection, rows, plan, now, lease_seconds)
            return _build_claim(row, plan, before, now)
    return None


def _next_incident(connection: Connection, channel: str, now: int) -> str | None:
    """Return the next incident with a due message: pages first, then by failures and age."""
    table = notification
    oldest = (
        select(table.c.incident_id, func.min(table.c.revision).label("revision"))
        .where(table.c.channel == channel, table.c.state == "waiting")
        .group_by(table.c.incident_id)
        .subquery()
    )
    is_oldest = and_(
        oldest.c.incident_id == table.c.incident_id, oldest.c.revision == table.c.revision
    )
    found: str | None = connection.scalar(
        select(table.c.incident_id)
        .join(oldest, is_oldest)
        .where(table.c.channel == channel, table.c.next_attempt_at <= now)
        .order_by(not_(IS_PAGE), table.c.attempts, table.c.created_at, table.c.incident_id)
        .limit(1)
    )
    return found


class _LastSent(msgspec.Struct, frozen=True):
    """Last message of the incident that the channel accepted, and its handle.

    `doubt_since`: from then on something that was parked since may have arrived; µs.
    """

    kind: MessageKind | None = None
    handle: str | None = None
    doubt_since: int | None = None


def _load_last_sent(connection: Connection, channel: str, incident_id: str) -> _LastSent:
    # An incident that resolved before the channel received it: a later change opens no alert.
    is_over = and_(notification.c.reason == NEVER_TRIGGERED, notification.c.kind.in_(RESOLVING))
    rows = connection.execute(
        select(notification)
        .where(
            incident_condition(incident_id, channel),
            or_(notification.c.state.in_(("sent", "failed")), is_over),
        )
        .order_by(notification.c.revision.desc())
    ).all()
    sent = next((row for row in rows if row.state == "sent"), None)
    doubtful = [
        row
        for row in rows
        if row.doubt_since is not None and (sent is None or row.revision > sent.revision)
    ]
    known = (row for row in rows if row.state != "failed" or row in doubtful)
    last = next(known, None)
    return _LastSent(
        None if last is None else last.kind,
        None if sent is None else sent.handle,
        min((row.doubt_since for row in doubtful), default=None),
    )


def _drop_superseded(
    connection: Connection, rows: Sequence[Row[Any]], plan: NextMessage, now: int
) -> None:
    for revision, reason in plan.dropped:
        connection.execute(
            update(notification)
            .where(message_condition(rows[0].incident_id, revision, rows[0].channel))
            .values(state="superseded", reason=reason, finished_at=now)
        )


def _record_attempt(
    connection: Connection, rows: Sequence[Row[Any]], plan: NextMessage, now: int, lease: int
) -> Row[Any]:
    """Record the attempt; return the row of the message."""
    row = next(row for row in rows if row.revision == plan.revision)
    stands_for = {revision for revision, reason in plan.dropped if reason == SUPERSEDED}
    ages = [each.undelivered_since for each in rows if each.revision in stands_for]
    connection.execute(
        update(notification)
        .where(message_condition(row.incident_id, row.revision, row.channel))
        .values(
            attempts=row.attempts + 1,
            next_attempt_at=now + lease * SECOND_MICROS,
            doubt_since=now if plan.doubt_since is None else plan.doubt_since,
            undelivered_since=min([row.undelivered_since, *ages]),
        )
    )
    return row


def _build_claim(row: Row[Any], plan: NextMessage, before: _LastSent, now: int) -> SendClaim:
    doubts = [since for since in (plan.doubt_since, before.doubt_since) if since is not None]
    return SendClaim(
        channel=row.channel,
        kind=_kind_of(row),
        task=ChannelTask(
            from_json(row.message), row.target, before.handle, min(doubts, default=None)
        ),
        attempts=row.attempts + 1,
        created_at=row.created_at,
        began_at=now,
    )


def _kind_of(row: Row[Any]) -> str:
    return parse_channel(row.channel).kind


def _waiting_of(row: Row[Any]) -> WaitingMessage:
    return WaitingMessage(row.revision, row.kind, row.doubt_since)


def correct_times(connection: Connection, now: int, settings: DeliverySettings) -> None:
    """Reset times that only a clock ahead can have written: they would delay messages.

    Args:
        connection: in a write transaction.
        now: µs.
        settings: of the sender, with its waits.
    """
    longest = max(_LONGEST_RETRY_SECONDS, settings.longest_wait_seconds, settings.lease_seconds)
    until = now + int(longest * SECOND_MICROS)
    held, row = notification_channel, notification.c
    waits = row.state == "waiting"
    connection.execute(update(held).where(held.c.held_until > until).values(held_until=now))
    _set(connection, {"next_attempt_at": now}, waits, row.next_attempt_at > until)
    _set(connection, {"created_at": now}, waits, row.created_at > now)
    _set(connection, {"undelivered_since": now}, waits, row.undelivered_since > now)
    doubt = now - _DOUBT_SECONDS * SECOND_MICROS
    _set(connection, {"doubt_since": doubt}, waits, row.doubt_since > now)


def _set(connection: Connection, values: dict[str, int], *which: ColumnElement[bool]) -> None:
    connection.execute(update(notification).where(*which).values(values))
