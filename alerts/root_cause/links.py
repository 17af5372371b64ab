"""Which symptom explains which: direct edges, edges through what cannot be observed, and one's own.

Everything is a join of arrays, near linear in the edges around what fails.
"""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.snapshot import MICROS, NEVER, NO_KEY, Estate, Rows
from alerts.root_cause.symptom_groups import Groups
from alerts.root_cause.kinds import EXPLAINS, EXPLAINS_OWN, HAS_STOPPED, IS_ABSENT, IS_GAP, IS_OF_JOB
from lineage.adjacency import Positions, pairs

# How far the parent may seem to have failed after the child, where its cadence is not known.
UNKNOWN_CADENCE_SECONDS: Final = 3600.0
# Of failing datasets behind one that cannot be observed, so many of each kind, the first to fail,
# are asked: a hub between 10^4 of them and as many children would give 10^8 pairs.
MOST_BEHIND_ONE: Final = 4
# Datasets in a row that are looked through: as deep as what is due and not late yet.
MOST_RELAYS: Final = 3
NOTHING: Final = -1


class Links(msgspec.Struct, frozen=True):
    """Explanations, an array an attribute, by parent group, child group and number of relays.

    Attributes:
        parents: position of the symptom that explains; in `SYMPTOM` rows, as below.
        children: of the symptom that is explained.
        relays: (links, MOST_RELAYS), datasets between them that cannot be observed, upstream
            first, by position in `Estate.datasets`; NOTHING where there is none.
        job_keys: of the job that makes the last edge; NO_KEY within one job or dataset.
    """

    parents: Positions
    children: Positions
    relays: NDArray[np.intp]
    job_keys: NDArray[np.int64]

    def where(self, kept: NDArray[np.bool_] | Positions) -> "Links":
        """Those at these positions, or where this is true."""
        return Links(
            self.parents[kept], self.children[kept], self.relays[kept], self.job_keys[kept]
        )


class _Ways(msgspec.Struct, frozen=True):
    """From a symptom to a dataset: direct, or through relays."""

    symptoms: Positions
    ends: Positions
    relays: NDArray[np.intp]
    job_keys: NDArray[np.int64]

    def where(self, kept: NDArray[np.bool_] | Positions) -> "_Ways":
        """Those at these positions, or where this is true."""
        return _Ways(self.symptoms[kept], self.ends[kept], self.relays[kept], self.job_keys[kept])


def links(found: Rows, groups: Groups, given: Estate) -> Links:
    """All explanations that kinds and time allow, between different groups, each once.

    Args:
        found: `SYMPTOM`.
        groups: which of them are one fault.
        given: the estate that they are of.
    """
    when = times(found, given)
    across = [_explained(ways, found, when) for ways in _ways(found, given)]
    every = (_own(found, groups), *across)  # of two, the first is kept
    columns = zip(
        *((way.parents, way.children, way.relays, way.job_keys) for way in every), strict=True
    )
    together = Links(*(np.concatenate(column) for column in columns))
    return _each_once(together, groups)


def _ways(found: Rows, given: Estate) -> list[_Ways]:
    """Direct ones, then those through one dataset that cannot be observed, two, and so on."""
    rows = given.datasets
    failing = _among(given, found["dataset"])
    has_stopped = _among(given, found["dataset"][~IS_GAP[found["kind"]]])
    hidden = (~rows["is_observable"] | rows["is_unknown"]) & ~has_stopped
    ups, downs = given.upstreams, given.downstreams
    direct = _start(found, given, failing[ups] & failing[downs])
    near = _first_to_fail(_start(found, given, failing[ups] & hidden[downs]), found)
    on, out = hidden[ups] & hidden[downs], hidden[ups] & failing[downs]
    ways = [direct, _further(near, given, out, 0)]
    been = _places(near, found)
    for place in range(1, MOST_RELAYS):
        near = _first_to_fail(_further(near, given, on, place - 1), found)
        # Where it came by fewer, all that follows is known.
        near = near.where(~np.isin(_places(near, found), been))
        been = np.concatenate([been, _places(near, found)])
        ways.append(_further(near, given, out, place))
    return ways


def _places(ways: _Ways, found: Rows) -> Positions:
    """One number for each symptom at each end."""
    return np.asarray(ways.ends * len(found) + ways.symptoms)


def _among(given: Estate, chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which datasets are chosen."""
    found = np.zeros(len(given.datasets), dtype=np.bool_)
    found[chosen] = True
    return found


def _start(found: Rows, given: Estate, edges: NDArray[np.bool_]) -> _Ways:
    chosen = np.flatnonzero(edges)
    at, symptoms = pairs(given.upstreams[chosen], found["dataset"])
    relays = np.full((len(at), MOST_RELAYS), NOTHING, dtype=np.intp)
    return _Ways(symptoms, given.downstreams[chosen][at], relays, given.job_keys[chosen][at])


def _further(ways: _Ways, given: Estate, edges: NDArray[np.bool_], place: int) -> _Ways:
    """One step on: where a way ended is its relay of this place now."""
    chosen = np.flatnonzero(edges)
    at, step = pairs(ways.ends, given.upstreams[chosen])
    relays = ways.relays[at]
    relays[:, place] = ways.ends[at]
    return _Ways(
        ways.symptoms[at], given.downstreams[chosen][step], relays, given.job_keys[chosen][step]
    )


def _first_to_fail(ways: _Ways, found: Rows) -> _Ways:
    """Each symptom once an end, and of each kind the first `MOST_BEHIND_ONE`."""
    kinds, onsets = found["kind"][ways.symptoms], found["onset"][ways.symptoms]
    order = np.lexsort((ways.relays[:, 0], ways.symptoms, onsets, kinds, ways.ends))
    same = _same(ways.ends[order], ways.symptoms[order])
    order = order[~same]
    same_kind = _same(ways.ends[order], kinds[order])
    begins = np.flatnonzero(~same_kind)
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    kept = order[rank < MOST_BEHIND_ONE]
    return ways.where(kept)


def _explained(ways: _Ways, found: Rows, when: "Times") -> Links:
    at, children = pairs(ways.ends, found["dataset"])
    parents = ways.symptoms[at]
    kind = found["kind"]
    fits = EXPLAINS[kind[parents], kind[children]] & when.fit(parents, children)
    return Links(parents, children, ways.relays[at], ways.job_keys[at]).where(fits)


class Times(msgspec.Struct, frozen=True):
    """When each symptom began, and between which instants (µs) its cause must have begun.

    A deadline tells of a fault later than it happened, so a parent may seem to fail up to one
    cadence of the child after it. A job that stopped did not make a child late that was late before
    the job's last write (NEVER for other kinds). A child that wrote more than a cadence after its
    parent failed has shown that it can do without.
    """

    onset: NDArray[np.int64]
    last_written: NDArray[np.int64]
    earliest: NDArray[np.int64]
    latest: NDArray[np.int64]

    def fit(self, parents: Positions, children: Positions) -> NDArray[np.bool_]:
        """Whether each parent failed first, within its child's cadence, and stopped it."""
        began, child_began = self.onset[parents], self.onset[children]
        is_in_time = (began >= self.earliest[children]) & (began <= self.latest[children])
        is_before = (began <= child_began) | (self.last_written[parents] <= child_began)
        return np.asarray(is_in_time & is_before)


def times(found: Rows, given: Estate) -> Times:
    """Of `SYMPTOM` rows."""
    rows = given.datasets[found["dataset"]]
    is_known = rows["cadence_seconds"] > 0  # nan is not
    seconds = np.where(is_known, rows["cadence_seconds"], UNKNOWN_CADENCE_SECONDS)
    cadence = (seconds * MICROS).astype(np.int64)
    is_shown = is_known & IS_ABSENT[found["kind"]] & (rows["last_written_at"] != NEVER)
    began = np.iinfo(np.int64).min
    earliest = np.where(is_shown, rows["last_written_at"] - cadence, began)
    onset = np.ascontiguousarray(found["onset"])
    last_written = np.where(HAS_STOPPED[found["kind"]], rows["last_written_at"], NEVER)
    return Times(onset, last_written, earliest, onset + cadence)


def _own(found: Rows, groups: Groups) -> Links:
    """Of one dataset, or of one job's outputs: the kind of the higher rank explains the other."""
    first = groups.first  # one symptom stands for its group
    is_of_job = IS_OF_JOB[groups.kind]
    by_job = np.flatnonzero(is_of_job)
    at, within = pairs(groups.home[by_job], groups.home)
    by_dataset = np.flatnonzero(~is_of_job)
    at_dataset, other = pairs(found["dataset"][first[by_dataset]], found["dataset"][first])
    parents = np.concatenate([by_job[at], by_dataset[at_dataset]])
    children = np.concatenate([within, other])
    fits = EXPLAINS_OWN[groups.kind[parents], groups.kind[children]]
    parents, children = parents[fits], children[fits]
    none = np.full((len(parents), MOST_RELAYS), NOTHING, dtype=np.intp)
    return Links(
        first[parents], first[children], none, np.full(len(parents), NO_KEY, dtype=np.int64)
    )


def _each_once(found: Links, groups: Groups) -> Links:
    codes = groups.of[found.parents] * len(groups) + groups.of[found.children]
    differ = np.flatnonzero(groups.of[found.parents] != groups.of[found.children])
    _, first = np.unique(codes[differ], return_index=True)
    return found.where(differ[first])


def _same(*columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a row is as the one before it."""
    same = np.zeros(len(columns[0]), dtype=np.bool_)
    same[1:] = np.all([np.diff(column) == 0 for column in columns], axis=0)
    return same
