"""Who is hurt by an incident: all that is made of its root, as the graph was at onset."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlalchemy import Connection, delete

from alerts.incidents.incident import Incident
from alerts.incidents.severity import Impact
from alerts.incidents.steps import Event
from lineage.catalog import tables
from lineage.catalog.pieces import pieces
from lineage.catalog.upsert import fold_rows

_ROWS_AT_ONCE: Final = 20_000

# With these the root is another one, or is told for the first time.
_ANEW = frozenset({"opened", "reopened", "rerooted", "suppressed"})


def is_anew(event: Event) -> bool:
    """Whether what happened asks for a new list."""
    return event.what in _ANEW


def has_grown(before: Incident | None, incident: Incident) -> bool:
    """Whether more datasets are its root's than were: more is hurt than is listed."""
    was = frozenset() if before is None else before.root_keys
    return incident.opened_at is not None and not incident.root_keys <= was


def forget_impacts(connection: Connection, incident_ids: Iterable[str]) -> None:
    """Empty the lists of these: they are written anew."""
    table = tables.incident_impact
    for some in pieces(sorted(incident_ids)):
        connection.execute(delete(table).where(table.c.incident_id.in_(some)))


def add_impacts(connection: Connection, hurt: Iterable[tuple[str, Impact]]) -> None:
    """Add to the lists of incidents, which keep what was hurt before."""
    rows = (row for number, each in hurt for row in _rows(number, each))
    for some in pieces(rows, _ROWS_AT_ONCE):
        fold_rows(connection, tables.incident_impact, some)


def _rows(incident_id: str, hurt: Impact) -> Iterator[dict[str, Any]]:
    for key, hops in zip(hurt.keys.tolist(), hurt.hops.tolist(), strict=True):
        yield {"incident_id": incident_id, "dataset_key": key, "hops": hops}
