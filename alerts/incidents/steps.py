"""Input and output of a step of the incident lifecycle.

All times are whole microseconds since 1970 UTC.
"""

from functools import cached_property
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.root_cause.faults import FaultRoot
from lineage.process.clock import SECOND_MICROS

EventKind = Literal[
    "opened",
    "reopened",
    "flapping",
    "escalated",
    "joined",
    "left",
    "kind_changed",
    "rerooted",
    "handed_over",
    "root_recovered",
    "merged",
    "took_over",
    "frozen",
    "thawed",
    "acknowledged",
    "suppressed",
    "unsuppressed",
    "resolved",
]


class LifecycleRules(msgspec.Struct, frozen=True):
    """Durations of the lifecycle, in seconds.

    Attributes:
        open_seconds: a fault that is there for so long opens an incident.
        at_once: kinds that open at once.
        close_seconds: a fault that is gone for so long resolves it.
        flap_seconds: what flaps closes after so long.
        flap_opens: so many opens within `most_memory_seconds` are flapping.
        memory_seconds: a resolved incident reopens within this time,
        memory_cadences: or within so many of its cadences, whichever is longer,
        most_memory_seconds: but not later than this. The opens and the acknowledgement of a
            reopened incident count for this time, whatever its cadence.
        drain_seconds: what the root explained may stay bad for so long after it recovered,
        drain_cadences: or for so many of its own cadences, whichever is longer.
    """

    open_seconds: float = 30
    at_once: frozenset[str] = frozenset({"access"})
    close_seconds: float = 45
    flap_seconds: float = 3600
    flap_opens: int = 3
    memory_seconds: float = 3600
    memory_cadences: float = 12
    most_memory_seconds: float = 4 * 3600
    drain_seconds: float = 3600
    drain_cadences: float = 1.5

    def remembers(self, incident: Incident, since: int, at: int) -> bool:
        """Return whether an incident resolved at `since` reopens at `at`; both in µs."""
        usual = max(self.memory_seconds, self.memory_cadences * incident.cadence_seconds)
        return at - since <= min(usual, self.most_memory_seconds) * SECOND_MICROS

    def is_recent(self, since: int, at: int) -> bool:
        """Return whether an open or an acknowledgement at `since` counts at `at`; both in µs."""
        return at - since <= self.most_memory_seconds * SECOND_MICROS


class IncidentEvent(msgspec.Struct, frozen=True):
    """Change of one incident.

    Attributes:
        incident_id: of the incident.
        revision: its number.
        at: when.
        what: happened.
        reason: in words, without names from outside.
        by: the person, where one did it.
        members: that joined or left, ascending.
        old_root: before, where the root changed; `new_root` after.
        new_root: see there.
        old_owner: before, where it was handed over; `new_owner` after.
        new_owner: see there.
        other_id: the incident that it merged into or took over.
        is_owner_notified: the new owner was notified by an incident that was taken over.
    """

    incident_id: str
    revision: int
    at: int
    what: EventKind
    reason: str
    by: str | None = None
    members: tuple[int, ...] = ()
    old_root: FaultRoot | None = None
    new_root: FaultRoot | None = None
    old_owner: str | None = None
    new_owner: str | None = None
    other_id: str | None = None
    is_owner_notified: bool = msgspec.field(default=False, name="is_told_already")


class IncidentCommand(msgspec.Struct, frozen=True):
    """Command of a person."""

    incident_id: str
    action: Literal["acknowledge", "suppress", "unsuppress", "resolve"]
    by: str
    until: int | None = None
    note: str = ""


class RejectedCommand(msgspec.Struct, frozen=True):
    """Command that was rejected, and why."""

    command: IncidentCommand
    reason: str


class StepInput(msgspec.Struct, frozen=True, dict=True):
    """Input of a step.

    Attributes:
        at: the clock; no time of an incident is ahead of it.
        faults: all faults of this evaluation, each root once; an outage freezes all others.
        unknown: datasets whose state is unknown.
        commands: of people, in their order.
        is_behind: the evaluation lacks events that were received long before it: as in an outage,
            no dataset's incident opens, changes or closes.
    """

    at: int
    faults: tuple[DetectedFault, ...] = ()
    unknown: frozenset[int] = frozenset()
    commands: tuple[IncidentCommand, ...] = ()
    is_behind: bool = False

    # Each incident of a step asks: without a cache a step was quadratic in the number of faults.
    @cached_property
    def has_stale_data(self) -> bool:
        """Return whether Lineward has no current data of datasets."""
        return self.is_behind or any(each.is_outage for each in self.faults)


class StepResult(msgspec.Struct, frozen=True):
    """Result of a step.

    Attributes:
        incidents: input of the next step: active ones, and those that may reopen.
        changed: as they are now, those that have an event, also where they are over.
        events: by incident, of each in the order in which they happened.
        rejected: commands that were not applied.
    """

    incidents: tuple[Incident, ...]
    changed: tuple[Incident, ...] = ()
    events: tuple[IncidentEvent, ...] = ()
    rejected: tuple[RejectedCommand, ...] = ()


_TIMES: Final = (
    *("onset", "seen_at", "opened_at", "good_at", "root_good_at", "resolved_at"),
    "acknowledged_at",
)


def cap_times(own: Incident, at: int) -> Incident:
    """Return the incident with each time that is ahead of `at` set to `at`.

    Otherwise it would neither open nor close before the clock comes to that time again.
    """
    changes: dict[str, object] = {}
    for name in _TIMES:
        value = getattr(own, name)
        if value is not None and value > at:
            changes[name] = at
    if any(opened > at for opened in own.opens):
        changes["opens"] = tuple(min(opened, at) for opened in own.opens)
    if any(since > at for _, since in own.trailing):
        changes["trailing"] = tuple((key, min(since, at)) for key, since in own.trailing)
    return replace(own, **changes) if changes else own
