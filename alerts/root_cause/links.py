"""Links from symptoms to others that they explain: by edges, unobserved datasets, or one job.

Everything is a join of arrays, near linear in the edges around what fails.
"""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.kinds import (
    EXPLAINS,
    EXPLAINS_OWN,
    HAS_STOPPED,
    IS_ABSENT,
    IS_GAP,
    IS_OF_JOB,
)
from alerts.root_cause.snapshot import NEVER, NO_KEY, LineageSnapshot, Rows
from alerts.root_cause.symptom_groups import SymptomGroups
from lineage.graph.adjacency import NodePositions, equal_pairs
from lineage.process.clock import SECOND_MICROS

# How far the parent may seem to have failed after the child, where its cadence is not known.
UNKNOWN_CADENCE_SECONDS: Final = 3600.0
# Of failing datasets behind one that cannot be observed, so many of each kind, the first to fail,
# are asked: a hub between 10^4 of them and as many children would give 10^8 pairs.
MAX_PARENTS_PER_KIND: Final = 4
# Datasets in a row that are looked through: as deep as what is due and not late yet.
MAX_UNOBSERVED: Final = 3
NO_DATASET: Final = -1


class Explanations(msgspec.Struct, frozen=True):
    """Explanations, an array an attribute, by parent group, child group and `unobserved`.

    Attributes:
        parents: position of the symptom that explains; in `SYMPTOM` rows, as below.
        children: of the symptom that is explained.
        unobserved: (links, MAX_UNOBSERVED), datasets between them that cannot be observed,
            upstream first, by position in `LineageSnapshot.datasets`; NO_DATASET for none.
        job_keys: of the job that makes the last edge; NO_KEY within one job or dataset.
    """

    parents: NodePositions
    children: NodePositions
    unobserved: NDArray[np.intp]
    job_keys: NDArray[np.int64]

    def where(self, kept: NDArray[np.bool_] | NodePositions) -> "Explanations":
        """Return those at these positions, or where this is true."""
        return Explanations(
            self.parents[kept], self.children[kept], self.unobserved[kept], self.job_keys[kept]
        )


class _Paths(msgspec.Struct, frozen=True):
    """Path from a symptom to a dataset: direct, or through unobserved datasets."""

    symptoms: NodePositions
    ends: NodePositions
    unobserved: NDArray[np.intp]
    job_keys: NDArray[np.int64]

    def where(self, kept: NDArray[np.bool_] | NodePositions) -> "_Paths":
        """Return those at these positions, or where this is true."""
        return _Paths(
            self.symptoms[kept], self.ends[kept], self.unobserved[kept], self.job_keys[kept]
        )


def find_links(found: Rows, groups: SymptomGroups, snapshot: LineageSnapshot) -> Explanations:
    """Return all explanations that kinds and times allow, between different groups, each once.

    Args:
        found: `SYMPTOM`.
        groups: which of them are one fault.
        snapshot: with the datasets of the symptoms.
    """
    when = load_times(found, snapshot)
    across = [_link_ends(ways, found, when) for ways in _find_paths(found, snapshot)]
    every = (_link_within(found, groups), *across)  # of two, the first is kept
    columns = zip(
        *((way.parents, way.children, way.unobserved, way.job_keys) for way in every), strict=True
    )
    together = Explanations(*(np.concatenate(column) for column in columns))
    return _deduplicate(together, groups)


def _find_paths(found: Rows, snapshot: LineageSnapshot) -> list[_Paths]:
    """Return direct paths, then those through one unobserved dataset, two, and so on."""
    rows = snapshot.datasets
    failing = _mark(snapshot, found["dataset"])
    has_stopped = _mark(snapshot, found["dataset"][~IS_GAP[found["kind"]]])
    hidden = (~rows["is_observable"] | rows["is_unknown"]) & ~has_stopped
    ups, downs = snapshot.upstreams, snapshot.downstreams
    direct = _start_paths(found, snapshot, failing[ups] & failing[downs])
    near = _keep_first_failed(_start_paths(found, snapshot, failing[ups] & hidden[downs]), found)
    on, out = hidden[ups] & hidden[downs], hidden[ups] & failing[downs]
    ways = [direct, _extend(near, snapshot, out, 0)]
    been = _path_ids(near, found)
    for place in range(1, MAX_UNOBSERVED):
        near = _keep_first_failed(_extend(near, snapshot, on, place - 1), found)
        # Where it came by fewer, all that follows is known.
        near = near.where(~np.isin(_path_ids(near, found), been))
        been = np.concatenate([been, _path_ids(near, found)])
        ways.append(_extend(near, snapshot, out, place))
    return ways


def _path_ids(ways: _Paths, found: Rows) -> NodePositions:
    """Return one number for each symptom at each end."""
    return np.asarray(ways.ends * len(found) + ways.symptoms)


def _mark(snapshot: LineageSnapshot, chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return a mask of the chosen datasets."""
    found = np.zeros(len(snapshot.datasets), dtype=np.bool_)
    found[chosen] = True
    return found


def _start_paths(found: Rows, snapshot: LineageSnapshot, edges: NDArray[np.bool_]) -> _Paths:
    chosen = np.flatnonzero(edges)
    at, symptoms = equal_pairs(snapshot.upstreams[chosen], found["dataset"])
    between = np.full((len(at), MAX_UNOBSERVED), NO_DATASET, dtype=np.intp)
    return _Paths(
        symptoms, snapshot.downstreams[chosen][at], between, snapshot.job_keys[chosen][at]
    )


def _extend(
    ways: _Paths, snapshot: LineageSnapshot, edges: NDArray[np.bool_], place: int
) -> _Paths:
    """Extend paths by one edge; their old end becomes unobserved dataset number `place`."""
    chosen = np.flatnonzero(edges)
    at, step = equal_pairs(ways.ends, snapshot.upstreams[chosen])
    between = ways.unobserved[at]
    between[:, place] = ways.ends[at]
    return _Paths(
        ways.symptoms[at],
        snapshot.downstreams[chosen][step],
        between,
        snapshot.job_keys[chosen][step],
    )


def _keep_first_failed(ways: _Paths, found: Rows) -> _Paths:
    """Keep each symptom once an end, and the first `MAX_PARENTS_PER_KIND` of each kind."""
    kinds, onsets = found["kind"][ways.symptoms], found["onset"][ways.symptoms]
    order = np.lexsort((ways.unobserved[:, 0], ways.symptoms, onsets, kinds, ways.ends))
    same = _repeats(ways.ends[order], ways.symptoms[order])
    order = order[~same]
    same_kind = _repeats(ways.ends[order], kinds[order])
    begins = np.flatnonzero(~same_kind)
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    kept = order[rank < MAX_PARENTS_PER_KIND]
    return ways.where(kept)


def _link_ends(ways: _Paths, found: Rows, when: "SymptomTimes") -> Explanations:
    at, children = equal_pairs(ways.ends, found["dataset"])
    parents = ways.symptoms[at]
    kind = found["kind"]
    fits = EXPLAINS[kind[parents], kind[children]] & when.fit(parents, children)
    return Explanations(parents, children, ways.unobserved[at], ways.job_keys[at]).where(fits)


class SymptomTimes(msgspec.Struct, frozen=True):
    """Times at which each symptom began, and between which (µs) its cause must have begun.

    A deadline passes later than the fault happened, so a parent may seem to fail up to one
    cadence of the child after it. A job that stopped did not make a child late that was late before
    the job's last write (NEVER for other kinds). A child that wrote more than a cadence after its
    parent failed has shown that it can do without.
    """

    onset: NDArray[np.int64]
    last_written: NDArray[np.int64]
    earliest: NDArray[np.int64]
    latest: NDArray[np.int64]

    def fit(self, parents: NodePositions, children: NodePositions) -> NDArray[np.bool_]:
        """Return whether each parent failed first, within its child's cadence, and stopped it."""
        began, child_began = self.onset[parents], self.onset[children]
        is_in_time = (began >= self.earliest[children]) & (began <= self.latest[children])
        is_before = (began <= child_began) | (self.last_written[parents] <= child_began)
        return np.asarray(is_in_time & is_before)


def load_times(found: Rows, snapshot: LineageSnapshot) -> SymptomTimes:
    """Return the times of `SYMPTOM` rows."""
    rows = snapshot.datasets[found["dataset"]]
    is_known = rows["cadence_seconds"] > 0  # nan is not
    seconds = np.where(is_known, rows["cadence_seconds"], UNKNOWN_CADENCE_SECONDS)
    cadence = (seconds * SECOND_MICROS).astype(np.int64)
    is_shown = is_known & IS_ABSENT[found["kind"]] & (rows["last_written_at"] != NEVER)
    began = np.iinfo(np.int64).min
    earliest = np.where(is_shown, rows["last_written_at"] - cadence, began)
    onset = np.ascontiguousarray(found["onset"])
    last_written = np.where(HAS_STOPPED[found["kind"]], rows["last_written_at"], NEVER)
    return SymptomTimes(onset, last_written, earliest, onset + cadence)


def _link_within(found: Rows, groups: SymptomGroups) -> Explanations:
    """Link symptoms of one dataset or job: the kind of the higher rank explains the other."""
    first = groups.first  # one symptom stands for its group
    is_of_job = IS_OF_JOB[groups.kind]
    by_job = np.flatnonzero(is_of_job)
    at, within = equal_pairs(groups.home[by_job], groups.home)
    by_dataset = np.flatnonzero(~is_of_job)
    at_dataset, other = equal_pairs(found["dataset"][first[by_dataset]], found["dataset"][first])
    parents = np.concatenate([by_job[at], by_dataset[at_dataset]])
    children = np.concatenate([within, other])
    fits = EXPLAINS_OWN[groups.kind[parents], groups.kind[children]]
    parents, children = parents[fits], children[fits]
    none = np.full((len(parents), MAX_UNOBSERVED), NO_DATASET, dtype=np.intp)
    return Explanations(
        first[parents], first[children], none, np.full(len(parents), NO_KEY, dtype=np.int64)
    )


def _deduplicate(found: Explanations, groups: SymptomGroups) -> Explanations:
    codes = groups.of[found.parents] * len(groups) + groups.of[found.children]
    differ = np.flatnonzero(groups.of[found.parents] != groups.of[found.children])
    _, first = np.unique(codes[differ], return_index=True)
    return found.where(differ[first])


def _repeats(*columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows are equal to the row before."""
    same = np.zeros(len(columns[0]), dtype=np.bool_)
    same[1:] = np.all([np.diff(column) == 0 for column in columns], axis=0)
    return same
