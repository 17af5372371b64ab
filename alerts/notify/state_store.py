"""Store of notification states, and of the notifications that routing decides on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import structlog
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)

from alerts.notify.channels.name import parse_channel
from alerts.notify.context import CAP_SECONDS, RoutingContext, next_due_at
from alerts.notify.delivery_queries import DELIVERY_FAILED
from alerts.notify.message import to_json
from alerts.notify.notification_plan import Notification, TakenStep
from alerts.notify.notification_state import NotificationState
from alerts.notify.outbox import IS_PAGE, add_count, enqueue, prune_notifications
from alerts.notify.planning import LONGEST_WAIT, RoutingResult
from alerts.notify.ticket_caps import build_held_notices
from alerts.own_parts import OUTAGE_PARTS
from lineage.catalog.queries import split_batches
from lineage.catalog.tables import (
    digest,
    incident,
    incident_escalation,
    incident_notification,
    notification,
    received_alert,
)
from lineage.catalog.upsert import fold_rows
from lineage.process.clock import DAY_MICROS, SECOND_MICROS
from lineage.states import PAGE

MAX_DUE: Final = 200  # incidents in a transaction: others wait only briefly for the catalog
NOBODY: Final = "nobody"  # the channel of a message that has none
_LONGEST_ESCALATION: Final = 7 * DAY_MICROS  # no step is a week away
_log = structlog.get_logger(__name__)


def load_states(
    connection: Connection, incident_ids: Iterable[str]
) -> dict[str, NotificationState]:
    """Return the known states by incident id; locked for this transaction."""
    found: dict[str, NotificationState] = {}
    for piece in split_batches(sorted(set(incident_ids))):
        own = incident_notification.c.incident_id.in_(piece)
        found |= {each.incident_id: each for each in load_states_where(connection, own)}
    return found


def has_due(connection: Connection, policy_hash: str, at: int) -> bool:
    """Return whether `load_due` has any."""
    query = select(incident_notification.c.incident_id).where(_is_due(policy_hash, at))
    return connection.scalar(query.limit(1)) is not None


def load_due(connection: Connection, policy_hash: str, at: int) -> Sequence[NotificationState]:
    """Return the states that are due; all open ones after a change of the policy.

    At most `MAX_DUE`, pages first, then those that wait longest: the rest is due in the next turn.
    """
    own = incident_notification.c
    first = select(own.incident_id).where(_is_due(policy_hash, at))
    first = first.order_by(own.severity != PAGE, own.due_at.nulls_first(), own.incident_id)
    chosen = connection.scalars(first.limit(MAX_DUE)).all()
    return load_states_where(connection, _is_due(policy_hash, at), own.incident_id.in_(chosen))


def _is_due(policy_hash: str, at: int) -> ColumnElement[bool]:
    own = incident_notification.c
    return and_(own.is_bad, or_(own.due_at <= at, own.policy != policy_hash, _is_ahead(at)))


def load_states_where(
    connection: Connection, *clauses: ColumnElement[bool]
) -> Sequence[NotificationState]:
    """Return the states that match, by incident id; locked for this transaction."""
    query = select(incident_notification.c.telling).where(*clauses)
    rows = connection.scalars(query.order_by(incident_notification.c.incident_id).with_for_update())
    return [msgspec.json.decode(row, type=NotificationState) for row in rows]


def load_outages(connection: Connection) -> frozenset[str]:
    """Return the ids of open outages of Lineward itself."""
    table = incident_notification
    query = select(table.c.incident_id).where(table.c.is_bad, table.c.fault.in_(OUTAGE_PARTS))
    return frozenset(connection.scalars(query))


def save_result(
    connection: Connection, result: RoutingResult, context: RoutingContext, at: int
) -> None:
    """Save a result; a notification that a channel has had is not sent again."""
    for outgoing in result.notifications:
        enqueue_notification(connection, outgoing)
    for outgoing in build_held_notices(Counter(result.held_back), context.settings, at):
        enqueue_notification(connection, outgoing)
    save_states(connection, result.states, context)
    for escalated in result.taken_steps:
        _record_step(connection, escalated, at)
    for reason, count in Counter(result.without_recipient).items():
        # As attempts to notify that failed: there is an alert on those.
        add_count(connection, DELIVERY_FAILED, NOBODY, reason, times=count)
        _log.error(
            "notification_without_recipient",
            reason=reason,
            times=count,
            platform=context.settings.platform,
        )


def count_recent_tickets(connection: Connection, at: int, channel: str) -> int:
    """Return how many new tickets a channel was sent, or is to be sent, of the last hour."""
    own, since = notification.c, at - CAP_SECONDS * SECOND_MICROS
    # By the index of what is due: no attempt is before the message.
    recent = (own.channel == channel, own.next_attempt_at >= since, own.created_at >= since)
    tickets = (own.state.in_(("waiting", "sent")), own.kind == "opened", not_(IS_PAGE))
    return connection.scalar(select(func.count()).where(*recent, *tickets)) or 0


def enqueue_notification(connection: Connection, outgoing: Notification) -> None:
    """Store a notification in the outbox."""
    enqueue(connection, outgoing.message, parse_channel(outgoing.channel))


def save_states(
    connection: Connection, states: Iterable[NotificationState], context: RoutingContext
) -> None:
    """Replace states; of one incident the last counts."""
    newest = {each.incident_id: each for each in states}
    # Never deleted and inserted: a transaction that waits for the row would find none.
    fold_rows(connection, incident_notification, [_row(each, context) for each in newest.values()])
    notified = [
        {"its_id": each.incident_id, "released_at": each.notified_at}
        for each in newest.values()
        if each.is_notified and each.notified_at is not None
    ]
    mine = (incident.c.incident_id == bindparam("its_id"), incident.c.released_at.is_(None))
    if notified:
        connection.execute(update(incident).where(*mine), notified)


def _row(state: NotificationState, context: RoutingContext) -> dict[str, Any]:
    is_hidden = state.hidden_by is not None and not state.is_summary_sent
    return {
        "incident_id": state.incident_id,
        "telling": to_json(state),
        "fault": state.fault,
        "addressee": state.addressee,
        "severity": state.draft.severity,
        "is_bad": state.is_bad,
        "is_told": state.is_notified,
        "due_at": next_due_at(state, context),
        "policy": context.policy.hash,
        "hidden_by": state.hidden_by if is_hidden else None,
        "hidden_until": state.hidden_until if is_hidden else None,
        "ended_at": state.ended_at,
    }


def _record_step(connection: Connection, escalated: TakenStep, at: int) -> None:
    connection.execute(
        insert(incident_escalation).values(
            incident_id=escalated.incident_id,
            step=escalated.step,
            owner=escalated.owner,
            told_at=at,
            channel=", ".join(escalated.channels),
        )
    )


def prune_states(connection: Connection, before: int) -> int:
    """Delete states that ended before this time in µs; return how many.

    What a window hid and was not listed yet stays.
    """
    table = incident_notification
    is_over = (table.c.ended_at < before, table.c.hidden_by.is_(None))
    return connection.execute(delete(table).where(*is_over)).rowcount


def prune_ended(connection: Connection, keep_days: int, at: int) -> None:
    """Delete what ended more than so many days before this time in µs."""
    before = at - keep_days * DAY_MICROS
    prune_states(connection, before)
    prune_notifications(connection, before)
    connection.execute(delete(received_alert).where(received_alert.c.ends_at < before))
    connection.execute(delete(digest).where(digest.c.told_at < before))


def _is_ahead(at: int) -> ColumnElement[bool]:
    """Return whether a row is due so late that a clock ahead must have written it."""
    own = incident_notification.c
    return or_(
        and_(~own.is_told, own.due_at > at + LONGEST_WAIT),
        own.due_at > at + _LONGEST_ESCALATION,
    )
