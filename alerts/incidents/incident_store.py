"""Incidents in the catalog: as they are, what happened to them, and who belongs to them."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from alerts.detection.fault_detection import DetectedFault
from alerts.incidents.affected_datasets import AffectedDatasets
from alerts.incidents.impact_store import (
    add_impacts,
    delete_impacts,
    find_changed_lists,
    has_other_root,
)
from alerts.incidents.incident import Incident
from alerts.incidents.incident_text import describe_evidence
from alerts.incidents.member_store import MembershipChange, save_members
from alerts.incidents.steps import Event, Step
from lineage.catalog import tables
from lineage.catalog.pieces import pieces
from lineage.catalog.upsert import fold_rows

_CURSOR: Final = "incidents"
_incident = tables.incident
_Row = dict[str, Any]


def version(connection: Connection, *, is_held: bool = False) -> int:
    """How often incidents were written: whoever remembers another number remembers too little.

    Args:
        connection: in a write transaction where it is held.
        is_held: nobody else may write until this transaction ends.
    """
    cursor = tables.service_cursor
    found = select(cursor.c.position).where(cursor.c.name == _CURSOR)
    return connection.scalar(found.with_for_update() if is_held else found) or 0


def load_active(connection: Connection) -> tuple[Incident, ...]:
    """What the next step is to be given."""
    lives = select(_incident.c.life).where(_incident.c.is_remembered)
    return tuple(msgspec.json.decode(life, type=Incident) for life in connection.scalars(lives))


def save(
    connection: Connection,
    before: Mapping[str, Incident],
    step: Step,
    findings: Mapping[str, DetectedFault],
    lists: Mapping[str, AffectedDatasets],
) -> None:
    """Write what a step changed.

    Args:
        connection: in a write transaction.
        before: what the step was given, by id.
        step: what became of it.
        findings: by incident id, the fault that it is now, where there is one.
        lists: by incident id, who is affected, where that list is written anew or grows.
    """
    kept = {each.id for each in step.incidents}
    changed = _find_changed(before, step)
    rows = [_row(each, findings.get(each.id), is_remembered=each.id in kept) for each in changed]
    for row in rows:
        if (listed := lists.get(row["incident_id"])) is not None:
            row["impact_count"] = listed.count
    _write_rows(connection, _add_acknowledged_at(rows, step), before)
    at = {event.incident_id: event.at for event in step.events}
    save_members(connection, _membership_changes(before, changed, findings, at), before.keys())
    anew, _ = find_changed_lists(before, step)
    delete_impacts(connection, anew & lists.keys() & before.keys())
    add_impacts(connection, lists)
    _delete_pending(connection, [number for number in before if number not in kept])
    fold_rows(connection, tables.incident_event, [_event_row(each) for each in step.events])
    moved = {"name": _CURSOR, "position": version(connection, is_held=True) + 1}
    fold_rows(connection, tables.service_cursor, [moved])


def _membership_changes(
    before: Mapping[str, Incident],
    changed: Iterable[Incident],
    findings: Mapping[str, DetectedFault],
    at: Mapping[str, int],
) -> Iterator[MembershipChange]:
    """List the incidents whose members may be others now, each with the time of the change."""
    for each in changed:
        finding = findings.get(each.id)
        if each.id in at:
            yield MembershipChange(each, finding, at[each.id])
        # Another run of the job failed, or was made good: that changes the root without an event.
        elif each.is_active and finding is not None and has_other_root(before.get(each.id), each):
            yield MembershipChange(each, finding, finding.as_of)


def _find_changed(before: Mapping[str, Incident], step: Step) -> list[Incident]:
    now = {each.id: each for each in (*step.changed, *step.incidents)}
    return [each for each in now.values() if before.get(each.id) != each]


def _add_acknowledged_at(rows: list[_Row], step: Step) -> Iterator[_Row]:
    """With the instant, of those that somebody took on."""
    at = {each.incident_id: each.at for each in step.events if each.what == "acknowledged"}
    for row in rows:
        taken = at.get(row["incident_id"])
        yield row if taken is None else {**row, "acknowledged_at": taken}


def _write_rows(connection: Connection, rows: Iterable[_Row], before: Container[str]) -> None:
    """Those of one kind at once: an estate that is seen for the first time may have thousands."""
    mine = _incident.c.incident_id == bindparam("its_id")
    alike: dict[tuple[bool, frozenset[str]], list[_Row]] = defaultdict(list)
    for row in rows:
        alike[row["incident_id"] in before, frozenset(row)].append(row)
    for (is_known, _), some in alike.items():
        if is_known:
            own = [{**row, "its_id": row["incident_id"]} for row in some]
            connection.execute(update(_incident).where(mine), own)
        else:
            connection.execute(insert(_incident), some)


def _row(incident: Incident, finding: DetectedFault | None, *, is_remembered: bool) -> _Row:
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
        **({} if finding is None else _description(incident, finding)),
    }


def _description(incident: Incident, finding: DetectedFault) -> _Row:
    """What stays as it was when the fault is over, for those who read of it."""
    began = finding.found.beginning
    return {
        "what": finding.describe(incident),
        "root_namespace": finding.namespace,
        "root_name": finding.name,
        "evidence": finding.message
        or describe_evidence(finding.group, began, finding.shared_cause, finding.error),
        "is_bridged": finding.group is not None and finding.group.is_bridged,
    }


def _delete_pending(connection: Connection, gone: list[str]) -> None:
    """What was pending and is good again never was; the rest is kept for those who read."""
    for some in pieces(gone):
        mine = _incident.c.incident_id.in_(some)
        connection.execute(delete(_incident).where(mine, _incident.c.revision == 0))
        connection.execute(update(_incident).where(mine).values(is_remembered=False))


def _event_row(event: Event) -> _Row:
    return {
        "incident_id": event.incident_id,
        "revision": event.revision,
        "at": event.at,
        "what": event.what,
        "reason": event.reason,
        "by": event.by,
        "detail": msgspec.json.encode(event).decode(),
    }
