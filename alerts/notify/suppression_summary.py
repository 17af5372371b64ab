"""Summary of what a planned window suppressed, sent to the owners when the window has ended."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
from sqlalchemy import ColumnElement, Connection, or_, select, update

from alerts.incidents.affected_datasets import MAX_LISTED
from alerts.incidents.times import HIDDEN_SINCE, NamedTime
from alerts.notify import sentences
from alerts.notify.channels.registry import can_page
from alerts.notify.context import RoutingContext
from alerts.notify.digests import digest_line
from alerts.notify.links import full_list
from alerts.notify.message import Message, MessageLinks, MessageRoot
from alerts.notify.notification_plan import Notification
from alerts.notify.notification_state import NotificationState
from alerts.notify.state_store import enqueue_notification, load_states_where, save_states
from lineage.catalog.tables import incident_notification, suppression
from lineage.names import keys


def send_summaries(connection: Connection, context: RoutingContext, at: int) -> None:
    """Send the summary of every window that has ended."""
    for name in _load_window_names(connection):
        own = load_states_where(connection, incident_notification.c.hidden_by == name)
        if _has_ended(connection, name, own, at):
            for outgoing in build_summaries(name, own, context, at):
                enqueue_notification(connection, outgoing)
            listed = [msgspec.structs.replace(each, is_summary_sent=True) for each in own]
            save_states(connection, listed, context)
    _mark_notified(connection, at)


def build_summaries(
    name: str, hidden: Iterable[NotificationState], context: RoutingContext, at: int
) -> list[Notification]:
    """Return one notification for each owner, the oldest incident first; pure."""
    by_channel: dict[tuple[str, str], list[NotificationState]] = defaultdict(list)
    for each in hidden:
        address = context.address(each.owner, "ticket")
        for channel in address.channels:
            if not can_page(channel):
                by_channel[(address.owner, channel)].append(each)
    return [
        Notification(_message(name, owner, own, context, at), channel)
        for (owner, channel), own in sorted(by_channel.items(), key=lambda each: each[0])
    ]


def _message(
    name: str, owner: str, hidden: Sequence[NotificationState], context: RoutingContext, at: int
) -> Message:
    oldest = sorted(hidden, key=lambda each: (each.draft.since, each.incident_id))
    count, still = len(oldest), sum(each.is_bad for each in oldest)
    since = min(each.hidden_at or each.draft.since for each in oldest)
    return Message(
        incident_id=f"window-{keys.key(name, owner) % (1 << 64):016x}-{at}",
        revision=1,
        kind="notice",
        severity="ticket",
        what=sentences.window_ended(count, still),
        since=since,
        times=(NamedTime(HIDDEN_SINCE, since),),
        at=at,
        root=MessageRoot("window", name, "suppression"),
        owner=owner,
        lines=tuple(digest_line(each) for each in oldest[:MAX_LISTED]),
        note=sentences.and_more(count - MAX_LISTED) if count > MAX_LISTED else "",
        links=MessageLinks(full_list=full_list(None, context.settings)),
        has_root=False,
        is_answerable=False,
    )


def _load_window_names(connection: Connection) -> list[str]:
    """Return the windows that suppressed something and have no summary yet."""
    names = select(incident_notification.c.hidden_by).distinct()
    return list(connection.scalars(names.where(incident_notification.c.hidden_by.is_not(None))))


def _has_ended(
    connection: Connection, name: str, hidden: Sequence[NotificationState], at: int
) -> bool:
    """Return whether the window ended by time or by a person; a prolonged one did not."""
    if any(each.incident_state == "suppressed" for each in hidden):
        return False
    if all((each.hidden_until or 0) <= at for each in hidden):
        return True
    # A window of this name that has a summary is another one.
    own = (suppression.c.name == name, suppression.c.told_at.is_(None))
    early = select(suppression.c.id).where(*own, suppression.c.ended_at <= at)
    return connection.scalar(early.limit(1)) is not None


def is_window_due(connection: Connection, at: int) -> bool:
    """Return whether any window without a summary may have ended."""
    own = incident_notification.c
    hid = select(own.incident_id).where(own.hidden_by.is_not(None), own.hidden_until <= at)
    over = select(suppression.c.name).where(suppression.c.told_at.is_(None), _has_ended_at(at))
    return any(connection.scalar(query.limit(1)) is not None for query in (hid, over))


def _has_ended_at(at: int) -> ColumnElement[bool]:
    return or_(suppression.c.until_at <= at, suppression.c.ended_at <= at)


def _mark_notified(connection: Connection, at: int) -> None:
    """Mark the ended windows; one that suppressed nothing needs no summary."""
    table = suppression
    left = select(incident_notification.c.hidden_by).where(
        incident_notification.c.hidden_by == table.c.name
    )
    connection.execute(
        update(table)
        .where(table.c.told_at.is_(None), _has_ended_at(at), ~left.exists())
        .values(told_at=at)
    )
