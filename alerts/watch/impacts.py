"""Who is hurt by an incident: all that is made of its root, as the graph was at onset."""

from sqlalchemy import Connection, delete

from alerts.incidents.incident import Incident
from alerts.incidents.severity import Impact
from alerts.incidents.steps import Event
from lineage.catalog import tables
from lineage.catalog.upsert import fold_rows

# With these the root is another one, or is told for the first time.
_ANEW = frozenset({"opened", "reopened", "rerooted", "suppressed"})


def is_anew(event: Event) -> bool:
    """Whether what happened asks for a new list."""
    return event.what in _ANEW


def has_grown(before: Incident | None, incident: Incident) -> bool:
    """Whether more datasets are its root's than were: more is hurt than is listed."""
    was = frozenset() if before is None else before.root_keys
    return incident.opened_at is not None and not incident.root_keys <= was


def keep_impact(connection: Connection, incident_id: str, hurt: Impact) -> None:
    """Write the whole list in the place of the one before."""
    table = tables.incident_impact
    connection.execute(delete(table).where(table.c.incident_id == incident_id))
    add_impact(connection, incident_id, hurt)


def add_impact(connection: Connection, incident_id: str, hurt: Impact) -> None:
    """Add to the list, which keeps what was hurt before."""
    columns = zip(hurt.keys.tolist(), hurt.hops.tolist(), strict=True)
    rows = [{"incident_id": incident_id, "dataset_key": key, "hops": hops} for key, hops in columns]
    fold_rows(connection, tables.incident_impact, rows)
