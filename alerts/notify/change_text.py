"""What a change is called. Reasons are ours, or a person's note: data, whatever they hold."""

from collections.abc import Iterable
from typing import Final

from alerts.incidents.steps import Event, What

_OF_PEOPLE: Final[dict[What, str]] = {
    "acknowledged": "Acknowledged",
    "suppressed": "Suppressed",
    "unsuppressed": "No longer suppressed",
    "resolved": "Resolved",
}
_OF_MEMBERS: Final[dict[What, str]] = {
    "joined": "more affected",
    "left": "no longer affected",
}
# An outage of Lineward freezes all incidents and notifies by itself: a message for each of them,
# and one more when its state is known again, was a flood (104 messages of 52 tickets).
QUIET: Final[frozenset[What]] = frozenset({"frozen", "thawed"})
# Told by what it leads to, or by the incident itself.
_SILENT: Final = frozenset({"opened", *QUIET})


def describe(events: Iterable[Event]) -> str:
    """What happened in a step, in its order."""
    return " ".join(_describe_event(event) for event in events if event.what not in _SILENT)


def _describe_event(event: Event) -> str:
    if (what := _OF_MEMBERS.get(event.what)) is not None:
        return f"{len(event.members)} {what}."
    reason = event.reason.rstrip(".")
    if event.by is not None:
        return f"{_OF_PEOPLE.get(event.what, 'Changed')} by {event.by}: {reason}."
    return f"{reason[:1].upper()}{reason[1:]}."
