"""The faults of an evaluation: what is bad, what is behind it, how bad that is, and whose."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection

from alerts.detection.dataset_info import DatasetInfo, load_dataset_info
from alerts.detection.due_failures import DueFailures, find_due_failures, has_failing
from alerts.detection.jobs_at_fault import JobsAtFault, load_jobs_at_fault
from alerts.detection.sli_violations import load_unknown_keys, load_violations
from alerts.detection.snapshot_loader import CatalogSnapshot, Owners, load_snapshot
from alerts.incidents.impact_store import incidents_affecting
from alerts.incidents.incident import FaultSnapshot, Incident, snapshot_of
from alerts.incidents.incident_text import root_name, title
from alerts.incidents.times import read_times
from alerts.operator_actions.suppression import Window, WindowEnd, common_window, find_windows
from alerts.root_cause.causes import find_shared_causes, merge_by_cause
from alerts.root_cause.common_causes import CommonCause
from alerts.root_cause.faults import FaultGroup, Member, Root
from alerts.root_cause.impact_walks import ImpactWalks
from alerts.root_cause.kinds import UNDER_WAY
from alerts.root_cause.retries import select_failures
from alerts.root_cause.roots import find_faults
from alerts.root_cause.severity import Impact
from lineage.policy.declared import declared_edges
from lineage.policy.model import Policy
from lineage.policy.resolution import owner_of_job


class DetectedFault(msgspec.Struct, frozen=True, eq=False):
    """One fault, and what it rests on; of a part of the service itself that is nothing."""

    found: FaultSnapshot
    group: FaultGroup | None = None
    walks: ImpactWalks | None = None
    namespace: str = ""  # of what is to be mended
    name: str = ""
    shared_cause: CommonCause | None = None  # of a cause: what its jobs have in common
    error: str | None = None  # of its newest failed run that reported one
    message: str | None = None  # of a part of the service itself: what fails there
    as_of: int = 0  # of the evaluation that it is found by, µs
    has_new_source: bool = False  # an upstream dataset that is new and that nobody declared

    def describe(self, incident: Incident) -> str:
        """Describe the fault as the incident has it: its root, and how many datasets are bad."""
        count = len(incident.members)
        return title(incident.root, self.name, count, has_new_source=self.has_new_source)

    @property
    def members(self) -> Mapping[int, Member]:
        """By dataset: how it is bad, and by what; the shortest way where there are several."""
        if self.group is None:
            return {}
        return {each.dataset_key: each for each in reversed(self.group.members)}

    def impact(self) -> Impact | None:
        """Walk the graph for all that is downstream of its root; of the service nothing is."""
        if self.group is None or self.walks is None:
            return None
        return self.walks.impact(self.group)


class DetectedFaults(msgspec.Struct, frozen=True, eq=False):
    """All of an evaluation.

    Attributes:
        as_of: of it, µs.
        by_root: faults by what is to be mended.
        unknown: datasets of which nobody knows how they are.
        walks: what is downstream of each; none: nothing is bad.
        owners: of the datasets; none: nothing is bad.
    """

    as_of: int
    by_root: Mapping[Root, DetectedFault] = {}
    unknown: frozenset[int] = frozenset()
    walks: ImpactWalks | None = None
    owners: Owners | None = None


def detect_faults(
    connection: Connection,
    as_of: int,
    policy: Policy,
    windows: Sequence[Window],
    previous: ImpactWalks | None = None,
) -> DetectedFaults:
    """What the newest evaluation, of `as_of` (µs), tells of.

    Args:
        connection: of the catalog; one moment of it.
        as_of: of the newest evaluation.
        policy: in force.
        windows: that people planned, beside the policy's.
        previous: of the evaluation before.
    """
    unknown = load_unknown_keys(connection)
    facts = load_violations(connection, as_of)
    if not facts and not has_failing(connection, as_of):
        return DetectedFaults(as_of, unknown=unknown)
    snapshot = load_snapshot(connection, as_of, declared_edges(policy))
    alone = find_faults(facts, snapshot.estate)
    failures = select_failures(alone, snapshot.estate)
    due = find_due_failures(connection, alone, failures, snapshot.estate, as_of)
    causes = find_shared_causes(connection, alone, as_of, due.roots)
    common = {each.name: each for each in causes.values()}
    faults = merge_by_cause(alone, {root: each.name for root, each in causes.items()}, failures)
    walks = ImpactWalks(snapshot.estate, previous)
    datasets = load_dataset_info(connection, {key for each in faults for key in each.root_keys})
    jobs = load_jobs_at_fault(connection, faults)
    roots = (root_name(each.root, snapshot.jobs, datasets) for each in faults)
    of_datasets = ((each.namespace, each.name) for each in datasets.values())
    names = list({*roots, *jobs.roots.values(), *of_datasets})
    hides = dict(zip(names, find_windows(windows, policy, names, as_of), strict=True))
    under_way = {key for each in faults if each.root.kind == UNDER_WAY for key in each.root_keys}
    undeclared = (each.dataset_key for each in facts if each.reason == "unexpected_source")
    hurt = incidents_affecting(connection, under_way)
    context = _Context(datasets, jobs, hides, hurt, due, frozenset(undeclared))
    judged = _FaultBuilder(snapshot, walks, policy, context)
    found = [judged.finding(each, as_of, common.get(each.root.name)) for each in faults]
    by_root = {each.found.root: each for each in found}
    return DetectedFaults(as_of, by_root, unknown, walks, snapshot.owners)


class _Context(msgspec.Struct, frozen=True, eq=False):
    """Names of the roots, planned windows, and which incidents list them as affected.

    Also the failures that notify before a dataset is bad, and datasets with an undeclared source.
    """

    datasets: Mapping[int, DatasetInfo]
    jobs: JobsAtFault
    hides: Mapping[tuple[str, str], WindowEnd | None]
    hurt: Mapping[int, set[str]]
    due: DueFailures
    undeclared: frozenset[int]


class _FaultBuilder:
    """Makes of a cluster what the life of incidents goes by."""

    def __init__(
        self, snapshot: CatalogSnapshot, walks: ImpactWalks, policy: Policy, context: _Context
    ) -> None:
        self._given, self._walks, self._policy = snapshot, walks, policy
        self._datasets, self._jobs, self._hides = context.datasets, context.jobs, context.hides
        self._hurt, self._due, self._undeclared = context.hurt, context.due, context.undeclared

    def finding(self, group: FaultGroup, now: int, common: CommonCause | None) -> DetectedFault:
        estate = self._given.estate
        level = self._walks.severity(group, now)
        window, until = self._hidden(group) or (None, 0)
        found = msgspec.structs.replace(
            snapshot_of(group, level, estate, self._owner(group, common)),
            hidden_by=window,
            hidden_until=until,
            times=read_times(estate, group.root_keys, now),
            affected_by=frozenset().union(*(self._hurt.get(key, ()) for key in group.root_keys)),
            has_pending_retry=self._due.is_waiting(group, level, now),
        )
        name = root_name(found.root, self._given.jobs, self._datasets)
        errors = (self._given.errors.get(run_id) for run_id in group.run_ids)
        error = next((each for each in errors if each), None)
        is_new = not self._undeclared.isdisjoint(group.root_keys)
        return DetectedFault(
            found, group, self._walks, *name, common, error, as_of=now, has_new_source=is_new
        )

    def _owner(self, group: FaultGroup, common: CommonCause | None) -> str | None:
        """Return the owner of the job or its root job by the policy, else of most of its datasets.

        Where no dataset has an owner, the job's own facet names it. A cause in the jobs of several
        teams, or one that spreads to others, has none: it is the platform's.
        """
        if common is not None and common.is_rollout:
            return None
        job = self._job(group)
        names = [] if job is None else self._jobs.names(job)
        by_policy = (owner_of_job(self._policy, *name) for name in names)
        by_facet = (self._jobs.owners.get(name) for name in names)
        owners = [each.owner for key in group.root_keys if (each := self._datasets.get(key))]
        if common is not None:
            return owners[0] if len(set(owners)) == 1 else None
        return _first_known(by_policy) or _most_common(owners) or _first_known(by_facet)

    def _hidden(self, group: FaultGroup) -> WindowEnd | None:
        """In a window is whose job is in one, or all of whose own datasets are."""
        job = self._job(group)
        own = (self._datasets[key] for key in group.root_keys if key in self._datasets)
        names = [] if job is None else self._jobs.names(job)
        of_job = next((hidden for name in names if (hidden := self._hides[name])), None)
        return of_job or common_window(self._hides[each.namespace, each.name] for each in own)

    def _job(self, group: FaultGroup) -> tuple[str, str] | None:
        return self._given.jobs.get(group.root.key) if group.root.entity == "job" else None


def _first_known(found: Iterable[str | None]) -> str | None:
    return next((each for each in found if each), None)


def _most_common(owners: Iterable[str | None]) -> str | None:
    counts = Counter(owner for owner in owners if owner is not None)
    return next((owner for owner, _ in counts.most_common(1)), None)
