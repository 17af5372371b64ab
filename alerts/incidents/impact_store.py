"""Store the affected datasets of incidents: all that is downstream of the root."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, text

from alerts.incidents.affected_datasets import AffectedDatasets
from alerts.incidents.incident import Incident
from alerts.incidents.steps import IncidentEvent, StepResult
from lineage.catalog import tables
from lineage.catalog.queries import IS_UNRESOLVED, split_batches
from lineage.catalog.upsert import fold_rows

_ROWS_AT_ONCE: Final = 20_000
# One incident lists all of 100,000 datasets, which takes a second. Hundreds that open together list
# the most severe only: whole lists were 20,000,000 rows of 2,000 incidents.
_MAX_ROWS: Final = 100_000
_MIN_PER_LIST: Final = 500

# After these events the root is another one, or people are notified for the first time.
_NEW_LIST = frozenset({"opened", "reopened", "rerooted", "suppressed"})
_AFFECTING = text(
    f"""
    SELECT l.dataset_key, l.incident_id FROM incident i
    JOIN incident_impact l ON l.incident_id = i.incident_id
    WHERE i.{IS_UNRESOLVED} AND l.dataset_key IN :keys
    """  # noqa: S608 - a constant
).bindparams(bindparam("keys", expanding=True))


def needs_new_list(event: IncidentEvent) -> bool:
    """Return whether the list of affected datasets is replaced after an event."""
    return event.what in _NEW_LIST


def has_grown(before: Incident | None, incident: Incident) -> bool:
    """Return whether the root has more datasets than before: more is affected than is listed."""
    was = frozenset() if before is None else before.root_keys
    return incident.opened_at is not None and not incident.root_keys <= was


def has_other_root(before: Incident | None, incident: Incident) -> bool:
    """Return whether the datasets of its root are not the same as before."""
    return before is None or before.root_keys != incident.root_keys


def find_changed_lists(
    before: Mapping[str, Incident], step: StepResult
) -> tuple[set[str], set[str]]:
    """Return the incidents whose list a step replaces, and those whose list grows."""
    replaced = {each.incident_id for each in step.events if needs_new_list(each)}
    grown = {each.id for each in step.incidents if has_grown(before.get(each.id), each)}
    return replaced, grown - replaced


def datasets_per_list(lists: int) -> int:
    """Return how many datasets each of so many lists keeps: they are written in one transaction."""
    return max(_MIN_PER_LIST, _MAX_ROWS // max(1, lists))


def delete_impacts(connection: Connection, incident_ids: Iterable[str]) -> None:
    """Empty the lists of these incidents before they are replaced."""
    table = tables.incident_impact
    for some in split_batches(sorted(incident_ids)):
        connection.execute(delete(table).where(table.c.incident_id.in_(some)))


def add_impacts(connection: Connection, affected: Mapping[str, AffectedDatasets]) -> None:
    """Add to the lists of incidents; datasets that were listed before stay."""
    rows = (row for number, each in affected.items() for row in _rows(number, each))
    for some in split_batches(rows, _ROWS_AT_ONCE):
        fold_rows(connection, tables.incident_impact, some)


def incidents_affecting(connection: Connection, keys: Iterable[int]) -> dict[int, set[str]]:
    """Load the incidents that list each of these datasets as affected, by dataset key."""
    found: dict[int, set[str]] = defaultdict(set)
    for piece in split_batches(keys):
        for key, incident in connection.execute(_AFFECTING, {"keys": piece}):
            found[key].add(incident)
    return found


def _rows(incident_id: str, affected: AffectedDatasets) -> Iterator[dict[str, Any]]:
    for key, hops in zip(affected.keys.tolist(), affected.hops.tolist(), strict=True):
        yield {"incident_id": incident_id, "dataset_key": key, "hops": hops}
