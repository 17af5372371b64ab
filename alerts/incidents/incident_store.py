"""Store of incidents in the catalog: their state, events and members."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from alerts.incidents.affected_datasets import AffectedDatasets
from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.incidents.incident_text import describe_evidence, describe_fault
from alerts.incidents.member_store import (
    MembershipChange,
    add_impacts,
    delete_impacts,
    find_changed_lists,
    has_other_root,
    save_members,
)
from alerts.incidents.steps import IncidentEvent, StepResult
from lineage.catalog import tables
from lineage.catalog.queries import split_batches
from lineage.catalog.upsert import fold_rows

_CURSOR: Final = "incidents"
_incident = tables.incident
_Row = dict[str, Any]


def incidents_version(connection: Connection, *, is_held: bool = False) -> int:
    """Return how often incidents were written: a cache of another version is stale.

    Args:
        connection: in a write transaction where it is held.
        is_held: lock out other writers until this transaction ends.
    """
    cursor = tables.service_cursor
    found = select(cursor.c.position).where(cursor.c.name == _CURSOR)
    return connection.scalar(found.with_for_update() if is_held else found) or 0


def load_active(connection: Connection) -> tuple[Incident, ...]:
    """Load the incidents that the next step takes."""
    lives = select(_incident.c.life).where(_incident.c.is_remembered)
    return tuple(msgspec.json.decode(life, type=Incident) for life in connection.scalars(lives))


def save_step(
    connection: Connection,
    before: Mapping[str, Incident],
    step: StepResult,
    faults: Mapping[str, DetectedFault],
    lists: Mapping[str, AffectedDatasets],
) -> None:
    """Write what a step changed.

    Args:
        connection: in a write transaction.
        before: the incidents before the step, by id.
        step: the result of the step.
        faults: the fault of each incident that is found now, by incident id.
        lists: affected datasets, by incident id, where that list is replaced or grows.
    """
    active = {each.id for each in step.incidents}
    changed = _find_changed(before, step)
    rows = [_row(each, faults.get(each.id), is_remembered=each.id in active) for each in changed]
    for row in rows:
        if (listed := lists.get(row["incident_id"])) is not None:
            row["impact_count"] = listed.count
    _write_rows(connection, _add_acknowledged_at(rows, step), before)
    at = {event.incident_id: event.at for event in step.events}
    save_members(connection, _membership_changes(before, changed, faults, at), before.keys())
    replaced, _ = find_changed_lists(before, step)
    delete_impacts(connection, replaced & lists.keys() & before.keys())
    add_impacts(connection, lists)
    _deactivate(connection, [number for number in before if number not in active])
    fold_rows(connection, tables.incident_event, [_event_row(each) for each in step.events])
    moved = {"name": _CURSOR, "position": incidents_version(connection, is_held=True) + 1}
    fold_rows(connection, tables.service_cursor, [moved])


def _membership_changes(
    before: Mapping[str, Incident],
    changed: Iterable[Incident],
    faults: Mapping[str, DetectedFault],
    at: Mapping[str, int],
) -> Iterator[MembershipChange]:
    """Yield the incidents whose members may have changed, with the time of the change."""
    for each in changed:
        fault = faults.get(each.id)
        if each.id in at:
            yield MembershipChange(each, fault, at[each.id])
        elif fault is not None and _changed_silently(before.get(each.id), each):
            yield MembershipChange(each, fault, fault.as_of)


def _changed_silently(before: Incident | None, now: Incident) -> bool:
    """Return whether the members or the root may have changed without an event.

    People see pending incidents, of which no event reports. Another run of a job that failed or
    succeeded changes the root.
    """
    if now.state == "pending":
        return before is None or before.members != now.members
    return now.is_active and has_other_root(before, now)


def _find_changed(before: Mapping[str, Incident], step: StepResult) -> list[Incident]:
    now = {each.id: each for each in (*step.changed, *step.incidents)}
    return [each for each in now.values() if before.get(each.id) != each]


def _add_acknowledged_at(rows: list[_Row], step: StepResult) -> Iterator[_Row]:
    at = {each.incident_id: each.at for each in step.events if each.what == "acknowledged"}
    for row in rows:
        acknowledged_at = at.get(row["incident_id"])
        yield row if acknowledged_at is None else {**row, "acknowledged_at": acknowledged_at}


def _write_rows(connection: Connection, rows: Iterable[_Row], before: Container[str]) -> None:
    """Write rows with the same columns at once: a first evaluation may open thousands."""
    own = _incident.c.incident_id == bindparam("own_id")
    alike: dict[tuple[bool, frozenset[str]], list[_Row]] = defaultdict(list)
    for row in rows:
        alike[row["incident_id"] in before, frozenset(row)].append(row)
    for (is_known, _), some in alike.items():
        if is_known:
            bound = [{**row, "own_id": row["incident_id"]} for row in some]
            connection.execute(update(_incident).where(own), bound)
        else:
            connection.execute(insert(_incident), some)


def _row(incident: Incident, fault: DetectedFault | None, *, is_remembered: bool) -> _Row:
    root, severity = incident.root, incident.severity
    return {
        "incident_id": incident.id,
        "state": incident.state,
        "revision": incident.revision,
        "is_remembered": is_remembered,
        "life": msgspec.json.encode(incident).decode(),
        "root_entity": root.entity,
        "root_key": root.key,
        "root_kind": root.kind,
        "unknown": incident.unknown,
        "severity": severity.level,
        "because": severity.because,
        "score": severity.score,
        "hit_at": severity.hit_at,
        "owner": incident.owner,
        "correlation_id": incident.id,
        "is_flapping": incident.is_flapping,
        "is_frozen": incident.is_frozen,
        "onset": incident.onset,
        "seen_at": incident.seen_at,
        "opened_at": incident.opened_at,
        "acknowledged_by": incident.acknowledged_by,
        "resolved_at": incident.resolved_at,
        "merged_into": incident.merged_into,
        **({} if fault is None else _description(incident, fault)),
    }


def _description(incident: Incident, fault: DetectedFault) -> _Row:
    """Return the columns that stay as they are after the fault has recovered."""
    return {
        "what": describe_fault(incident, fault),
        "root_namespace": fault.namespace,
        "root_name": fault.name,
        "evidence": describe_evidence(fault),
        "is_bridged": fault.is_bridged,
    }


def _deactivate(connection: Connection, gone: list[str]) -> None:
    """Delete incidents that never opened, with their members; keep the others for readers."""
    member = tables.incident_member
    for some in split_batches(gone):
        own = _incident.c.incident_id.in_(some)
        never_opened = own & (_incident.c.revision == 0)
        numbers = select(_incident.c.incident_id).where(never_opened)
        connection.execute(delete(member).where(member.c.incident_id.in_(numbers)))
        connection.execute(delete(_incident).where(never_opened))
        connection.execute(update(_incident).where(own).values(is_remembered=False))


def _event_row(event: IncidentEvent) -> _Row:
    return {
        "incident_id": event.incident_id,
        "revision": event.revision,
        "at": event.at,
        "what": event.what,
        "reason": event.reason,
        "by": event.by,
        "detail": msgspec.json.encode(event).decode(),
    }
