"""One incident within a step: each change that is told is an event with a revision of its own."""

from typing import Any

import msgspec

from alerts.incidents.incident import Incident
from alerts.incidents.steps import Event, EventKind


class IncidentUpdate:
    """An incident and the events of this step."""

    def __init__(self, incident: Incident, at: int) -> None:
        self.incident = incident
        self.at = at
        self.events: list[Event] = []

    def set(self, **fields: Any) -> None:  # noqa: ANN401 - as the struct has them
        """Change what nobody needs to hear of."""
        self.incident = msgspec.structs.replace(self.incident, **fields)

    def record(
        self,
        what: EventKind,
        reason: str,
        *,
        change: dict[str, Any] | None = None,
        **detail: Any,  # noqa: ANN401 - as `Event` has them
    ) -> None:
        """Change these fields of the incident, and say so: quietly where nobody knows of it yet."""
        was_told = self.incident.is_active
        self.set(**(change or {}))
        if was_told or self.incident.is_active:
            self.set(revision=self.incident.revision + 1)
            own = self.incident
            self.events.append(Event(own.id, own.revision, self.at, what, reason, **detail))
