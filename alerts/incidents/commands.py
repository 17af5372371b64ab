"""What people do to incidents: acknowledge, suppress for a time, resolve."""

from collections.abc import Mapping
from typing import Any

from alerts.incidents.steps import Command, EventKind, RejectedCommand
from alerts.incidents.updates import IncidentUpdate

_OPEN = frozenset({"open", "acknowledged", "suppressed"})
_ALLOWED_STATES = {
    "acknowledge": frozenset({"open"}),
    "suppress": frozenset({"open", "acknowledged"}),
    "unsuppress": frozenset({"suppressed"}),
    "resolve": _OPEN,
}


def apply_command(command: Command, drafts: Mapping[str, IncidentUpdate]) -> RejectedCommand | None:
    """Do it, or say why not."""
    draft = drafts.get(command.incident_id)
    refusal = _rejection(command, draft)
    if refusal is not None or draft is None:
        return RejectedCommand(command, refusal or "")
    reason = command.note or f"{command.action} by a person"
    if command.action == "unsuppress":
        end_suppression(draft, reason, by=command.by)
    else:
        what, change = _change(command, draft.at)
        draft.record(what, reason, by=command.by, change=change)
    return None


def _change(command: Command, at: int) -> tuple[EventKind, dict[str, Any]]:
    if command.action == "acknowledge":
        by = {"acknowledged_by": command.by, "acknowledged_at": at}
        return "acknowledged", {"state": "acknowledged", **by}
    if command.action == "suppress":
        return "suppressed", {"state": "suppressed", "suppressed_until": command.until}
    return "resolved", {"state": "resolved", "resolved_at": at, "is_dismissed": True}


def _rejection(command: Command, draft: IncidentUpdate | None) -> str | None:
    if draft is None:
        return "no such incident, or it was over long ago"
    state = draft.incident.state
    if state not in _ALLOWED_STATES[command.action]:
        return f"it is {state}: to {command.action} it, it must be one of {_allowed_text(command)}"
    if command.action == "suppress" and (command.until is None or command.until <= draft.at):
        return "until: a suppression needs an end that is still to come"
    return None


def _allowed_text(command: Command) -> str:
    return ", ".join(sorted(_ALLOWED_STATES[command.action]))


def end_suppression(draft: IncidentUpdate, reason: str, by: str | None = None) -> None:
    """What a planned window hid from its beginning opens now; the rest is as it was."""
    if draft.incident.opened_at is None:
        open_incident(draft, reason)
        return
    is_known = draft.incident.acknowledged_by is not None
    change = {"state": "acknowledged" if is_known else "open", "suppressed_until": None}
    draft.record("unsuppressed", reason, by=by, change=change)


def open_incident(draft: IncidentUpdate, reason: str) -> None:
    """Told for the first time."""
    change = {
        "state": "open",
        "opened_at": draft.at,
        "opens": (*draft.incident.opens, draft.at),
        "suppressed_until": None,
    }
    draft.record("opened", reason, change=change)
