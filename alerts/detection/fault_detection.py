"""The faults of an evaluation: what is bad, what is behind it, how bad that is, and whose."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection

from alerts.root_cause.common_causes import Common
from alerts.root_cause.causes import by_cause
from alerts.root_cause.retries import select_failures
from alerts.root_cause.faults import Cluster, Member, Root
from alerts.incidents.incident import Found, Incident, found_of
from alerts.root_cause.kinds import UNDER_WAY
from alerts.root_cause.roots import clusters
from alerts.root_cause.severity import Impact
from alerts.incidents.times import read_times
from alerts.operator_actions.suppression import Hidden, Window, hidden_all, hidden_together
from alerts.detection.sli_violations import bad_facts, unknown_keys
from alerts.detection.snapshot_loader import Given, Owners, read_estate
from alerts.detection.due_failures import DueFailures, find_due, has_failing
from alerts.detection.hurt import hurting
from alerts.detection.jobs_at_fault import JobsAtFault, load_jobs_at_fault
from alerts.detection.dataset_info import Named, named
from alerts.root_cause.shared_cause import causes_of
from alerts.root_cause.impact_walks import Walks
from alerts.incidents.incident_text import root_name, what
from lineage.policy.declared import declared_edges
from lineage.policy.model import Policy
from lineage.policy.resolution import owner_of_job


class Finding(msgspec.Struct, frozen=True, eq=False):
    """One fault, and what it rests on; of a part of the service itself that is nothing."""

    found: Found
    cluster: Cluster | None = None
    walks: Walks | None = None
    namespace: str = ""  # of what is to be mended
    name: str = ""
    common: Common | None = None  # of a cause: what its jobs have in common
    error: str | None = None  # of its newest failed run that reported one
    words: str | None = None  # of a part of the service itself: what fails there
    as_of: int = 0  # of the evaluation that it is found by, µs
    has_new_source: bool = False  # an upstream dataset that is new and that nobody declared

    def describe(self, incident: Incident) -> str:
        """Describe the fault as the incident has it: its root, and how many datasets are bad."""
        count = len(incident.members)
        return what(incident.root, self.name, count, has_new_source=self.has_new_source)

    @property
    def members(self) -> Mapping[int, Member]:
        """By dataset: how it is bad, and by what; the shortest way where there are several."""
        if self.cluster is None:
            return {}
        return {each.dataset_key: each for each in reversed(self.cluster.members)}

    def impact(self) -> Impact | None:
        """Walk the graph for all that is downstream of its root; of the service nothing is."""
        if self.cluster is None or self.walks is None:
            return None
        return self.walks.impact(self.cluster)


class Findings(msgspec.Struct, frozen=True, eq=False):
    """All of an evaluation.

    Attributes:
        as_of: of it, µs.
        by_root: faults by what is to be mended.
        unknown: datasets of which nobody knows how they are.
        walks: what is downstream of each; none: nothing is bad.
        owners: of the datasets; none: nothing is bad.
    """

    as_of: int
    by_root: Mapping[Root, Finding] = {}
    unknown: frozenset[int] = frozenset()
    walks: Walks | None = None
    owners: Owners | None = None


def find(
    connection: Connection,
    as_of: int,
    policy: Policy,
    windows: Sequence[Window],
    previous: Walks | None = None,
) -> Findings:
    """What the newest evaluation, of `as_of` (µs), tells of.

    Args:
        connection: of the catalog; one moment of it.
        as_of: of the newest evaluation.
        policy: in force.
        windows: that people planned, beside the policy's.
        previous: of the evaluation before.
    """
    unknown = unknown_keys(connection)
    facts = bad_facts(connection, as_of)
    if not facts and not has_failing(connection, as_of):
        return Findings(as_of, unknown=unknown)
    given = read_estate(connection, as_of, declared_edges(policy))
    alone = clusters(facts, given.estate)
    failures = select_failures(alone, given.estate)
    due = find_due(connection, alone, failures, given.estate, as_of)
    causes = causes_of(connection, alone, as_of, due.roots)
    common = {each.name: each for each in causes.values()}
    faults = by_cause(alone, {root: each.name for root, each in causes.items()}, failures)
    walks = Walks(given.estate, previous)
    datasets = named(connection, {key for each in faults for key in each.root_keys})
    jobs = load_jobs_at_fault(connection, faults)
    roots = (root_name(each.root, given.jobs, datasets) for each in faults)
    of_datasets = ((each.namespace, each.name) for each in datasets.values())
    names = list({*roots, *jobs.roots.values(), *of_datasets})
    hides = dict(zip(names, hidden_all(windows, policy, names, as_of), strict=True))
    under_way = {key for each in faults if each.root.kind == UNDER_WAY for key in each.root_keys}
    undeclared = (each.dataset_key for each in facts if each.reason == "unexpected_source")
    hurt = hurting(connection, under_way)
    context = _Context(datasets, jobs, hides, hurt, due, frozenset(undeclared))
    judged = _Judging(given, walks, policy, context)
    found = [judged.finding(each, as_of, common.get(each.root.name)) for each in faults]
    by_root = {each.found.root: each for each in found}
    return Findings(as_of, by_root, unknown, walks, given.owners)


class _Context(msgspec.Struct, frozen=True, eq=False):
    """Names of the roots, planned windows, and which incidents list them as affected.

    Also the failures that notify before a dataset is bad, and datasets with an undeclared source.
    """

    datasets: Mapping[int, Named]
    jobs: JobsAtFault
    hides: Mapping[tuple[str, str], Hidden | None]
    hurt: Mapping[int, set[str]]
    due: DueFailures
    undeclared: frozenset[int]


class _Judging:
    """Makes of a cluster what the life of incidents goes by."""

    def __init__(self, given: Given, walks: Walks, policy: Policy, context: _Context) -> None:
        self._given, self._walks, self._policy = given, walks, policy
        self._datasets, self._jobs, self._hides = context.datasets, context.jobs, context.hides
        self._hurt, self._due, self._undeclared = context.hurt, context.due, context.undeclared

    def finding(self, cluster: Cluster, now: int, common: Common | None) -> Finding:
        estate = self._given.estate
        level = self._walks.severity(cluster, now)
        window, until = self._hidden(cluster) or (None, 0)
        found = msgspec.structs.replace(
            found_of(cluster, level, estate, self._owner(cluster, common)),
            hidden_by=window,
            hidden_until=until,
            times=read_times(estate, cluster.root_keys, now),
            hurt_by=frozenset().union(*(self._hurt.get(key, ()) for key in cluster.root_keys)),
            has_pending_retry=self._due.is_waiting(cluster, level, now),
        )
        name = root_name(found.root, self._given.jobs, self._datasets)
        errors = (self._given.errors.get(run_id) for run_id in cluster.run_ids)
        error = next((each for each in errors if each), None)
        is_new = not self._undeclared.isdisjoint(cluster.root_keys)
        return Finding(
            found, cluster, self._walks, *name, common, error, as_of=now, has_new_source=is_new
        )

    def _owner(self, cluster: Cluster, common: Common | None) -> str | None:
        """Return the owner of the job or its root job by the policy, else of most of its datasets.

        Where no dataset has an owner, the job's own facet names it. A cause in the jobs of several
        teams, or one that spreads to others, has none: it is the platform's.
        """
        if common is not None and common.is_spreading:
            return None
        job = self._job(cluster)
        names = [] if job is None else self._jobs.names(job)
        by_policy = (owner_of_job(self._policy, *name) for name in names)
        by_facet = (self._jobs.owners.get(name) for name in names)
        owners = [each.owner for key in cluster.root_keys if (each := self._datasets.get(key))]
        if common is not None:
            return owners[0] if len(set(owners)) == 1 else None
        return _first(by_policy) or _most_common(owners) or _first(by_facet)

    def _hidden(self, cluster: Cluster) -> Hidden | None:
        """In a window is whose job is in one, or all of whose own datasets are."""
        job = self._job(cluster)
        own = (self._datasets[key] for key in cluster.root_keys if key in self._datasets)
        names = [] if job is None else self._jobs.names(job)
        of_job = next((hidden for name in names if (hidden := self._hides[name])), None)
        return of_job or hidden_together(self._hides[each.namespace, each.name] for each in own)

    def _job(self, cluster: Cluster) -> tuple[str, str] | None:
        return self._given.jobs.get(cluster.root.key) if cluster.root.entity == "job" else None


def _first(found: Iterable[str | None]) -> str | None:
    return next((each for each in found if each), None)


def _most_common(owners: Iterable[str | None]) -> str | None:
    counts = Counter(owner for owner in owners if owner is not None)
    return next((owner for owner, _ in counts.most_common(1)), None)
