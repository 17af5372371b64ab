"""Who is hurt by an incident: all that is made of its root, as the graph was at onset."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, text

from alerts.incidents.affected_datasets import AffectedDatasets
from alerts.incidents.incident import Incident
from alerts.incidents.steps import Event, Step
from lineage.catalog import tables
from lineage.catalog.pieces import pieces
from lineage.catalog.upsert import fold_rows

_ROWS_AT_ONCE: Final = 20_000
# A single fault is listed with all of 100,000 datasets, which takes a second. Of each of hundreds
# that open together the gravest are listed: whole lists were 20,000,000 rows of 2,000 faults.
_MAX_ROWS: Final = 100_000
_MIN_PER_LIST: Final = 500

# With these the root is another one, or is told for the first time.
_NEW_LIST = frozenset({"opened", "reopened", "rerooted", "suppressed"})


def needs_new_list(event: Event) -> bool:
    """Whether what happened asks for a new list."""
    return event.what in _NEW_LIST


def has_grown(before: Incident | None, incident: Incident) -> bool:
    """Whether more datasets are its root's than were: more is hurt than is listed."""
    was = frozenset() if before is None else before.root_keys
    return incident.opened_at is not None and not incident.root_keys <= was


def has_other_root(before: Incident | None, incident: Incident) -> bool:
    """Return whether the datasets of its root are not the same as before."""
    return before is None or before.root_keys != incident.root_keys


def find_changed_lists(before: Mapping[str, Incident], step: Step) -> tuple[set[str], set[str]]:
    """Return the incidents whose list is written anew by a step, and those whose list grows."""
    anew = {each.incident_id for each in step.events if needs_new_list(each)}
    grown = {each.id for each in step.incidents if has_grown(before.get(each.id), each)}
    return anew, grown - anew


def datasets_per_list(lists: int) -> int:
    """Return how many datasets each of so many lists keeps: together they are one transaction."""
    return max(_MIN_PER_LIST, _MAX_ROWS // max(1, lists))


def delete_impacts(connection: Connection, incident_ids: Iterable[str]) -> None:
    """Empty the lists of these: they are written anew."""
    table = tables.incident_impact
    for some in pieces(sorted(incident_ids)):
        connection.execute(delete(table).where(table.c.incident_id.in_(some)))


def add_impacts(connection: Connection, hurt: Mapping[str, AffectedDatasets]) -> None:
    """Add to the lists of incidents, which keep what was affected before."""
    rows = (row for number, each in hurt.items() for row in _rows(number, each))
    for some in pieces(rows, _ROWS_AT_ONCE):
        fold_rows(connection, tables.incident_impact, some)


def _rows(incident_id: str, hurt: AffectedDatasets) -> Iterator[dict[str, Any]]:
    for key, hops in zip(hurt.keys.tolist(), hurt.hops.tolist(), strict=True):
        yield {"incident_id": incident_id, "dataset_key": key, "hops": hops}


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
