"""Store the members of incidents: since when, and why each dataset belongs to one."""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, select, update

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.root_cause.faults import Member
from lineage.catalog import tables
from lineage.catalog.queries import split_batches
from lineage.catalog.upsert import fold_rows, least, newest
from lineage.states import FAILING

_member = tables.incident_member
_KEYS = ("incident_id", "dataset_key")


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
                yield _row(self.incident.id, each, self.at)
            elif key in self.failing_keys:
                yield _row(self.incident.id, each, self.at) | {"kind": FAILING}

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


def _row(number: str, member: Member, at: int) -> dict[str, Any]:
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
