"""Who belongs to an incident, since when, and why."""

from typing import Any

import msgspec
from sqlalchemy import Connection, select, update

from alerts.incidents.faults import Member
from alerts.incidents.incident import Incident
from alerts.watch.finding import Finding
from lineage.catalog import tables
from lineage.catalog.pieces import pieces
from lineage.catalog.upsert import fold_rows, least, newest

_member = tables.incident_member
_KEYS = ("incident_id", "dataset_key")


def keep_members(
    connection: Connection, incident: Incident, finding: Finding | None, at: int
) -> None:
    """Write the members as they are since `at`, in µs; one that left keeps its row."""
    members = {} if finding is None else finding.members
    rows = [_row(incident.id, each, at) for key, each in members.items() if key in incident.members]
    if rows:
        folds = dict.fromkeys(rows[0].keys() - set(_KEYS), newest)
        fold_rows(connection, _member, rows, {**folds, "joined_at": least})
    _leave(connection, incident, at)


def _leave(connection: Connection, incident: Incident, at: int) -> None:
    mine = (_member.c.incident_id == incident.id, _member.c.left_at.is_(None))
    there = set(connection.scalars(select(_member.c.dataset_key).where(*mine)))
    for some in pieces(sorted(there - incident.members)):
        left = update(_member).where(*mine, _member.c.dataset_key.in_(some))
        connection.execute(left.values(left_at=at))


def _row(number: str, member: Member, at: int) -> dict[str, Any]:
    by = member.explained_by
    return {
        "incident_id": number,
        "dataset_key": member.dataset_key,
        "kind": member.kind,
        "onset": member.onset,
        "steps": member.steps,
        "explained_by": None if by is None else by[0],
        "relays": msgspec.json.encode(member.relays).decode(),
        "job_key": member.job_key,
        "run_id": member.run_id,
        "joined_at": at,
        "left_at": None,
    }
