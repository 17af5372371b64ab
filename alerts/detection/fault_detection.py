"""Detection of an evaluation's faults: roots, severity, owners and suppression windows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection

from alerts.detection.bad_datasets import load_unknown_keys, load_violations
from alerts.detection.due_failures import DueFailures, find_due_failures, has_failing
from alerts.detection.names_and_owners import (
    DatasetInfo,
    JobsAtFault,
    load_dataset_info,
    load_jobs_at_fault,
)
from alerts.detection.snapshot_loader import CatalogSnapshot, load_snapshot
from alerts.incidents.affected_datasets import OwnerNumbers
from alerts.incidents.detected_fault import DetectedFault, detected_fault
from alerts.incidents.member_store import incidents_affecting
from alerts.incidents.times import read_times
from alerts.operator_actions.suppression_windows import (
    SuppressionWindow,
    WindowEnd,
    common_window,
    find_windows,
)
from alerts.root_cause.cause_merging import find_shared_causes, merge_by_cause
from alerts.root_cause.common_causes import CommonCause
from alerts.root_cause.faults import FaultGroup, FaultRoot
from alerts.root_cause.impact_walks import ImpactWalks
from alerts.root_cause.kinds import UNDER_WAY
from alerts.root_cause.retries import select_failures
from alerts.root_cause.roots import find_faults
from lineage.policy.model import Policy
from lineage.policy.resolution import declared_edges, owner_of_job

_Name = tuple[str, str]  # namespace and name


class DetectedFaults(msgspec.Struct, frozen=True, eq=False):
    """Faults of one evaluation, all of them.

    Attributes:
        as_of: of the evaluation, µs.
        by_root: the faults by their root.
        unknown: datasets whose state is unknown because of our own gaps.
        walks: computes impacts; None: nothing is bad.
        owners: of the datasets; None: nothing is bad.
    """

    as_of: int
    by_root: Mapping[FaultRoot, DetectedFault] = {}
    unknown: frozenset[int] = frozenset()
    walks: ImpactWalks | None = None
    owners: OwnerNumbers | None = None


def detect_faults(
    connection: Connection,
    as_of: int,
    policy: Policy,
    windows: Sequence[SuppressionWindow],
    previous: ImpactWalks | None = None,
) -> DetectedFaults:
    """Return the faults of the newest evaluation.

    Args:
        connection: of the catalog, in one read transaction.
        as_of: of the newest evaluation, µs.
        policy: in force.
        windows: that operators planned, beside the policy's.
        previous: walks of the evaluation before.
    """
    unknown = load_unknown_keys(connection)
    violations = load_violations(connection, as_of)
    if not violations and not has_failing(connection, as_of):
        return DetectedFaults(as_of, unknown=unknown)
    snapshot = load_snapshot(connection, as_of, declared_edges(policy))
    alone = find_faults(violations, snapshot.graph)
    failures = select_failures(alone, snapshot.graph)
    due = find_due_failures(connection, alone, failures, snapshot.graph, as_of)
    causes = find_shared_causes(connection, alone, as_of, due.roots)
    groups = merge_by_cause(alone, {root: each.name for root, each in causes.items()}, failures)
    walks = ImpactWalks(snapshot.graph, previous)
    undeclared = (each.dataset_key for each in violations if each.reason == "unexpected_source")
    context = _load_context(connection, groups, snapshot, due, frozenset(undeclared))
    names = context.every_name(groups)
    ends = zip(names, find_windows(windows, policy, names, as_of), strict=True)
    hidden = {name: end for name, end in ends if end is not None}
    builder = _FaultBuilder(snapshot, walks, policy, context, hidden)
    common = {each.name: each for each in causes.values()}
    found = [builder.build(each, as_of, common.get(each.root.name)) for each in groups]
    by_root = {each.root: each for each in found}
    return DetectedFaults(as_of, by_root, unknown, walks, snapshot.owners)


class _Context(msgspec.Struct, frozen=True, eq=False):
    """Catalog data of the roots.

    Attributes:
        root_names: namespace and name of each job by its key.
        datasets: the datasets of the roots, by key.
        jobs: root jobs and owners of the jobs at fault.
        affected_by: incidents that list a dataset as affected, by dataset key.
        due: failures that notify before a dataset is bad.
        undeclared: datasets with an undeclared source.
    """

    root_names: Mapping[int, _Name]
    datasets: Mapping[int, DatasetInfo]
    jobs: JobsAtFault
    affected_by: Mapping[int, set[str]]
    due: DueFailures
    undeclared: frozenset[int]

    def name_of(self, root: FaultRoot) -> _Name:
        """Return namespace and name of a root; both empty if it is not known any more."""
        if root.entity == "job":
            return self.root_names.get(root.key, ("", ""))
        if root.entity == "dataset":
            known = self.datasets.get(root.key)
            return ("", "") if known is None else (known.namespace, known.name)
        return "", root.name

    def every_name(self, groups: Iterable[FaultGroup]) -> list[_Name]:
        """Return the names that a suppression window may match, each once."""
        roots = (self.name_of(each.root) for each in groups)
        datasets = ((each.namespace, each.name) for each in self.datasets.values())
        return list({*roots, *self.jobs.roots.values(), *datasets})


def _load_context(
    connection: Connection,
    groups: Sequence[FaultGroup],
    snapshot: CatalogSnapshot,
    due: DueFailures,
    undeclared: frozenset[int],
) -> _Context:
    under_way = {key for each in groups if each.root.kind == UNDER_WAY for key in each.root_keys}
    return _Context(
        snapshot.jobs,
        load_dataset_info(connection, {key for each in groups for key in each.root_keys}),
        load_jobs_at_fault(connection, groups),
        incidents_affecting(connection, under_way),
        due,
        undeclared,
    )


class _FaultBuilder:
    """Builder of faults: adds owner, severity, windows and evidence to a group."""

    def __init__(
        self,
        snapshot: CatalogSnapshot,
        walks: ImpactWalks,
        policy: Policy,
        context: _Context,
        windows: Mapping[_Name, WindowEnd],
    ) -> None:
        self._snapshot, self._walks, self._policy = snapshot, walks, policy
        self._context, self._windows = context, windows

    def build(self, group: FaultGroup, now: int, common: CommonCause | None) -> DetectedFault:
        graph, context = self._snapshot.graph, self._context
        level = self._walks.severity(group, now)
        window, until = self._find_window(group) or (None, 0)
        incidents = (context.affected_by.get(key, ()) for key in group.root_keys)
        errors = (self._snapshot.errors.get(run_id) for run_id in group.run_ids)
        namespace, name = context.name_of(group.root)
        return msgspec.structs.replace(
            detected_fault(group, level, graph, self._owner(group, common)),
            hidden_by=window,
            hidden_until=until,
            times=read_times(graph, group.root_keys, now),
            affected_by=frozenset().union(*incidents),
            has_pending_retry=context.due.is_waiting(group, level, now),
            walks=self._walks,
            namespace=namespace,
            name=name,
            shared_cause=common,
            error=_first_known(errors),
            as_of=now,
            has_new_source=not context.undeclared.isdisjoint(group.root_keys),
        )

    def _owner(self, group: FaultGroup, common: CommonCause | None) -> str | None:
        """Return the owner of the job or its root job by the policy, else of most of its datasets.

        Where no dataset has an owner, the job's own facet names it. A cause in the jobs of several
        teams, or a version that is rolled out to others too, is unowned: the platform owns it.
        """
        if common is not None and common.is_rollout:
            return None
        names = self._job_names(group)
        by_policy = (owner_of_job(self._policy, *name) for name in names)
        by_facet = (self._context.jobs.owners.get(name) for name in names)
        owners = [each.owner for each in self._root_datasets(group)]
        if common is not None:
            return owners[0] if len(set(owners)) == 1 else None
        return _first_known(by_policy) or _most_common(owners) or _first_known(by_facet)

    def _find_window(self, group: FaultGroup) -> WindowEnd | None:
        """Return the window of its job, else the one that covers all of its own datasets."""
        of_job = (self._windows[name] for name in self._job_names(group) if name in self._windows)
        names = ((each.namespace, each.name) for each in self._root_datasets(group))
        return next(of_job, None) or common_window(self._windows.get(name) for name in names)

    def _root_datasets(self, group: FaultGroup) -> list[DatasetInfo]:
        known = self._context.datasets
        return [known[key] for key in group.root_keys if key in known]

    def _job_names(self, group: FaultGroup) -> list[_Name]:
        """Return the job of the root and its root job; empty where the root is no known job."""
        job = self._snapshot.jobs.get(group.root.key) if group.root.entity == "job" else None
        return [] if job is None else self._context.jobs.names_of(job)


def _first_known(found: Iterable[str | None]) -> str | None:
    return next((each for each in found if each), None)


def _most_common(owners: Iterable[str | None]) -> str | None:
    counts = Counter(owner for owner in owners if owner is not None)
    return next((owner for owner, _ in counts.most_common(1)), None)
