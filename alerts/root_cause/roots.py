"""From bad facts to faults: each root with all that it explains, and why we say so."""

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.snapshot import NO_KEY, BadFact, Estate, Rows, symptoms
from alerts.root_cause.faults import WHYS, Cluster, Member, Root, Shared, Why
from alerts.root_cause.symptom_groups import Groups, group
from alerts.root_cause.kinds import IS_ROOT, KINDS
from alerts.root_cause.links import NOTHING, Links, links
from alerts.root_cause.assignment import NOBODY, Claims, claim
from lineage.adjacency import Positions, spans


def clusters(facts: Iterable[BadFact], given: Estate) -> tuple[Cluster, ...]:
    """Every fault that the facts tell of, the first to fail first, those of unknown root last.

    Each fact is of exactly one cluster: where two roots explain it, of the one that failed first.
    Runs that failed or are lost, and made nothing bad yet, are clusters too, latent ones.

    Raises:
        ValueError: as `estate.symptoms`.
    """
    found = symptoms(facts, given)
    if not len(found):
        return ()
    groups = group(found, given)
    explained = links(found, groups, given)
    claims = claim(groups.of[explained.parents], groups.of[explained.children], groups.rank)
    return tuple(_Telling(found, groups, explained, claims, given).clusters())


class _Telling:
    """The arrays in words."""

    def __init__(
        self, found: Rows, groups: Groups, explained: Links, claims: Claims, given: Estate
    ) -> None:
        self._groups, self._claims = groups, claims
        self._faults = _faults(groups)
        evidence = _evidence(groups, explained, claims)
        self._members = list(_members(found, groups, evidence, explained, given))
        self._whys = _whys(found, groups, claims, given)
        self._by_group = np.argsort(groups.of, kind="stable")
        self._counts = np.bincount(groups.of)

    def clusters(self) -> Iterator[Cluster]:
        owner = self._claims.owner[self._groups.of]
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=len(self._claims.roots)))
        for position, mine in enumerate(np.split(order, ends[:-1])):
            yield self._cluster(position, [self._members[symptom] for symptom in mine.tolist()])

    def _cluster(self, position: int, members: list[Member]) -> Cluster:
        root = int(self._claims.roots[position])
        return Cluster(
            root=self._faults[root],
            onset=int(self._groups.onset[root]),
            members=tuple(sorted(members, key=lambda each: each.order)),
            unknown=self._whys.get(root),
            is_cycle=bool(self._claims.is_cycle[position]),
            shared=tuple(self._shared(self._claims.shared[position])),
            is_shared_cut=bool(self._claims.cut[position]),
        )

    def _shared(self, others: Positions) -> Iterator[Shared]:
        if not len(others):
            return
        counts = self._counts[others]
        theirs = self._by_group[spans(np.cumsum(self._counts)[others] - counts, counts)]
        owners = self._claims.roots[self._claims.owner[self._groups.of[theirs]]]
        for symptom, root in sorted(zip(theirs.tolist(), owners.tolist(), strict=True)):
            member = self._members[symptom]
            if not member.is_latent:
                yield Shared(member.dataset_key, member.kind, self._faults[root])


def _faults(groups: Groups) -> list[Root]:
    columns = zip(groups.is_job.tolist(), groups.key.tolist(), groups.kind.tolist(), strict=True)
    return [Root("job" if job else "dataset", key, KINDS[kind].id) for job, key, kind in columns]


class _Evidence(msgspec.Struct, frozen=True):
    """By which link each symptom is explained, and by which symptom; NOBODY at a root.

    `is_end`: the link ends here, and not at another output of the same job.
    """

    link: Positions
    symptom: Positions
    is_end: NDArray[np.bool_]
    steps: Positions


def _evidence(groups: Groups, explained: Links, claims: Claims) -> _Evidence:
    link = claims.via[groups.of]
    parents = np.append(explained.parents, NOBODY)  # where `link` is NOBODY
    children = np.append(explained.children, NOBODY)
    is_end = children[link] == np.arange(len(link))
    return _Evidence(
        link, np.where(is_end, parents[link], children[link]), is_end, claims.steps[groups.of]
    )


def _members(
    found: Rows, groups: Groups, evidence: _Evidence, explained: Links, given: Estate
) -> Iterator[Member]:
    """One for each symptom; its steps and fault are its group's."""
    keys = given.keys[found["dataset"]].tolist()
    kinds = [KINDS[kind].id for kind in found["kind"].tolist()]
    faults = _faults(groups)
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
            explained_by=None if symptom == NOBODY else (keys[symptom], kinds[symptom]),
            relays=_relays(explained, link, given) if is_end else (),
            job_key=int(explained.job_keys[link]) if is_end else NO_KEY,
            run_id=given.failed_run_ids.get(keys[at]),
            is_latent=latent[at],
        )


def _relays(explained: Links, link: int, given: Estate) -> tuple[int, ...]:
    relays = explained.relays[link].tolist()
    return tuple(int(given.datasets["key"][relay]) for relay in relays if relay != NOTHING)


def _whys(found: Rows, groups: Groups, claims: Claims, given: Estate) -> dict[int, Why]:
    """For each root that is a symptom only, what is known of what is right upstream."""
    unknown = claims.roots[~IS_ROOT[groups.kind[claims.roots]]]
    number = np.full(len(groups), NOBODY, dtype=np.intp)
    number[unknown] = np.arange(len(unknown))
    target = np.full(len(given.datasets), NOBODY, dtype=np.intp)
    is_asked = number[groups.of] != NOBODY
    target[found["dataset"][is_asked]] = number[groups.of[is_asked]]
    whose = target[given.downstreams]
    edges = np.flatnonzero(whose != NOBODY)
    rows = given.datasets[given.upstreams[edges]]
    gravity = np.select([rows["is_unknown"], ~rows["is_observable"]], [0, 1], default=2)
    gravest = np.full(len(unknown), len(WHYS) - 1)
    np.minimum.at(gravest, whose[edges], gravity)
    return {root: WHYS[why] for root, why in zip(unknown.tolist(), gravest.tolist(), strict=True)}
