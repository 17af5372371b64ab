"""What people said of incidents: whether what was told was true, by kind of fault.

Counted in the catalog, each incident once: the counters outlive every process, and never fall.
`incident.is_false_alarm` is null while nobody said anything, no once somebody took it for real, and
yes once somebody said that it was none.
"""

from typing import Final, Literal

import msgspec
from sqlalchemy import Connection, select, update

from lineage.catalog.reader import Reader
from lineage.catalog.tables import incident, served_count
from lineage.catalog.upsert import added, fold_rows

METRIC: Final = "lineage_incident_verdicts"
Verdict = Literal["judged", "false_alarm"]

_COUNTS = "SELECT label, value FROM served_count WHERE metric = :metric ORDER BY label"


class VerdictCount(msgspec.Struct, frozen=True):
    """One series: so many incidents of a kind, of which this was said."""

    kind: str
    verdict: str
    count: float


def record_reviewed(connection: Connection, incident_id: str) -> None:
    """Somebody acknowledged or resolved it: counted the first time."""
    own = incident.c
    first = update(incident).where(own.incident_id == incident_id, own.is_false_alarm.is_(None))
    if connection.execute(first.values(is_false_alarm=False)).rowcount:
        _add(connection, incident_id, "judged")


def record_false_alarm(connection: Connection, incident_id: str) -> None:
    """Somebody said that it was none: counted the first time, and as judged too."""
    record_reviewed(connection, incident_id)
    own = incident.c
    taken = update(incident).where(own.incident_id == incident_id, own.is_false_alarm.is_(False))
    if connection.execute(taken.values(is_false_alarm=True)).rowcount:
        _add(connection, incident_id, "false_alarm")


def count_verdicts(reader: Reader) -> list[VerdictCount]:
    """All series. Precision of a kind is 1 - false_alarm / judged."""
    rows = reader.rows(_COUNTS, {"metric": METRIC})
    named = [(label.rpartition(" "), value) for label, value in rows]
    return [VerdictCount(kind, verdict, value) for (kind, _, verdict), value in named]


def _add(connection: Connection, incident_id: str, said: Verdict) -> None:
    kind = connection.scalar(
        select(incident.c.root_kind).where(incident.c.incident_id == incident_id)
    )
    row = {"metric": METRIC, "label": f"{kind} {said}", "value": 1.0}
    fold_rows(connection, served_count, [row], {"value": added})
