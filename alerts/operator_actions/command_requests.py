"""Requests to change an incident: validate, audit and add them to the command queue.

The incident detector takes and answers them: see `alerts.operator_actions.command_queue`.
"""

import re
from typing import Final, Literal, get_args

import msgspec
from sqlalchemy import Connection, select

from alerts.operator_actions.audit import Entry, Via, record, rejection, storable_text
from lineage.catalog.tables import incident, incident_command
from lineage.catalog.upsert import insert_for
from lineage.clock import from_micros

Action = Literal["acknowledge", "suppress", "unsuppress", "resolve", "escalate", "false_alarm"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)

MAX_NOTE = 500
MAX_SUPPRESSED_DAYS = 30
_DAY_MICROS = 86_400_000_000
_INCIDENT_ID = re.compile(r"[0-9a-f]{16}")
# The states in which somebody may be told of it beyond whom was told already.
_ESCALATION_STATES = ("open", "acknowledged")


class CommandError(ValueError):
    """Not even written down; the text says why."""


class UnknownIncidentError(CommandError):
    """No incident has that id."""


class InvalidCommandError(CommandError):
    """Something is missing or out of its range; the text names it."""


class InvalidStateError(CommandError):
    """The incident is in a state in which this means nothing."""


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants of an incident.

    Attributes:
        incident_id: from outside: whether there is one is seen.
        until: of a suppression; µs.
        request_id: the same one asks once; none: each does.
    """

    incident_id: str
    action: Action
    by: str
    via: Via
    until: int | None = None
    note: str = ""
    request_id: str | None = None


def is_incident_id(text: str) -> bool:
    """Whether this could be one's id: 16 hexadecimal digits."""
    return _INCIDENT_ID.fullmatch(text) is not None


def submit(connection: Connection, wanted: CommandRequest, at: int) -> int:
    """Write down what somebody wants, with its audit row; its number.

    Args:
        connection: in a write transaction.
        wanted: by whom, of which incident.
        at: now, µs.

    Raises:
        AskError: it is refused, and nothing was written: see `audited_refusal`.
    """
    known = _find_number(connection, wanted.request_id)
    if known is not None:
        return known
    _check(connection, wanted, at)
    row = {
        "asked_at": at,
        "by": storable_text(wanted.by, 200),
        "via": wanted.via,
        "incident_id": wanted.incident_id,
        "action": wanted.action,
        "until": wanted.until,
        "note": storable_text(wanted.note),
        "request_id": wanted.request_id,
    }
    # Two services may be handed the same request at once: the second finds it written.
    once = insert_for(connection.dialect)(incident_command).on_conflict_do_nothing()
    number = connection.scalar(once.values(row).returning(incident_command.c.id))
    if number is None:
        return _find_number(connection, wanted.request_id) or 0
    record(connection, audit_entry(wanted, at))
    return int(number)


def audit_entry(wanted: CommandRequest, at: int) -> Entry:
    """The audit row of asking."""
    until = "" if wanted.until is None else f" until {from_micros(wanted.until):%Y-%m-%d %H:%M} UTC"
    detail = f"incident {wanted.incident_id[:80]}{until}: {wanted.note}".removesuffix(": ")
    return Entry(at=at, who=wanted.by, via=wanted.via, action=wanted.action, detail=detail)


def record_rejection(
    connection: Connection, wanted: CommandRequest, error: CommandError, at: int
) -> None:
    """Write down that it was refused at the door, in a transaction after the one of `ask`."""
    record(connection, rejection(audit_entry(wanted, at), str(error)))


def _find_number(connection: Connection, request_id: str | None) -> int | None:
    if request_id is None:
        return None
    table = incident_command
    return connection.scalar(select(table.c.id).where(table.c.request_id == request_id))


def _check(connection: Connection, wanted: CommandRequest, at: int) -> None:
    state = load_state(connection, wanted.incident_id)
    if len(wanted.note) > MAX_NOTE:
        raise InvalidCommandError(f"note: at most {MAX_NOTE} characters, got {len(wanted.note)}")
    if wanted.action == "suppress":
        _check_end(wanted.until, at)
    elif wanted.until is not None:
        raise InvalidCommandError(f"until: of a suppression only, not of {wanted.action}")
    if wanted.action == "escalate" and state not in _ESCALATION_STATES:
        expected = " or ".join(_ESCALATION_STATES)
        raise InvalidStateError(f"it is {state}: to escalate it, it must be {expected}")


def load_state(connection: Connection, incident_id: str) -> str:
    """The state of an incident.

    Raises:
        UnknownIncidentError: there is none of that id.
    """
    found = None
    if is_incident_id(incident_id):
        query = select(incident.c.state).where(incident.c.incident_id == incident_id)
        found = connection.scalar(query)
    if found is None:
        raise UnknownIncidentError(f"no incident is called {incident_id[:80]!r}")
    return str(found)


def _check_end(until: int | None, at: int) -> None:
    if until is None:
        raise InvalidCommandError("until: a suppression needs an end")
    if until <= at:
        raise InvalidCommandError("until: is over already")
    if until - at > MAX_SUPPRESSED_DAYS * _DAY_MICROS:
        raise InvalidCommandError(f"until: at most {MAX_SUPPRESSED_DAYS} days from now")
