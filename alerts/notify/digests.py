"""Daily digest of open tickets: one message for each owner that has any."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, select

from alerts.incidents.affected_datasets import MAX_LISTED
from alerts.notify import sentences
from alerts.notify.channels.registry import can_page
from alerts.notify.context import RoutingContext
from alerts.notify.links import full_list
from alerts.notify.message import Message, MessageLinks, MessageRoot
from alerts.notify.notification_plan import Notification
from alerts.notify.notification_state import NotificationState
from alerts.notify.recipients import channels_of, find_owner
from alerts.notify.settings import RoutingSettings
from alerts.notify.state_store import enqueue_notification, load_states_where
from lineage.catalog.tables import digest, incident_notification
from lineage.catalog.upsert import insert_for
from lineage.names import keys
from lineage.policy.model import Policy
from lineage.process.clock import from_micros, to_micros

_ALL: Final = ""  # any owner, of that day


class _Entry(NamedTuple):
    """Line of a digest with its sort key."""

    since: int
    name: str
    line: str


def send_digests(connection: Connection, context: RoutingContext, at: int) -> bool:
    """Send the digests once a day from the configured hour on; return whether it was now."""
    local = _local(context.policy, at)
    if not is_digest_due(connection, context.policy, context.settings, at):
        return False
    if not _mark_sent(connection, _ALL, _day(local), at):
        return False  # another service was a moment earlier
    table = incident_notification
    tickets = load_states_where(connection, table.c.is_bad, table.c.severity == "ticket")
    for outgoing in build_digests(tickets, context, local):
        enqueue_notification(connection, outgoing)
        _mark_sent(connection, outgoing.message.owner, _day(local), at)
    return True


def is_digest_due(
    connection: Connection, policy: Policy, settings: RoutingSettings, at: int
) -> bool:
    """Return whether the hour has come and the digests of the day were not sent."""
    local = _local(policy, at)
    return local.hour >= settings.digest_hour and not _is_sent(connection, _ALL, _day(local))


def _local(policy: Policy, at: int) -> datetime:
    return from_micros(at).astimezone(ZoneInfo(policy.time_zone))


def build_digests(
    tickets: Iterable[NotificationState], context: RoutingContext, now: datetime
) -> list[Notification]:
    """Return one message for each owner of open tickets, the oldest first; pure.

    Gaps without a notification are one line for each source system.
    """
    by_owner: dict[str, list[_Entry]] = defaultdict(list)
    gaps: dict[tuple[str, str], list[NotificationState]] = defaultdict(list)
    for ticket in tickets:
        if ticket.is_notified:
            own = ticket.draft
            entry = _Entry(own.since, ticket.incident_id, digest_line(ticket))
            by_owner[ticket.addressee].append(entry)
        elif ticket.is_for_digest:
            owner = context.address(ticket.owner, "ticket").owner
            gaps[owner, ticket.draft.root.namespace].append(ticket)
    for (owner, system), each in gaps.items():
        by_owner[owner].append(_gap_entry(system, each))
    notifications = (
        _build_digest(owner, own, context, now) for owner, own in sorted(by_owner.items())
    )
    return [outgoing for outgoing in notifications if outgoing is not None]


def _gap_entry(system: str, tickets: Sequence[NotificationState]) -> _Entry:
    since, count = min(each.draft.since for each in tickets), len(tickets)
    line = sentences.gap_line(system, count, since)
    return _Entry(since, system, line)


def _build_digest(
    owner: str, tickets: Sequence[_Entry], context: RoutingContext, now: datetime
) -> Notification | None:
    channel = _digest_channel(owner, context)
    if channel is None:
        return None
    oldest = sorted(tickets)
    count = len(oldest)
    message = Message(
        incident_id=f"digest-{_day(now)}-{keys.key(owner) % (1 << 64):016x}",
        revision=1,
        kind="notice",
        severity="ticket",
        what=sentences.open_tickets(count),
        since=oldest[0].since,
        at=to_micros(now),
        root=MessageRoot("digest of", owner, "tickets"),
        owner=owner,
        lines=tuple(each.line for each in oldest[:MAX_LISTED]),
        note=sentences.and_more(count - MAX_LISTED) if count > MAX_LISTED else "",
        links=MessageLinks(full_list=full_list(None, context.settings)),
        has_root=False,
        is_answerable=False,
    )
    return Notification(message, channel)


def _digest_channel(owner: str, context: RoutingContext) -> str | None:
    """Return the first channel that pages nobody; None: there is none."""
    own = channels_of(find_owner(context.policy, owner), "ticket", context.settings)
    last = context.settings.fallback
    quiet = [each for each in (*own, last) if each is not None and not can_page(each)]
    return quiet[0] if quiet else None


def digest_line(ticket: NotificationState) -> str:
    """Return one incident of a list."""
    own = ticket.draft
    return sentences.ticket_line(own.root.name, own.what, own.since, ticket.incident_state)


def _day(local: datetime) -> str:
    return f"{local:%Y-%m-%d}"


def _is_sent(connection: Connection, owner: str, day: str) -> bool:
    own = (digest.c.owner == owner, digest.c.day == day)
    return connection.scalar(select(digest.c.told_at).where(*own)) is not None


def _mark_sent(connection: Connection, owner: str, day: str, at: int) -> bool:
    """Return whether this service was the first to mark it."""
    once = insert_for(connection.dialect)(digest).on_conflict_do_nothing()
    noted = connection.scalar(
        once.values(owner=owner, day=day, told_at=at).returning(digest.c.owner)
    )
    return noted is not None
