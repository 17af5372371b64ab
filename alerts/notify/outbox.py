"""Outbox: messages are stored in the transaction of the change that they report."""

from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, exists, func, select, update

from alerts.notify.channels.name import ChannelName, parse_channel
from alerts.notify.channels.registry import can_page
from alerts.notify.delivery_queries import Metric
from alerts.notify.message import Message, to_json
from lineage.catalog.tables import notification, notification_count
from lineage.catalog.upsert import add_up, fold_rows, insert_for
from lineage.states import PAGE

_own = notification.c
# Quotes inside of a JSON string are escaped: no name of an event can hold these characters.
IS_PAGE: Final = _own.message.contains(f'"severity":"{PAGE}"', autoescape=True)


def incident_condition(incident_id: str, channel: str) -> ColumnElement[bool]:
    """Return the condition for all messages of an incident to a channel."""
    return and_(_own.incident_id == incident_id, _own.channel == channel)


def message_condition(incident_id: str, revision: int, channel: str) -> ColumnElement[bool]:
    """Return the condition for one message to one channel."""
    return and_(incident_condition(incident_id, channel), _own.revision == revision)


def waiting_messages(incident_id: str, channel: str) -> Select[Any]:
    """Return the query for the waiting messages of an incident to a channel, in order."""
    own = select(notification).where(
        incident_condition(incident_id, channel), _own.state == "waiting"
    )
    return own.order_by(_own.revision)


_COUNTED: Final = {"preserve_rowcount": True}
_LAST_WORDS: Final = ("resolved", "handed_over", "notice", "test")


def enqueue(
    connection: Connection,
    message: Message,
    channel: ChannelName,
    *,
    fallback_for: str | None = None,
) -> bool:
    """Store a message to send; return whether neither it nor a later one was there.

    A channel that stood in for this one earlier in the incident gets a copy: it needs the end
    of what it was sent.

    Args:
        connection: in a write transaction, that of the incident's change.
        message: due at once, by its own `at`.
        channel: where to.
        fallback_for: the channel that this one stands in for.

    Raises:
        ValueError: the channel would page a person for a notice.
    """
    if message.kind == "notice" and can_page(str(channel)):
        raise ValueError(f"{channel}: expected a message that pages, got a notice")
    if _is_enqueued(connection, message, str(channel)):
        return False
    # Two channels may fall back on one at the same moment: the second finds the row.
    once = insert_for(connection.dialect)(notification).on_conflict_do_nothing()
    row = {**_new_row(message, channel), "fallback_for": fallback_for}
    if not connection.execute(once.values(row), execution_options=_COUNTED).rowcount:
        return False
    _copy_to_fallback(connection, message, str(channel))
    return True


def _is_enqueued(connection: Connection, message: Message, channel: str) -> bool:
    """Return whether it or a later one is there: an old state must not replace a newer one."""
    is_there = exists().where(
        incident_condition(message.incident_id, channel),
        notification.c.revision >= message.revision,
    )
    return bool(connection.scalar(select(is_there)))


def _new_row(message: Message, channel: ChannelName) -> dict[str, Any]:
    return {
        "incident_id": message.incident_id,
        "revision": message.revision,
        "channel": str(channel),
        "target": channel.target,
        "kind": message.kind,
        "message": to_json(message),
        "state": "waiting",
        "attempts": 0,
        "created_at": message.at,
        "undelivered_since": message.at,
        "next_attempt_at": message.at,
        "reason": "",
        "error": "",
    }


def _copy_to_fallback(connection: Connection, message: Message, channel: str) -> None:
    stand_ins = connection.execute(
        select(notification.c.channel)
        .where(
            notification.c.incident_id == message.incident_id,
            notification.c.fallback_for == channel,
        )
        .distinct()
    ).all()
    for (stand_in,) in stand_ins:
        enqueue(connection, message, parse_channel(stand_in), fallback_for=channel)
        _mark_handed_over(connection, message, channel)


def _mark_handed_over(connection: Connection, message: Message, channel: str) -> None:
    """Record that the fallback channel has this revision."""
    connection.execute(
        update(notification)
        .where(message_condition(message.incident_id, message.revision, channel))
        .values(fell_back_at=message.at)
    )


def requeue(connection: Connection, channel: str, now: int) -> int:
    """Make the failed messages of a channel due again; return how many.

    What a later message of the same incident has overtaken stays as it is.
    """
    again = {"state": "waiting", "finished_at": None}
    times = dict.fromkeys(("next_attempt_at", "created_at", "undelivered_since"), now)
    own = (notification.c.channel == channel, *_failed())
    return connection.execute(update(notification).where(*own).values(**again, **times)).rowcount


def count_failed(connection: Connection, channel: str) -> int:
    """Return how many notifications `requeue` would take."""
    own = (notification.c.channel == channel, *_failed())
    found = connection.scalar(select(func.count()).select_from(notification).where(*own))
    return int(found or 0)


def failed_channels(connection: Connection) -> list[str]:
    """Return the channels of which `requeue` would take any."""
    query = select(notification.c.channel).where(*_failed()).distinct()
    return list(connection.scalars(query.order_by(notification.c.channel)))


def _failed() -> tuple[ColumnElement[bool], ...]:
    newer = notification.alias()
    is_overtaken = exists().where(
        newer.c.incident_id == notification.c.incident_id,
        newer.c.channel == notification.c.channel,
        newer.c.revision > notification.c.revision,
    )
    return notification.c.state == "failed", ~is_overtaken


def prune_notifications(connection: Connection, before: int) -> int:
    """Delete messages of incidents that ended before this time in µs; return how many.

    An open one keeps its rows: its resolve has to know what it resolves.
    """
    table, other = notification, notification.alias()
    same = (other.c.incident_id == table.c.incident_id, other.c.channel == table.c.channel)
    newest = select(func.max(other.c.revision)).where(*same).scalar_subquery()
    is_over = exists().where(
        *same,
        other.c.revision == newest.correlate(table),
        other.c.kind.in_(_LAST_WORDS),
        other.c.state != "waiting",
        other.c.created_at < before,
    )
    return connection.execute(delete(table).where(is_over)).rowcount


def add_count(
    connection: Connection, metric: Metric, channel: str, label: str = "", *, times: int = 1
) -> None:
    """Add to a counter; `label` is the kind of the message, or the reason of a failure."""
    row = {"metric": metric, "channel": channel, "label": label, "value": times}
    fold_rows(connection, notification_count, [row], {"value": add_up})
