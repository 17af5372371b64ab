"""Fault as an evaluation finds it: the input of the incident lifecycle.

All times are whole microseconds since 1970 UTC.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec
import numpy as np

from alerts.incidents.times import FaultTimes, NamedTime, name_beginning
from alerts.root_cause.common_causes import CommonCause
from alerts.root_cause.faults import FaultGroup, FaultRoot, Member, UnknownReason
from alerts.root_cause.impact_walks import ImpactWalks
from alerts.root_cause.kinds import KIND_BY_ID
from alerts.root_cause.retries import RETRY_RULES
from alerts.root_cause.severity import BY_KIND, TICKET_BY_KIND, IncidentSeverity, RootImpact
from alerts.root_cause.snapshot import NO_KEY, LineageSnapshot
from lineage.process.clock import SECOND_MICROS
from lineage.states import TICKET


class DetectedFault(msgspec.Struct, frozen=True, eq=False):
    """Fault of an evaluation, with its evidence.

    Attributes:
        root: the job, dataset, cause or part of Lineward to fix.
        onset: when the root failed.
        bad_keys: datasets that are bad because of it.
        root_keys: datasets of the root itself; empty for a part of Lineward.
        faults: the root, and all faults that would be roots if it did not explain them.
        severity: page or ticket, and the reason.
        owner: of the root; None: unowned.
        cadence_seconds: the longest cadence of its bad datasets, else of the root's datasets.
        unknown: why the root is not known; None: it is known.
        hidden_by: the suppression window that covers it; the incident opens when the window ends.
        hidden_until: when that window ends.
        affected_by: incidents that list its root's datasets as affected, while a run is under way.
        has_pending_retry: its run failed, nothing is bad yet, and a retry is expected.
        times: of the root's own datasets.
        group: the fault with its members; None: it is a fault of Lineward itself.
        walks: computes the impact of the group.
        namespace: of the root; empty where it has none or is not known any more.
        name: of the root.
        shared_cause: what the failed jobs of a cause have in common.
        error: of the newest failed run that reported one.
        message: of a part of Lineward: how it fails.
        as_of: of the evaluation that found it.
        has_new_source: an upstream dataset is new and undeclared.
    """

    root: FaultRoot
    onset: int
    bad_keys: frozenset[int] = frozenset()
    root_keys: frozenset[int] = frozenset()
    faults: frozenset[FaultRoot] = frozenset()
    severity: IncidentSeverity = BY_KIND
    owner: str | None = None
    cadence_seconds: float = 0.0
    unknown: UnknownReason | None = None
    hidden_by: str | None = None
    hidden_until: int = 0
    affected_by: frozenset[str] = frozenset()
    has_pending_retry: bool = False
    times: FaultTimes = FaultTimes()
    group: FaultGroup | None = None
    walks: ImpactWalks | None = None
    namespace: str = ""
    name: str = ""
    shared_cause: CommonCause | None = None
    error: str | None = None
    message: str | None = None
    as_of: int = 0
    has_new_source: bool = False

    @property
    def beginning(self) -> list[NamedTime]:
        """Return when the fault began, each time with its name."""
        return name_beginning(self.root.kind, self.root.name, self.onset, self.times)

    @property
    def is_outage(self) -> bool:
        """Return whether a role of Lineward fails, or the pipeline is behind.

        Incidents of datasets are frozen, whichever role it is.
        """
        return self.root.kind == "ingestion"

    @property
    def is_waiting(self) -> bool:
        """Return whether a retry is expected, or our own fault hides the upstream."""
        return self.has_pending_retry or self.unknown == "upstream_unknown"

    @property
    def is_bridged(self) -> bool:
        """Return whether members are explained through datasets that cannot be observed."""
        return self.group is not None and self.group.is_bridged

    @property
    def members(self) -> Mapping[int, Member]:
        """Return how each dataset is bad, by dataset key; the shortest path where several exist."""
        if self.group is None:
            return {}
        return {each.dataset_key: each for each in reversed(self.group.members)}

    def is_retry_expected(self, at: int) -> bool:
        """Return whether a retry is expected at `at`; not after an old failure."""
        return (
            self.has_pending_retry and at - self.onset <= RETRY_RULES.fresh_seconds * SECOND_MICROS
        )

    def is_hidden(self, at: int) -> bool:
        """Return whether a suppression window covers the fault at `at`."""
        return self.hidden_by is not None and self.hidden_until > at

    def impact(self) -> RootImpact | None:
        """Walk the graph for all datasets downstream of the root; None for Lineward itself."""
        if self.group is None or self.walks is None:
            return None
        return self.walks.impact(self.group)


def detected_fault(
    group: FaultGroup,
    severity: IncidentSeverity,
    snapshot: LineageSnapshot,
    owner: str | None = None,
) -> DetectedFault:
    """Build the fault of a group that `roots.find_faults` returned."""
    # A failed run may have no bad dataset yet: the datasets that it should have written count.
    at = np.searchsorted(snapshot.keys, sorted(group.bad_keys or group.root_keys))
    cadences = snapshot.datasets["cadence_seconds"][at]
    return DetectedFault(
        root=group.root,
        onset=group.onset,
        bad_keys=group.bad_keys,
        root_keys=frozenset(group.root_keys),
        faults=frozenset(member.fault for member in group.members),
        severity=severity,
        owner=owner,
        cadence_seconds=float(np.nan_to_num(cadences).max(initial=0.0)),
        unknown=group.unknown,
        group=group,
    )


def service_fault(
    kind: Literal["ingestion", "access", "set_aside"],
    part: str,
    since: int,
    owner: str | None = None,
    message: str | None = None,
) -> DetectedFault:
    """Return a fault of Lineward itself: of a role, an access, or events set aside."""
    root = FaultRoot("service", NO_KEY, kind, part)
    severity = TICKET_BY_KIND if KIND_BY_ID[kind].urgency == TICKET else BY_KIND
    return DetectedFault(
        root,
        since,
        faults=frozenset({root}),
        owner=owner,
        severity=severity,
        namespace="lineward",
        name=part,
        message=message,
    )
