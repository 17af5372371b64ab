"""A fault as it is found, and the incident that it becomes.

All instants are whole microseconds since 1970 UTC.
"""

from typing import Literal

import msgspec
import numpy as np

from alerts.incidents.times import FaultTimes, LifeTimes, NamedTime, list_times, name_beginning
from alerts.root_cause.faults import FaultGroup, Root, UnknownReason
from alerts.root_cause.kinds import KIND_BY_ID, Progression, progression_of
from alerts.root_cause.retries import RULES as RETRY_RULES
from alerts.root_cause.severity import BY_KIND, PAGE, TICKET, TICKET_BY_KIND, Severity
from alerts.root_cause.snapshot import MICROS, NO_KEY, LineageSnapshot
from lineage import keys

# pending: found, and not held for long enough to be told of.
State = Literal["pending", "open", "acknowledged", "suppressed", "resolved"]


class FaultSnapshot(msgspec.Struct, frozen=True):
    """A fault as an evaluation finds it.

    Attributes:
        root: what is to be mended.
        onset: when it failed.
        bad_keys: datasets that are bad by it.
        root_keys: those of the root itself; none of a part of the service.
        faults: the root, and what would be roots if it did not explain them.
        severity: page or ticket, and why.
        owner: of the root; none: nobody is known.
        cadence_seconds: the longest of its bad datasets, else of its root's.
        unknown: why the root is not known; none: it is.
        hidden_by: the planned window that it falls into; it opens when that ends.
        hidden_until: when that is.
        affected_by: incidents that list its root's datasets as affected, while a run is under way.
        has_pending_retry: its run failed, nothing is bad yet, and a retry is expected.
        times: of the root's own datasets.
    """

    root: Root
    onset: int
    bad_keys: frozenset[int] = frozenset()
    root_keys: frozenset[int] = frozenset()
    faults: frozenset[Root] = frozenset()
    severity: Severity = BY_KIND
    owner: str | None = None
    cadence_seconds: float = 0.0
    unknown: UnknownReason | None = None
    hidden_by: str | None = None
    hidden_until: int = 0
    affected_by: frozenset[str] = frozenset()
    has_pending_retry: bool = False
    times: FaultTimes = FaultTimes()

    @property
    def beginning(self) -> list[NamedTime]:
        """Return when the fault began, each time by its name."""
        return name_beginning(self.root.kind, self.root.name, self.onset, self.times)

    @property
    def is_outage(self) -> bool:
        """Everything behind it waits."""
        return self.root.kind == "ingestion"

    @property
    def is_waiting(self) -> bool:
        """Return whether a retry is expected, or our own fault hides the upstream."""
        return self.has_pending_retry or self.unknown == "upstream_unknown"

    def is_retry_expected(self, at: int) -> bool:
        """Return whether a retry is expected at `at`, µs; of an old failure none is."""
        return self.has_pending_retry and at - self.onset <= RETRY_RULES.fresh_seconds * MICROS


def snapshot_of(
    group: FaultGroup, severity: Severity, snapshot: LineageSnapshot, owner: str | None = None
) -> FaultSnapshot:
    """Of a cluster, as `roots.clusters` has it."""
    # Nothing is bad yet of a run that failed: the datasets that it should have written count.
    at = np.searchsorted(snapshot.keys, sorted(group.bad_keys or group.root_keys))
    cadences = snapshot.datasets["cadence_seconds"][at]
    return FaultSnapshot(
        root=group.root,
        onset=group.onset,
        bad_keys=group.bad_keys,
        root_keys=frozenset(group.root_keys),
        faults=frozenset(member.fault for member in group.members),
        severity=severity,
        owner=owner,
        cadence_seconds=float(np.nan_to_num(cadences).max(initial=0.0)),
        unknown=group.unknown,
    )


def service_fault(
    kind: Literal["ingestion", "access", "set_aside"],
    part: str,
    since: int,
    owner: str | None = None,
) -> FaultSnapshot:
    """Return a fault of Lineward itself: of a role, of an access, or of events set aside."""
    root = Root("service", NO_KEY, kind, part)
    severity = TICKET_BY_KIND if KIND_BY_ID[kind].urgency == TICKET else BY_KIND
    return FaultSnapshot(root, since, faults=frozenset({root}), owner=owner, severity=severity)


class Incident(msgspec.Struct, frozen=True):
    """One fault over time. Its id never changes; everything else may.

    Attributes:
        id: 16 hexadecimal digits, the same whenever the same is replayed.
        root: what is to be mended.
        state: of its life.
        onset: when the root failed.
        seen_at: the first evaluation that found it without a break since.
        revision: grows by one with each event; 0 before the first.
        members: datasets that are bad by it.
        root_keys: the datasets of the root.
        severity: as of now; the level never falls while it is open.
        owner: whose it is.
        unknown: why the root is not known.
        opened_at: first told.
        opens: when it was opened, as far back as is remembered.
        is_flapping: it stays open, since it would come back.
        is_frozen: nobody knows how it is: it stays as it is.
        good_at: the first evaluation that found nothing of it, without a break since.
        root_good_at: the first that did not find the root; its members may still be bad.
        trailing: members that nothing found explains any more, though the root is still bad: since
            when each, by key.
        resolved_at: when.
        is_dismissed: a person resolved it while it was bad: quiet until it was good.
        merged_into: the older incident of the same root.
        suppressed_until: when a suppression ends.
        acknowledged_by: who.
        acknowledged_at: when.
        cadence_seconds: as it was last found.
        times: of the root's own datasets, as they were last found.
    """

    id: str
    root: Root
    state: State
    onset: int
    seen_at: int
    revision: int = 0
    members: frozenset[int] = frozenset()
    root_keys: frozenset[int] = frozenset()
    severity: Severity = BY_KIND
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
        """It takes what is found of it."""
        return self.state != "resolved" or self.is_dismissed

    @property
    def is_active(self) -> bool:
        """What changes is an event."""
        return self.state not in {"pending", "resolved"}

    @property
    def is_notified(self) -> bool:
        """Return whether people were notified of it, and it is not resolved."""
        return self.is_active and self.opened_at is not None

    @property
    def age(self) -> tuple[bool, bool, int, str]:
        """The older of two is the lesser: what was told goes before what was not."""
        return self.is_dismissed, self.opened_at is None, self.opened_at or self.seen_at, self.id


def begin_incident(found: FaultSnapshot, at: int) -> Incident:
    """Found for the first time."""
    root = found.root
    number = keys.key("incident", root.entity, str(root.key), root.kind, root.name, str(at))
    return Incident(
        id=f"{number % (1 << 64):016x}",
        root=root,
        state="pending",
        onset=found.onset,
        seen_at=at,
        members=found.bad_keys,
        root_keys=found.root_keys,
        severity=found.severity,
        owner=found.owner,
        unknown=found.unknown,
        cadence_seconds=found.cadence_seconds,
        times=found.times,
    )


def is_worse(fault: FaultSnapshot, own: Incident) -> bool:
    """Return whether a fault is a page, and its incident was a ticket.

    What a person did to the ticket does not answer the page.
    """
    return fault.severity.level == PAGE and own.severity.level != PAGE


def progression_of_root(root: Root) -> tuple[Progression, str, int, str] | None:
    """Return the course of a fault of a job or dataset; None: its kind never changes."""
    course = progression_of(root.kind)
    return None if course is None else (course, root.entity, root.key, root.name)
