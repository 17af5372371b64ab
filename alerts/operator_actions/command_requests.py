"""Requests to change an incident: validated, audited and added to the command queue.

The incident detector takes and answers them: see `alerts.operator_actions.command_queue`.
"""

import re
from typing import Literal

import msgspec
from sqlalchemy import Connection, select

from alerts.operator_actions.audit import Entry, Via, add_entry, rejected_entry, storable_text
from lineage.catalog.tables import incident, incident_command
from lineage.catalog.upsert import insert_for
from lineage.errors import InvalidRequestError, NotNowError, RequestError, UnknownIncidentError
from lineage.process.clock import DAY_MICROS, from_micros

CommandAction = Literal[
    "acknowledge", "suppress", "unsuppress", "resolve", "escalate", "false_alarm"
]

MAX_NOTE = 500
MAX_SUPPRESSED_DAYS = 30
_INCIDENT_ID = re.compile(r"[0-9a-f]{16}")
# States in which further people may be notified.
_ESCALATION_STATES = ("open", "acknowledged")


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Requested command.

    Attributes:
        incident_id: from outside: whether there is one is seen.
        until: of a suppression; µs.
        request_id: the same one asks once; none: each does.
    """

    incident_id: str
    action: CommandAction
    by: str
    via: Via
    until: int | None = None
    note: str = ""
    request_id: str | None = None


def is_incident_id(text: str) -> bool:
    """Return whether a text has the form of an incident id: 16 hexadecimal digits."""
    return _INCIDENT_ID.fullmatch(text) is not None


def submit_command(connection: Connection, request: CommandRequest, at: int) -> int:
    """Store a request with its audit row, and return its number.

    Args:
        connection: in a write transaction.
        request: to store.
        at: now, µs.

    Raises:
        RequestError: it is rejected, and nothing was written: see `record_rejected_request`.
    """
    known = _find_number(connection, request.request_id)
    if known is not None:
        return known
    _check(connection, request, at)
    row = {
        "asked_at": at,
        "by": storable_text(request.by, 200),
        "via": request.via,
        "incident_id": request.incident_id,
        "action": request.action,
        "until": request.until,
        "note": storable_text(request.note),
        "request_id": request.request_id,
    }
    # Two services may be handed the same request at once: the second finds it written.
    once = insert_for(connection.dialect)(incident_command).on_conflict_do_nothing()
    number = connection.scalar(once.values(row).returning(incident_command.c.id))
    if number is None:
        return _find_number(connection, request.request_id) or 0
    add_entry(connection, request_entry(request, at))
    return int(number)


def request_entry(request: CommandRequest, at: int) -> Entry:
    """Return the audit row of a request."""
    until = (
        "" if request.until is None else f" until {from_micros(request.until):%Y-%m-%d %H:%M} UTC"
    )
    detail = f"incident {request.incident_id[:80]}{until}: {request.note}".removesuffix(": ")
    return Entry(at=at, who=request.by, via=request.via, action=request.action, detail=detail)


def record_rejected_request(
    connection: Connection, request: CommandRequest, error: RequestError, at: int
) -> None:
    """Record the rejection of a request, in a transaction after the one of `submit_command`."""
    add_entry(connection, rejected_entry(request_entry(request, at), str(error)))


def _find_number(connection: Connection, request_id: str | None) -> int | None:
    if request_id is None:
        return None
    table = incident_command
    return connection.scalar(select(table.c.id).where(table.c.request_id == request_id))


def _check(connection: Connection, request: CommandRequest, at: int) -> None:
    state = load_incident_state(connection, request.incident_id)
    if len(request.note) > MAX_NOTE:
        raise InvalidRequestError(f"note: at most {MAX_NOTE} characters, got {len(request.note)}")
    if request.action == "suppress":
        _check_end(request.until, at)
    elif request.until is not None:
        raise InvalidRequestError(f"until: of a suppression only, not of {request.action}")
    if request.action == "escalate" and state not in _ESCALATION_STATES:
        expected = " or ".join(_ESCALATION_STATES)
        raise NotNowError(f"it is {state}: to escalate it, it must be {expected}")


def load_incident_state(connection: Connection, incident_id: str) -> str:
    """Return the state of an incident.

    Raises:
        UnknownIncidentError: there is none of that id.
    """
    found = None
    if is_incident_id(incident_id):
        query = select(incident.c.state).where(incident.c.incident_id == incident_id)
        found = connection.scalar(query)
    if found is None:
        raise UnknownIncidentError(f"no incident has the id {incident_id[:80]!r}")
    return str(found)


def _check_end(until: int | None, at: int) -> None:
    if until is None:
        raise InvalidRequestError("until: a suppression needs an end")
    if until <= at:
        raise InvalidRequestError("until: is in the past")
    if until - at > MAX_SUPPRESSED_DAYS * DAY_MICROS:
        raise InvalidRequestError(f"until: at most {MAX_SUPPRESSED_DAYS} days from now")
