"""Faults from SLI violations: each root with all that it explains, and the evidence."""

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.assignment import UNASSIGNED, Assignments, assign_members
from alerts.root_cause.faults import (
    UNKNOWN_REASONS,
    FaultGroup,
    FaultRoot,
    Member,
    SharedMember,
    UnknownReason,
)
from alerts.root_cause.kinds import FAULT_KINDS, IS_ROOT
from alerts.root_cause.links import NO_DATASET, Explanations, find_links
from alerts.root_cause.snapshot import NO_KEY, LineageSnapshot, Rows, SliViolation, find_symptoms
from alerts.root_cause.symptom_groups import SymptomGroups, group_symptoms
from lineage.graph.adjacency import NodePositions, spans


def find_faults(
    violations: Iterable[SliViolation], snapshot: LineageSnapshot
) -> tuple[FaultGroup, ...]:
    """Return every fault, the first to fail first, those of unknown root last.

    Each violation is in exactly one group: where two roots explain it, in that of the first one.
    Runs that failed or are lost, and made nothing bad yet, are latent groups.

    Raises:
        ValueError: as `snapshot.find_symptoms`.
    """
    found = find_symptoms(violations, snapshot)
    if not len(found):
        return ()
    groups = group_symptoms(found, snapshot)
    explained = find_links(found, groups, snapshot)
    assigned = assign_members(
        groups.of[explained.parents], groups.of[explained.children], groups.rank
    )
    return tuple(_FaultBuilder(found, groups, explained, assigned, snapshot).build())


class _FaultBuilder:
    """Builder of faults from arrays."""

    def __init__(
        self,
        found: Rows,
        groups: SymptomGroups,
        explained: Explanations,
        assigned: Assignments,
        snapshot: LineageSnapshot,
    ) -> None:
        self._groups, self._claims = groups, assigned
        self._faults = _roots_of_groups(groups)
        evidence = _find_evidence(groups, explained, assigned)
        self._members = list(_build_members(found, groups, evidence, explained, snapshot))
        self._whys = _unknown_reasons(found, groups, assigned, snapshot)
        self._by_group = np.argsort(groups.of, kind="stable")
        self._counts = np.bincount(groups.of)

    def build(self) -> Iterator[FaultGroup]:
        owner = self._claims.owner[self._groups.of]
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=len(self._claims.roots)))
        for position, mine in enumerate(np.split(order, ends[:-1])):
            yield self._cluster(position, [self._members[symptom] for symptom in mine.tolist()])

    def _cluster(self, position: int, members: list[Member]) -> FaultGroup:
        root = int(self._claims.roots[position])
        return FaultGroup(
            root=self._faults[root],
            onset=int(self._groups.onset[root]),
            members=tuple(sorted(members, key=lambda each: each.order)),
            unknown=self._whys.get(root),
            is_cycle=bool(self._claims.is_cycle[position]),
            shared=tuple(self._shared(self._claims.shared[position])),
            is_shared_cut=bool(self._claims.is_cut[position]),
        )

    def _shared(self, others: NodePositions) -> Iterator[SharedMember]:
        if not len(others):
            return
        counts = self._counts[others]
        theirs = self._by_group[spans(np.cumsum(self._counts)[others] - counts, counts)]
        owners = self._claims.roots[self._claims.owner[self._groups.of[theirs]]]
        for symptom, root in sorted(zip(theirs.tolist(), owners.tolist(), strict=True)):
            member = self._members[symptom]
            if not member.is_latent:
                yield SharedMember(member.dataset_key, member.kind, self._faults[root])


def _roots_of_groups(groups: SymptomGroups) -> list[FaultRoot]:
    columns = zip(groups.is_job.tolist(), groups.key.tolist(), groups.kind.tolist(), strict=True)
    return [
        FaultRoot("job" if job else "dataset", key, FAULT_KINDS[kind].id)
        for job, key, kind in columns
    ]


class _Evidence(msgspec.Struct, frozen=True):
    """Link that explains each symptom, and the symptom behind it; UNASSIGNED at a root.

    `is_end`: the link ends here, and not at another output of the same job.
    """

    link: NodePositions
    symptom: NodePositions
    is_end: NDArray[np.bool_]
    steps: NodePositions


def _find_evidence(
    groups: SymptomGroups, explained: Explanations, assigned: Assignments
) -> _Evidence:
    link = assigned.edge[groups.of]
    parents = np.append(explained.parents, UNASSIGNED)  # where `link` is UNASSIGNED
    children = np.append(explained.children, UNASSIGNED)
    is_end = children[link] == np.arange(len(link))
    return _Evidence(
        link, np.where(is_end, parents[link], children[link]), is_end, assigned.steps[groups.of]
    )


def _build_members(
    found: Rows,
    groups: SymptomGroups,
    evidence: _Evidence,
    explained: Explanations,
    snapshot: LineageSnapshot,
) -> Iterator[Member]:
    """Yield one member for each symptom, with the steps and fault of its group."""
    keys = snapshot.keys[found["dataset"]].tolist()
    kinds = [FAULT_KINDS[kind].id for kind in found["kind"].tolist()]
    faults = _roots_of_groups(groups)
    columns = (evidence.link, evidence.symptom, evidence.is_end, evidence.steps, groups.of)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    onsets, latent = found["onset"].tolist(), found["is_latent"].tolist()
    for at, (link, symptom, is_end, steps, of) in enumerate(rows):
        yield Member(
            dataset_key=keys[at],
            kind=kinds[at],
            onset=onsets[at],
            fault=faults[of],
            steps=steps,
            explained_by=None if symptom == UNASSIGNED else (keys[symptom], kinds[symptom]),
            unobserved=_unobserved_path(explained, link, snapshot) if is_end else (),
            job_key=int(explained.job_keys[link]) if is_end else NO_KEY,
            run_id=snapshot.failed_run_ids.get(keys[at]),
            is_latent=latent[at],
        )


def _unobserved_path(
    explained: Explanations, link: int, snapshot: LineageSnapshot
) -> tuple[int, ...]:
    between = [at for at in explained.unobserved[link].tolist() if at != NO_DATASET]
    return tuple(int(snapshot.datasets["key"][at]) for at in between)


def _unknown_reasons(
    found: Rows, groups: SymptomGroups, assigned: Assignments, snapshot: LineageSnapshot
) -> dict[int, UnknownReason]:
    """Return why each root that is only a symptom is unknown, by its direct upstream."""
    unknown = assigned.roots[~IS_ROOT[groups.kind[assigned.roots]]]
    number = np.full(len(groups), UNASSIGNED, dtype=np.intp)
    number[unknown] = np.arange(len(unknown))
    target = np.full(len(snapshot.datasets), UNASSIGNED, dtype=np.intp)
    is_asked = number[groups.of] != UNASSIGNED
    target[found["dataset"][is_asked]] = number[groups.of[is_asked]]
    target_of = target[snapshot.downstreams]
    edges = np.flatnonzero(target_of != UNASSIGNED)
    rows = snapshot.datasets[snapshot.upstreams[edges]]
    rank = np.select([rows["is_unknown"], ~rows["is_observable"]], [0, 1], default=2)
    most_severe = np.full(len(unknown), len(UNKNOWN_REASONS) - 1)
    np.minimum.at(most_severe, target_of[edges], rank)
    return {
        root: UNKNOWN_REASONS[why]
        for root, why in zip(unknown.tolist(), most_severe.tolist(), strict=True)
    }
