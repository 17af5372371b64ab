"""Who is hurt by an incident: all that is made of its root, as the graph was at onset."""

from sqlalchemy import Connection, delete, insert

from alerts.incidents.severity import Impact
from alerts.incidents.steps import Event
from lineage.catalog import tables

# With these the root is another one, or is told for the first time.
_ANEW = frozenset({"opened", "reopened", "rerooted", "suppressed"})


def is_anew(event: Event) -> bool:
    """Whether what happened asks for a new list."""
    return event.what in _ANEW


def keep_impact(connection: Connection, incident_id: str, hurt: Impact) -> None:
    """Write the whole list in the place of the one before."""
    table = tables.incident_impact
    connection.execute(delete(table).where(table.c.incident_id == incident_id))
    rows = [
        {"incident_id": incident_id, "dataset_key": key, "hops": hops}
        for key, hops in zip(hurt.keys.tolist(), hurt.hops.tolist(), strict=True)
    ]
    if rows:
        connection.execute(insert(table), rows)
