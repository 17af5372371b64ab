"""Queue of commands: the incident detector takes them, applies them, and completes them.

All calls are in the transaction of the step: `pending_commands`,
`command_rejections`, `complete_commands`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, select, update

from alerts.incidents.steps import IncidentCommand, RejectedCommand
from alerts.operator_actions.audit import DONE, Entry, add_entry, rejected_entry, storable_text
from alerts.operator_actions.command_requests import (
    CommandRequest,
    load_incident_state,
    request_entry,
)
from alerts.operator_actions.verdicts import record_false_alarm, record_reviewed
from lineage.catalog.tables import incident_command

_ESCALATE = incident_command.c.action == "escalate"


class EscalationRequest(msgspec.Struct, frozen=True):
    """Request to run the owner's next escalation step now; `complete_commands` takes its `id`."""

    id: int
    incident_id: str
    by: str
    note: str


def pending_commands(connection: Connection) -> list[tuple[int, IncidentCommand]]:
    """Return the commands for the next step with their numbers, in the order of submission.

    A false alarm becomes a resolve. Escalations are left out: they do not change an incident.
    """
    rows = connection.execute(_select_pending().where(~_ESCALATE))
    return [(row.id, _command(row)) for row in rows]


def pending_escalations(connection: Connection) -> list[EscalationRequest]:
    """Return the requested escalations; the caller calls `complete_commands` for each."""
    rows = connection.execute(_select_pending().where(_ESCALATE))
    return [EscalationRequest(row.id, row.incident_id, row.by, row.note) for row in rows]


def command_rejections(
    taken: Sequence[tuple[int, IncidentCommand]], rejected: Iterable[RejectedCommand]
) -> dict[int, str]:
    """Return why commands were rejected, by number.

    By identity: of two users who acknowledge at once in the same words, one is rejected.
    """
    reasons = {id(each.command): each.reason for each in rejected}
    return {number: reasons[id(each)] for number, each in taken if id(each) in reasons}


def complete_commands(
    connection: Connection, numbers: Iterable[int], rejected: Mapping[int, str], at: int
) -> None:
    """Write down what became of what was taken, after the incidents themselves were written.

    Args:
        connection: in the transaction of the step.
        numbers: all that were taken, done or not.
        rejected: why not, by number.
        at: of the step, µs.
    """
    table = incident_command
    for number in numbers:
        row = connection.execute(select(table).where(table.c.id == number)).one()
        reason = rejected.get(number)
        if reason is not None and row.action == "false_alarm" and _is_resolved(connection, row):
            reason = None  # a resolved incident may be reported as a false alarm
        done = update(table).where(table.c.id == number)
        connection.execute(done.values(done_at=at, answer=storable_text(reason or "")))
        add_entry(connection, _audit_result(row, reason, at))
        if reason is None:
            _record_verdict(connection, row)


def _audit_result(row: Row[Any], reason: str | None, at: int) -> Entry:
    request = CommandRequest(incident_id=row.incident_id, action=row.action, by=row.by, via=row.via)
    entry = msgspec.structs.replace(request_entry(request, at), answer=DONE)
    return entry if reason is None else rejected_entry(entry, reason)


def _record_verdict(connection: Connection, row: Row[Any]) -> None:
    if row.action == "false_alarm":
        record_false_alarm(connection, row.incident_id)
    elif row.action in {"acknowledge", "resolve"}:
        record_reviewed(connection, row.incident_id)


def _is_resolved(connection: Connection, row: Row[Any]) -> bool:
    return load_incident_state(connection, row.incident_id) == "resolved"


def _select_pending() -> Select[Any]:
    table = incident_command
    return select(table).where(table.c.done_at.is_(None)).order_by(table.c.id)


def _command(row: Row[Any]) -> IncidentCommand:
    if row.action == "false_alarm":
        note = f"false alarm: {row.note}".removesuffix(": ")
        return IncidentCommand(row.incident_id, "resolve", row.by, row.until, note)
    return IncidentCommand(row.incident_id, row.action, row.by, row.until, row.note)
