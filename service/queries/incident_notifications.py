"""Notifications of an incident, and their results."""

import msgspec

from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from service.queries.incidents import is_root_seen
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso, iso_of
from service.queries.visibility import EVERYTHING, UNSEEN, Visibility

_MOST = 200
_NOTIFIED = "SELECT n.telling, n.addressee FROM incident_telling n WHERE incident_id = :id"
_SENT = """
SELECT channel, kind, state, attempts, created_at, finished_at, reason, fallback_for
FROM notification WHERE incident_id IN (:keys)
ORDER BY created_at DESC, channel LIMIT :most
"""


class _Channel(msgspec.Struct, frozen=True):
    """Channel, and the id by which it knows the incident."""

    known_as: str


class _Notified(msgspec.Struct, frozen=True):
    places: tuple[_Channel, ...] = ()


class SentMessage(msgspec.Struct, frozen=True):
    """Message through one channel: waiting, sent, failed or superseded."""

    channel: str
    kind: str
    state: str
    attempts: int
    created_at: IsoTime
    finished_at: IsoTime | None
    reason: str
    fallback_for: str | None


class NotificationList(msgspec.Struct, frozen=True):
    """Owner that was notified, and all messages, newest first."""

    addressee: str | None
    sent: list[SentMessage]
    partial_reason: str | None


def list_sent(
    reader: CatalogReader, incident_id: str, visibility: Visibility = EVERYTHING
) -> NotificationList:
    """List the notifications of an incident, including those of incidents merged into it.

    Channels and addressees reveal the owner of the root.
    """
    if not is_root_seen(reader, incident_id, visibility):
        return NotificationList(None, [], UNSEEN)
    state, addressee = next(iter(reader.rows(_NOTIFIED, {"id": incident_id})), (None, ""))
    places = msgspec.json.decode(state, type=_Notified).places if state else ()
    ids = dict.fromkeys([incident_id, *(place.known_as for place in places)])
    rows = rows_for(reader, _SENT, ids, {"most": _MOST + 1})
    sent = [_sent(row) for row in rows[:_MOST]]
    return NotificationList(
        addressee or None, sent, f"the newest {_MOST}" if len(rows) > _MOST else None
    )


def _sent(row: Row) -> SentMessage:
    times = {"created_at": iso_of(row.created_at), "finished_at": iso(row.finished_at)}
    return SentMessage(**row._asdict() | times)
