"""Incidents in the catalog: as they are, what happened to them, and who belongs to them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from alerts.incidents.incident import Incident
from alerts.incidents.steps import Event, Step
from alerts.watch.finding import Finding
from alerts.watch.impacts import add_impact, has_grown, is_anew, keep_impact
from alerts.watch.members import keep_members
from alerts.watch.words import evidence, what
from lineage.catalog import tables
from lineage.catalog.pieces import pieces
from lineage.catalog.upsert import fold_rows

_CURSOR: Final = "incidents"
_incident = tables.incident


def position(connection: Connection, *, is_held: bool = False) -> int:
    """How often incidents were written: whoever remembers another number remembers too little.

    Args:
        connection: in a write transaction where it is held.
        is_held: nobody else may write until this transaction ends.
    """
    cursor = tables.service_cursor
    found = select(cursor.c.position).where(cursor.c.name == _CURSOR)
    return connection.scalar(found.with_for_update() if is_held else found) or 0


def remembered(connection: Connection) -> tuple[Incident, ...]:
    """What the next step is to be given."""
    lives = select(_incident.c.life).where(_incident.c.is_remembered)
    return tuple(msgspec.json.decode(life, type=Incident) for life in connection.scalars(lives))


def keep(
    connection: Connection,
    before: Mapping[str, Incident],
    step: Step,
    findings: Mapping[str, Finding],
) -> None:
    """Write what a step changed.

    Args:
        connection: in a write transaction.
        before: what the step was given, by id.
        step: what became of it.
        findings: by incident id, the fault that it is now, where there is one.
    """
    events = {event.incident_id: event for event in step.events}
    acknowledged = {
        each.incident_id: each.at for each in step.events if each.what == "acknowledged"
    }
    kept = {each.id for each in step.incidents}
    for each in _changed(before, step):
        row = _row(each, findings.get(each.id), is_remembered=each.id in kept)
        if each.id in acknowledged:
            row["acknowledged_at"] = acknowledged[each.id]
        _write(connection, row, is_new=each.id not in before)
        if each.id in events:
            keep_members(connection, each, findings.get(each.id), events[each.id].at)
    _impacts(connection, before, step, findings)
    _forget(connection, [number for number in before if number not in kept])
    fold_rows(connection, tables.incident_event, [_event(each) for each in step.events])
    moved = {"name": _CURSOR, "position": position(connection, is_held=True) + 1}
    fold_rows(connection, tables.service_cursor, [moved])


def _impacts(
    connection: Connection,
    before: Mapping[str, Incident],
    step: Step,
    findings: Mapping[str, Finding],
) -> None:
    anew = {each.incident_id for each in step.events if is_anew(each)}
    grown = {each.id for each in step.incidents if has_grown(before.get(each.id), each)}
    for number in anew | grown:
        found = findings.get(number)
        if found is not None and found.impact is not None:
            write = keep_impact if number in anew else add_impact
            write(connection, number, found.impact)


def _changed(before: Mapping[str, Incident], step: Step) -> list[Incident]:
    now = {each.id: each for each in (*step.changed, *step.incidents)}
    return [each for each in now.values() if before.get(each.id) != each]


def _write(connection: Connection, row: dict[str, Any], *, is_new: bool) -> None:
    if is_new:
        connection.execute(insert(_incident).values(**row))
        return
    mine = _incident.c.incident_id == row["incident_id"]
    connection.execute(update(_incident).where(mine).values(**row))


def _row(incident: Incident, finding: Finding | None, *, is_remembered: bool) -> dict[str, Any]:
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
        **({} if finding is None else _told(incident, finding)),
    }


def _told(incident: Incident, finding: Finding) -> dict[str, Any]:
    """What stays as it was when the fault is over, for those who read of it."""
    return {
        "what": what(incident.root, finding.name, len(incident.members)),
        "root_namespace": finding.namespace,
        "root_name": finding.name,
        "evidence": evidence(finding.cluster, finding.common),
        "is_bridged": finding.cluster is not None and finding.cluster.is_bridged,
    }


def _forget(connection: Connection, gone: list[str]) -> None:
    """What was pending and is good again never was; the rest is kept for those who read."""
    for some in pieces(gone):
        mine = _incident.c.incident_id.in_(some)
        connection.execute(delete(_incident).where(mine, _incident.c.revision == 0))
        connection.execute(update(_incident).where(mine).values(is_remembered=False))


def _event(event: Event) -> dict[str, Any]:
    return {
        "incident_id": event.incident_id,
        "revision": event.revision,
        "at": event.at,
        "what": event.what,
        "reason": event.reason,
        "by": event.by,
        "detail": msgspec.json.encode(event).decode(),
    }
