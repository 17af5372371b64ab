"""Commands of people, applied to incidents: acknowledge, suppress, resolve."""

from collections.abc import Mapping
from typing import Any

from alerts.incidents.steps import EventKind, IncidentCommand, RejectedCommand
from alerts.incidents.updates import IncidentUpdate

_OPEN = frozenset({"open", "acknowledged", "suppressed"})
_ALLOWED_STATES = {
    "acknowledge": frozenset({"open"}),
    "suppress": frozenset({"open", "acknowledged"}),
    "unsuppress": frozenset({"suppressed"}),
    "resolve": _OPEN,
}


def apply_command(
    command: IncidentCommand, updates: Mapping[str, IncidentUpdate]
) -> RejectedCommand | None:
    """Apply a command, or return why it is rejected."""
    update = updates.get(command.incident_id)
    rejection = _rejection(command, update)
    if rejection is not None or update is None:
        return RejectedCommand(command, rejection or "")
    reason = command.note or "no reason given"
    if command.action == "unsuppress":
        end_suppression(update, reason, by=command.by)
    else:
        what, change = _change(command, update.at)
        update.record(what, reason, by=command.by, change=change)
    return None


def _change(command: IncidentCommand, at: int) -> tuple[EventKind, dict[str, Any]]:
    if command.action == "acknowledge":
        by = {"acknowledged_by": command.by, "acknowledged_at": at}
        return "acknowledged", {"state": "acknowledged", **by}
    if command.action == "suppress":
        return "suppressed", {"state": "suppressed", "suppressed_until": command.until}
    return "resolved", {"state": "resolved", "resolved_at": at, "is_dismissed": True}


def _rejection(command: IncidentCommand, update: IncidentUpdate | None) -> str | None:
    if update is None:
        return "no such incident, or it was resolved long ago"
    state = update.incident.state
    if state not in _ALLOWED_STATES[command.action]:
        return f"it is {state}: to {command.action} it, it must be one of {_allowed_text(command)}"
    if command.action == "suppress" and (command.until is None or command.until <= update.at):
        return "until: a suppression needs an end in the future"
    return None


def _allowed_text(command: IncidentCommand) -> str:
    return ", ".join(sorted(_ALLOWED_STATES[command.action]))


def end_suppression(update: IncidentUpdate, reason: str, by: str | None = None) -> None:
    """End a suppression; an incident that never opened opens now."""
    if update.incident.opened_at is None:
        open_incident(update, reason)
        return
    is_known = update.incident.acknowledged_by is not None
    change = {"state": "acknowledged" if is_known else "open", "suppressed_until": None}
    update.record("unsuppressed", reason, by=by, change=change)


def open_incident(update: IncidentUpdate, reason: str) -> None:
    """Open an incident for the first time: from now on routing may notify people."""
    change = {
        "state": "open",
        "opened_at": update.at,
        "opens": (*update.incident.opens, update.at),
        "suppressed_until": None,
    }
    update.record("opened", reason, change=change)
