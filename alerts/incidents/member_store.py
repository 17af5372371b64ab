"""Store of the datasets of incidents: their members, and all downstream of the root."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, select, text, update

from alerts.incidents.affected_datasets import AffectedDatasets
from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.incidents.steps import IncidentEvent, StepResult
from alerts.root_cause.faults import Member
from lineage.catalog import tables
from lineage.catalog.queries import IS_UNRESOLVED, split_batches
from lineage.catalog.upsert import fold_rows, least, newest
from lineage.states import FAILING

_member = tables.incident_member
_KEYS = ("incident_id", "dataset_key")

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


class MembershipChange(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Incident that changed.

    Attributes:
        incident: after the change.
        fault: that is found now; None: there is none.
        at: of the change, µs.
    """

    incident: Incident
    fault: DetectedFault | None
    at: int

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return the rows of the datasets that are bad, and of those whose run failed."""
        members = {} if self.fault is None else self.fault.members
        for key, each in members.items():
            if key in self.incident.members:
                yield _member_row(self.incident.id, each, self.at)
            elif key in self.failing_keys:
                yield _member_row(self.incident.id, each, self.at) | {"kind": FAILING}

    @cached_property
    def failing_keys(self) -> frozenset[int]:
        """Return the datasets of the root that are not bad: people find the incident by them."""
        own = self.incident
        if self.fault is not None and own.merged_into is None:
            return own.root_keys - own.members
        # The failed run is not found while the dataset's state is unknown: the incident goes on.
        is_latent = own.state != "resolved" and not own.members
        return own.root_keys if is_latent else frozenset()

    def has(self, key: int) -> bool:
        """Return whether a dataset is a member now."""
        return key in self.incident.members or key in self.failing_keys


def save_members(
    connection: Connection, changed: Iterable[MembershipChange], known: Container[str]
) -> None:
    """Write the current members; a dataset that left keeps its row.

    Args:
        connection: in a write transaction.
        changed: the incidents.
        known: ids of incidents that had members before.
    """
    every = list(changed)
    rows = [row for each in every for row in each.rows()]
    if rows:
        folds = dict.fromkeys(rows[0].keys() - set(_KEYS), newest)
        fold_rows(connection, _member, rows, {**folds, "joined_at": least})
    _mark_left(connection, {each.incident.id: each for each in every if each.incident.id in known})


def _mark_left(connection: Connection, changed: Mapping[str, MembershipChange]) -> None:
    gone = [
        {"of": number, "key": key, "left_at": changed[number].at}
        for number, key in _current_members(connection, changed)
        if not changed[number].has(key)
    ]
    own = (_member.c.incident_id == bindparam("of"), _member.c.dataset_key == bindparam("key"))
    if gone:
        connection.execute(update(_member).where(*own, _member.c.left_at.is_(None)), gone)


def _current_members(
    connection: Connection, incident_ids: Iterable[str]
) -> Iterator[tuple[str, int]]:
    columns = select(_member.c.incident_id, _member.c.dataset_key)
    for some in split_batches(incident_ids):
        current = columns.where(_member.c.incident_id.in_(some), _member.c.left_at.is_(None))
        yield from ((row.incident_id, row.dataset_key) for row in connection.execute(current))


def _member_row(number: str, member: Member, at: int) -> dict[str, Any]:
    by = member.explained_by
    return {
        "incident_id": number,
        "dataset_key": member.dataset_key,
        "kind": member.kind,
        "onset": member.onset,
        "steps": member.steps,
        "explained_by": None if by is None else by[0],
        "relays": msgspec.json.encode(member.unobserved).decode(),
        "job_key": member.job_key,
        "run_id": member.run_id,
        "joined_at": at,
        "left_at": None,
    }


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
    rows = (row for number, each in affected.items() for row in _impact_rows(number, each))
    for some in split_batches(rows, _ROWS_AT_ONCE):
        fold_rows(connection, tables.incident_impact, some)


def incidents_affecting(connection: Connection, keys: Iterable[int]) -> dict[int, set[str]]:
    """Load the incidents that list each of these datasets as affected, by dataset key."""
    found: dict[int, set[str]] = defaultdict(set)
    for piece in split_batches(keys):
        for key, incident in connection.execute(_AFFECTING, {"keys": piece}):
            found[key].add(incident)
    return found


def _impact_rows(incident_id: str, affected: AffectedDatasets) -> Iterator[dict[str, Any]]:
    for key, hops in zip(affected.keys.tolist(), affected.hops.tolist(), strict=True):
        yield {"incident_id": incident_id, "dataset_key": key, "hops": hops}
