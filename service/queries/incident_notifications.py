"""Who was told of an incident, and what became of it; and what differs between its runs."""

import msgspec

from lineage.catalog.reader import Reader, rows_for
from lineage.catalog.rows import Row
from service.api.access.visibility import EVERYTHING, Visibility
from service.incidents.diagnosis.ranking import Diagnosis
from service.queries.incidents import is_root_seen
from service.queries.run_shapes import Instant
from service.queries.timestamps import iso, iso_of
from service.queries.visible import UNSEEN

_MOST = 200
_TELLING = "SELECT telling, addressee FROM incident_telling WHERE incident_id = :id"
_SENT = """
SELECT channel, kind, state, attempts, created_at, finished_at, reason, fallback_for
FROM notification WHERE incident_id IN (:keys)
ORDER BY created_at DESC, channel LIMIT :most
"""
_DIAGNOSIS = "SELECT diagnosis FROM incident WHERE incident_id = :id"


class Place(msgspec.Struct, frozen=True):
    """A channel, and the id that it knows the incident by."""

    known_as: str


class _Telling(msgspec.Struct, frozen=True):
    places: tuple[Place, ...] = ()


class Sent(msgspec.Struct, frozen=True):
    """One message through one channel: waiting, sent, failed or superseded."""

    channel: str
    kind: str
    state: str
    attempts: int
    created_at: Instant
    finished_at: Instant | None
    reason: str
    fallback_for: str | None


class Told(msgspec.Struct, frozen=True):
    """Whose it was made, and all that was sent, the newest first."""

    addressee: str | None
    sent: list[Sent]
    partial_reason: str | None


def list_sent(reader: Reader, incident_id: str, visibility: Visibility = EVERYTHING) -> Told:
    """List the notifications of an incident, including those of incidents merged into it.

    Channels and addressees tell whose its root is.
    """
    if not is_root_seen(reader, incident_id, visibility):
        return Told(None, [], UNSEEN)
    state, addressee = next(iter(reader.rows(_TELLING, {"id": incident_id})), (None, ""))
    places = msgspec.json.decode(state, type=_Telling).places if state else ()
    ids = dict.fromkeys([incident_id, *(place.known_as for place in places)])
    rows = rows_for(reader, _SENT, ids, {"most": _MOST + 1})
    sent = [_sent(row) for row in rows[:_MOST]]
    return Told(addressee or None, sent, f"the newest {_MOST}" if len(rows) > _MOST else None)


def _sent(row: Row) -> Sent:
    times = {"created_at": iso_of(row.created_at), "finished_at": iso(row.finished_at)}
    return Sent(**row._asdict() | times)


def diagnosis(
    reader: Reader, incident_id: str, visibility: Visibility = EVERYTHING
) -> Diagnosis | None:
    """Its last good run beside the first that failed; null: none were compared, or not for all."""
    rows = reader.rows(_DIAGNOSIS, {"id": incident_id})
    if not visibility.is_whole or not rows or rows[0][0] is None:
        return None
    found = msgspec.json.decode(rows[0][0], type=Diagnosis)
    return found if found.good_run_id else None
