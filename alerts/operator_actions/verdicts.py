"""Counters of the verdicts of people on incidents: real or false alarm, by kind of fault.

Counted in the catalog, each incident once: the counters outlive every process, and never fall.
`incident.is_false_alarm` is null without a verdict, false once somebody acknowledged or resolved
the incident, and true once somebody reported a false alarm.
"""

from typing import Final, Literal

import msgspec
from sqlalchemy import Connection, select, update

from lineage.catalog.reader import CatalogReader
from lineage.catalog.tables import incident, served_count
from lineage.catalog.upsert import add_up, fold_rows

VERDICTS_METRIC: Final = "lineage_incident_verdicts"
IncidentVerdict = Literal["judged", "false_alarm"]

_COUNTS = "SELECT label, value FROM served_count WHERE metric = :metric ORDER BY label"


class VerdictCount(msgspec.Struct, frozen=True):
    """Number of incidents of a kind with a verdict."""

    kind: str
    verdict: str
    count: float


def record_reviewed(connection: Connection, incident_id: str) -> None:
    """Count an incident as reviewed, once."""
    own = incident.c
    first = update(incident).where(own.incident_id == incident_id, own.is_false_alarm.is_(None))
    if connection.execute(first.values(is_false_alarm=False)).rowcount:
        _add(connection, incident_id, "judged")


def record_false_alarm(connection: Connection, incident_id: str) -> None:
    """Count an incident as a false alarm, once, and as reviewed."""
    record_reviewed(connection, incident_id)
    own = incident.c
    taken = update(incident).where(own.incident_id == incident_id, own.is_false_alarm.is_(False))
    if connection.execute(taken.values(is_false_alarm=True)).rowcount:
        _add(connection, incident_id, "false_alarm")


def count_verdicts(reader: CatalogReader) -> list[VerdictCount]:
    """Return all series. Precision of a kind is 1 - false_alarm / judged."""
    rows = reader.rows(_COUNTS, {"metric": VERDICTS_METRIC})
    named = [(label.rpartition(" "), value) for label, value in rows]
    return [VerdictCount(kind, verdict, value) for (kind, _, verdict), value in named]


def _add(connection: Connection, incident_id: str, verdict: IncidentVerdict) -> None:
    kind = connection.scalar(
        select(incident.c.root_kind).where(incident.c.incident_id == incident_id)
    )
    row = {"metric": VERDICTS_METRIC, "label": f"{kind} {verdict}", "value": 1.0}
    fold_rows(connection, served_count, [row], {"value": add_up})
