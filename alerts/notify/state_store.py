"""Where it is kept what people know of each incident, and put into the outbox what they hear."""

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

from alerts.incidents.severity import PAGE
from alerts.notify import counts
from alerts.notify.channels.channel import channel_of
from alerts.notify.context import HELD_SECONDS, Scene, next_at
from alerts.notify.delivery_queries import FAILED
from alerts.notify.message import to_json
from alerts.notify.notification_plan import Escalated, Letter
from alerts.notify.notification_state import MICROS, Telling
from alerts.notify.outbox import enqueue
from alerts.notify.planning import Decided
from alerts.notify.rows import IS_PAGE
from alerts.notify.state_clock import is_ahead
from alerts.notify.ticket_caps import letters_of_rest
from alerts.rules.incidents import OUTAGE_ROOTS
from lineage.catalog.pieces import pieces
from lineage.catalog.tables import incident, incident_escalation, incident_telling, notification
from lineage.catalog.upsert import fold_rows

MOST_DUE: Final = 200  # incidents a transaction: nobody waits long for the catalog
NOBODY: Final = "nobody"  # the channel by which a message goes that has none
_log = structlog.get_logger(__name__)


def tellings_of(connection: Connection, incident_ids: Iterable[str]) -> dict[str, Telling]:
    """By incident id, those that are known; held for this transaction."""
    found: dict[str, Telling] = {}
    for piece in pieces(sorted(set(incident_ids))):
        own = incident_telling.c.incident_id.in_(piece)
        found |= {each.incident_id: each for each in tellings_where(connection, own)}
    return found


def is_due(connection: Connection, policy_hash: str, at: int) -> bool:
    """Whether `due` has any."""
    query = select(incident_telling.c.incident_id).where(_due(policy_hash, at))
    return connection.scalar(query.limit(1)) is not None


def due(connection: Connection, policy_hash: str, at: int) -> Sequence[Telling]:
    """Those to which time brings something, all that are bad where the policy is a new one.

    At most `MOST_DUE`, pages first, then those that wait longest: the rest is due in the next turn.
    """
    own = incident_telling.c
    first = select(own.incident_id).where(_due(policy_hash, at))
    first = first.order_by(own.severity != PAGE, own.due_at.nulls_first(), own.incident_id)
    chosen = connection.scalars(first.limit(MOST_DUE)).all()
    return tellings_where(connection, _due(policy_hash, at), own.incident_id.in_(chosen))


def _due(policy_hash: str, at: int) -> ColumnElement[bool]:
    own = incident_telling.c
    return and_(own.is_bad, or_(own.due_at <= at, own.policy != policy_hash, is_ahead(at)))


def tellings_where(connection: Connection, *clauses: ColumnElement[bool]) -> Sequence[Telling]:
    """Those that match, by incident id; held for this transaction."""
    query = select(incident_telling.c.telling).where(*clauses)
    rows = connection.scalars(query.order_by(incident_telling.c.incident_id).with_for_update())
    return [msgspec.json.decode(row, type=Telling) for row in rows]


def outages(connection: Connection) -> frozenset[str]:
    """Ids of incidents behind which nobody knows how datasets are."""
    table = incident_telling
    query = select(table.c.incident_id).where(table.c.is_bad, table.c.fault.in_(OUTAGE_ROOTS))
    return frozenset(connection.scalars(query))


def write(connection: Connection, decided: Decided, scene: Scene, at: int) -> None:
    """All of a decision; letters that a channel has had, or later ones of, are not sent again."""
    for letter in decided.letters:
        send(connection, letter)
    for letter in letters_of_rest(Counter(decided.held), scene.settings, at):
        send(connection, letter)
    keep(connection, decided.tellings, scene)
    for escalated in decided.escalated:
        _note_escalated(connection, escalated, at)
    for gap, count in Counter(decided.gaps).items():
        # As attempts to notify that failed: there is an alert on those.
        counts.add(connection, FAILED, NOBODY, gap, times=count)
        _log.error("nobody_to_tell", gap=gap, times=count, platform=scene.settings.platform)


def opened_lately(connection: Connection, at: int, channel: str) -> int:
    """Return how many new tickets a channel was sent, or is to be sent, of the last hour."""
    own, since = notification.c, at - HELD_SECONDS * MICROS
    # By the index of what is due: no attempt is before the message.
    recent = (own.channel == channel, own.next_attempt_at >= since, own.created_at >= since)
    tickets = (own.state.in_(("waiting", "sent")), own.kind == "opened", not_(IS_PAGE))
    return connection.scalar(select(func.count()).where(*recent, *tickets)) or 0


def send(connection: Connection, letter: Letter) -> None:
    """Into the outbox."""
    enqueue(connection, letter.message, channel_of(letter.channel))


def keep(connection: Connection, tellings: Iterable[Telling], scene: Scene) -> None:
    """Replace what was known; of one incident the last counts."""
    newest = {each.incident_id: each for each in tellings}
    # Never deleted and written anew: who waits for the row would find none.
    fold_rows(connection, incident_telling, [_row(each, scene) for each in newest.values()])
    told = [
        {"its_id": each.incident_id, "released_at": each.told_at}
        for each in newest.values()
        if each.is_told and each.told_at is not None
    ]
    mine = (incident.c.incident_id == bindparam("its_id"), incident.c.released_at.is_(None))
    if told:
        connection.execute(update(incident).where(*mine), told)


def _row(telling: Telling, scene: Scene) -> dict[str, Any]:
    is_hidden = telling.hidden_by is not None and not telling.is_hidden_told
    return {
        "incident_id": telling.incident_id,
        "telling": to_json(telling),
        "fault": telling.fault,
        "addressee": telling.addressee,
        "severity": telling.draft.severity,
        "is_bad": telling.is_bad,
        "is_told": telling.is_told,
        "due_at": next_at(telling, scene),
        "policy": scene.policy.hash,
        "hidden_by": telling.hidden_by if is_hidden else None,
        "hidden_until": telling.hidden_until if is_hidden else None,
        "ended_at": telling.ended_at,
    }


def _note_escalated(connection: Connection, escalated: Escalated, at: int) -> None:
    connection.execute(
        insert(incident_escalation).values(
            incident_id=escalated.incident_id,
            step=escalated.step,
            owner=escalated.owner,
            told_at=at,
            channel=", ".join(escalated.channels),
        )
    )


def prune(connection: Connection, before: int) -> int:
    """Forget what ended before this instant in µs; how many.

    What a window hid and was not listed yet stays.
    """
    table = incident_telling
    is_over = (table.c.ended_at < before, table.c.hidden_by.is_(None))
    return connection.execute(delete(table).where(*is_over)).rowcount
