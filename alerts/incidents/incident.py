"""Incident: one fault over time.

All times are whole microseconds since 1970 UTC.
"""

from typing import Literal

import msgspec

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.times import FaultTimes, LifeTimes, NamedTime, list_times, name_beginning
from alerts.root_cause.faults import FaultRoot, UnknownReason
from alerts.root_cause.kinds import Progression, progression_of
from alerts.root_cause.severity import BY_KIND, IncidentSeverity
from lineage.names import keys
from lineage.states import PAGE

# pending: the fault was found too recently to notify anybody.
IncidentState = Literal["pending", "open", "acknowledged", "suppressed", "resolved"]


class Incident(msgspec.Struct, frozen=True):
    """Incident, as the catalog stores it. Its id never changes.

    Attributes:
        id: 16 hexadecimal digits; a replay of the same events gives the same id.
        root: what is to be fixed.
        state: of the incident.
        onset: when the root failed.
        seen_at: the first evaluation that found the fault, without a break since.
        revision: grows by one with each event; 0 before the first.
        members: datasets that are bad because of the fault.
        root_keys: datasets of the root.
        severity: current; the level never falls while the incident is open.
        owner: of the root.
        unknown: why the root is not known.
        opened_at: when it first opened; routing may notify people later, or never.
        opens: each time that the incident opened, as far back as is kept.
        is_flapping: it stays open for longer, since it opened repeatedly.
        is_frozen: there is no current data of the root; the incident does not change.
        good_at: the first evaluation that found nothing of it, without a break since.
        root_good_at: the first evaluation without the root; its members may still be bad.
        trailing: members that no found fault explains, while the root is still bad: dataset key,
            and since when.
        resolved_at: when it was resolved.
        is_dismissed: a person resolved it while it was bad: it is quiet until it was good.
        merged_into: the older incident of the same root.
        suppressed_until: when a suppression ends.
        acknowledged_by: the person who acknowledged it.
        acknowledged_at: when.
        cadence_seconds: of the fault, when it was last found.
        times: of the root's own datasets, when they were last found.
    """

    id: str
    root: FaultRoot
    state: IncidentState
    onset: int
    seen_at: int
    revision: int = 0
    members: frozenset[int] = frozenset()
    root_keys: frozenset[int] = frozenset()
    severity: IncidentSeverity = BY_KIND
    owner: str | None = None
    unknown: UnknownReason | None = None
    opened_at: int | None = None
    opens: tuple[int, ...] = ()
    is_flapping: bool = False
    is_frozen: bool = False
    good_at: int | None = None
    root_good_at: int | None = None
    trailing: tuple[tuple[int, int], ...] = ()
    resolved_at: int | None = None
    is_dismissed: bool = False
    merged_into: str | None = None
    suppressed_until: int | None = None
    acknowledged_by: str | None = None
    acknowledged_at: int | None = None
    cadence_seconds: float = 0.0
    times: FaultTimes = FaultTimes()

    @property
    def timeline(self) -> list[NamedTime]:
        """Return its times by name, the earliest first."""
        beginning = name_beginning(self.root.kind, self.root.name, self.onset, self.times)
        life = LifeTimes(self.seen_at, self.opened_at, self.opens, self.resolved_at)
        return list_times(beginning, life)

    @property
    def is_tracked(self) -> bool:
        """Return whether faults are matched to it."""
        return self.state != "resolved" or self.is_dismissed

    @property
    def is_active(self) -> bool:
        """Return whether a change of it is an event."""
        return self.state not in {"pending", "resolved"}

    @property
    def has_opened(self) -> bool:
        """Return whether it opened, and is not resolved."""
        return self.is_active and self.opened_at is not None

    @property
    def age(self) -> tuple[bool, bool, int, str]:
        """Return a sort key, the oldest first; incidents that opened before all others."""
        return self.is_dismissed, self.opened_at is None, self.opened_at or self.seen_at, self.id


def begin_incident(fault: DetectedFault, at: int) -> Incident:
    """Return the pending incident of a fault that is detected for the first time."""
    root = fault.root
    number = keys.key("incident", root.entity, str(root.key), root.kind, root.name, str(at))
    return Incident(
        id=f"{number % (1 << 64):016x}",
        root=root,
        state="pending",
        onset=fault.onset,
        seen_at=at,
        members=fault.bad_keys,
        root_keys=fault.root_keys,
        severity=fault.severity,
        owner=fault.owner,
        unknown=fault.unknown,
        cadence_seconds=fault.cadence_seconds,
        times=fault.times,
    )


def is_worse(fault: DetectedFault, own: Incident) -> bool:
    """Return whether a fault is a page, and its incident was a ticket.

    Acknowledging or resolving the ticket does not answer the page.
    """
    return fault.severity.level == PAGE and own.severity.level != PAGE


def progression_of_root(root: FaultRoot) -> tuple[Progression, str, int, str] | None:
    """Return the progression of a fault of a job or dataset; None: its kind never changes."""
    progression = progression_of(root.kind)
    return None if progression is None else (progression, root.entity, root.key, root.name)
