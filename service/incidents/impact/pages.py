"""Incidents that page: since when each is a fault to page for, and who took the page."""

from typing import Final

import msgspec
from sqlalchemy import Connection, select, text

from alerts.incidents.lifecycle import LIFECYCLE_RULES
from alerts.notify.channels.page_actions import action_of
from alerts.notify.channels.registry import can_page
from alerts.notify.message import Message, from_json
from alerts.notify.notification_state import NotificationState
from alerts.notify.settings import TICKETS
from lineage.catalog.rows import convert_rows
from lineage.catalog.tables import incident_notification, notification
from lineage.process.clock import SECOND_MICROS
from lineage.states import FAILING

# Two ranges of one index: asked with OR, SQLite would read every page there ever was.
_RUNNING: Final = text(
    """
    SELECT incident_id, root_kind, onset, seen_at, fault_at, impact_outcome AS outcome, accepted_at
    FROM incident
    WHERE severity = 'page' AND impact_outcome IS NULL AND opened_at IS NOT NULL
    UNION ALL
    SELECT incident_id, root_kind, onset, seen_at, fault_at, impact_outcome, accepted_at
    FROM incident
    WHERE severity = 'page' AND impact_outcome = 'bad' AND fault_at > :since
    AND accepted_at IS NULL
    """
)
_PAGED: Final = text(
    """
    SELECT min(at), max(CASE WHEN what IN ('opened', 'escalated') THEN at END)
    FROM incident_event WHERE incident_id = :incident
    """
)
_FIRST_MEMBER: Final = text(
    """
    SELECT m.kind, m.onset,
        EXISTS (SELECT 1 FROM run r WHERE r.run_id = m.run_id AND r.is_history) AS is_history
    FROM (
        SELECT kind, onset, run_id FROM incident_member WHERE incident_id = :incident
        ORDER BY onset, steps LIMIT 1
    ) m
    """
)
_WATCHING: Final = text("SELECT min(as_of) FROM evaluation")
_FAILED: Final = frozenset({"failed", FAILING})


class Page(msgspec.Struct, frozen=True):
    """Incident that pages, and the state of its clock. Times are in µs.

    Attributes:
        onset: when its root failed.
        seen_at: when that was found.
        fault_at: the clock runs from it; None: this is seen for the first time.
        outcome: of M8; None: not known yet.
        accepted_at: a channel accepted its page.
    """

    incident_id: str
    root_kind: str
    onset: int
    seen_at: int
    fault_at: int | None = None
    outcome: str | None = None
    accepted_at: int | None = None


class Paged(msgspec.Struct, frozen=True):
    """Time of the first page, µs; `is_later`: the incident was a ticket, or hidden, before."""

    at: int
    is_later: bool


class FaultStart(msgspec.Struct, frozen=True):
    """Start of a fault that pages, µs; `is_known`: Lineward could observe it then."""

    at: int
    is_known: bool


def running_pages(connection: Connection, since: int) -> list[Page]:
    """Return pages without an outcome, and late ones of faults after `since` (µs), not taken."""
    return convert_rows(Page, connection.execute(_RUNNING, {"since": since}))


def paged_incidents(connection: Connection, page: Page) -> Paged:
    """Return the time from which the incident is notified as a page."""
    first, at = connection.execute(_PAGED, {"incident": page.incident_id}).one()
    return Paged(at, first < at)


def fault_start(connection: Connection, page: Page, since: Paged) -> FaultStart:
    """Return the start of the clock: first FAIL, missed deadline, or the time of the page."""
    if since.is_later:
        return FaultStart(since.at, is_known=True)
    at, is_history = _instant(page.root_kind, page.onset, page), False
    first = connection.execute(_FIRST_MEMBER, {"incident": page.incident_id}).one_or_none()
    if first is not None and first.onset <= page.onset:
        at, is_history = _instant(first.kind, first.onset, page), bool(first.is_history)
    watching: int | None = connection.scalar(_WATCHING)
    is_known = not is_history and (watching is None or watching <= at)
    # A clock may run ahead; what paged was a fault by then.
    return FaultStart(min(at, since.at), is_known)


def _instant(kind: str, onset: int, page: Page) -> int:
    """Return the time of a FAIL, or the end of the hold of a late dataset."""
    if kind in LIFECYCLE_RULES.at_once:
        return page.seen_at  # of an access that was let in, the hour is all that is kept
    return onset if kind in _FAILED else onset + round(LIFECYCLE_RULES.open_seconds * SECOND_MICROS)


def load_page_state(connection: Connection, page: Page) -> NotificationState | None:
    """Return the notification state of a page, or None if it was deleted."""
    own = incident_notification.c.incident_id == page.incident_id
    stored = connection.scalar(select(incident_notification.c.telling).where(own))
    return None if stored is None else msgspec.json.decode(stored, type=NotificationState)


def is_by_provider(channel: str) -> bool:
    """Return whether a person receives it: all channels but the webhook of all tickets."""
    return channel != TICKETS


def accepted_at(
    connection: Connection, page: Page, since: Paged, state: NotificationState | None
) -> int | None:
    """Return when the first message of the page with a link to the full list was accepted, µs."""
    channels = () if state is None else state.channels
    # A channel may know it by the id of an incident that it took over.
    names = {page.incident_id, *(channel.dedup_id for channel in channels)}
    table = notification
    query = select(table.c.channel, table.c.message, table.c.finished_at).where(
        table.c.incident_id.in_(names), table.c.state == "sent", table.c.created_at >= since.at
    )
    rows = connection.execute(query.order_by(table.c.finished_at))
    return next(
        (at for channel, message, at in rows if _has_list(channel, from_json(message))), None
    )


def _has_list(channel: str, message: Message) -> bool:
    """Check whether a notification on this channel links the affected datasets."""
    if message.kind == "notice" or message.links.full_list is None:
        return False
    if can_page(channel):  # an acknowledge or a resolve holds no more than its key
        return action_of(message.kind) == "trigger"
    return is_by_provider(channel)
