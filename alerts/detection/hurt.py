"""In whose list of what is hurt a dataset stands, of incidents that are not over."""

from collections import defaultdict
from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, text

from lineage.catalog.pieces import pieces

_AFFECTING = text(
    """
    SELECT l.dataset_key, l.incident_id FROM incident i
    JOIN incident_impact l ON l.incident_id = i.incident_id
    WHERE i.state IN ('open', 'acknowledged', 'suppressed') AND l.dataset_key IN :keys
    """
).bindparams(bindparam("keys", expanding=True))


def incidents_affecting(connection: Connection, keys: Iterable[int]) -> dict[int, set[str]]:
    """The incidents that hurt each of these datasets, by its key; what none hurts is not there."""
    found: dict[int, set[str]] = defaultdict(set)
    for piece in pieces(keys):
        for key, incident in connection.execute(_AFFECTING, {"keys": piece}):
            found[key].add(incident)
    return found
