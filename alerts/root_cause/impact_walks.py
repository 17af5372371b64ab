"""What is downstream of each root: walked when somebody asks, and remembered only in part.

An impact may be half of the estate, and a storm has thousands of roots: kept all at once they took
gigabytes. Remembered is what a severity needs, for as long as the graph is the same.
"""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.snapshot import Estate
from alerts.root_cause.faults import Cluster
from alerts.root_cause.severity import (
    Impact,
    Severity,
    SeverityRules,
    impact,
    impact_of,
    severity,
    starts_of,
)
from lineage.adjacency import Keys, Positions
from lineage.graph import Graph

RULES: Final = SeverityRules()
_MOST_BYTES: Final = 64 * 1024 * 1024
_BYTES_A_KEY: Final = 8 + 4 + 1  # of a dataset in an `Impact`


class _Shape(msgspec.Struct, frozen=True, eq=False):
    keys: Keys
    upstreams: Positions
    downstreams: Positions
    tiers: NDArray[np.int8]


class _Remembered(msgspec.Struct, eq=False):
    """What holds as long as the datasets, their tiers and the edges stay the same."""

    shape: _Shape
    graph: Graph
    stakes: dict[bytes, Impact]
    size: int = 0

    def add(self, starts: Keys, stake: Impact) -> None:
        """Remember what is at stake below these datasets, while there is room."""
        size = len(stake.keys) * _BYTES_A_KEY
        if self.size + size <= _MOST_BYTES:
            self.stakes[starts.tobytes()] = stake
            self.size += size


class Walks:
    """The graph and the estate of one evaluation."""

    def __init__(self, estate: Estate, previous: "Walks | None" = None) -> None:
        """Build the graph.

        Args:
            estate: of this evaluation.
            previous: of the evaluation before; what it remembers holds while the graph is the same.
        """
        self._estate = estate
        before: _Remembered | None = None if previous is None else previous.remembered
        self.remembered: _Remembered = _remembered(estate, before)

    def impact(self, cluster: Cluster) -> Impact:
        """Return all that is downstream of a root; nothing of it is kept."""
        return impact(cluster, self.remembered.graph, self._estate, RULES)

    def severity(self, cluster: Cluster, now: int) -> Severity:
        """Return how severe a fault is, by what is downstream of its root."""
        return severity(cluster, self._stake(cluster), self._estate, now, RULES)

    def _stake(self, cluster: Cluster) -> Impact:
        starts = starts_of(cluster, self._estate)
        known = self.remembered.stakes.get(starts.tobytes())
        if known is not None:
            return known
        stake = _paging(impact_of(starts, self.remembered.graph, self._estate, RULES))
        self.remembered.add(starts, stake)
        return stake


def _remembered(estate: Estate, before: _Remembered | None) -> _Remembered:
    tiers = estate.datasets["tier"].copy()
    shape = _Shape(estate.keys, estate.upstreams, estate.downstreams, tiers)
    if before is not None and _is_same(before.shape, shape):
        return before
    graph = Graph(estate.keys[estate.upstreams], estate.keys[estate.downstreams])
    return _Remembered(shape, graph, {})


def _is_same(one: _Shape, two: _Shape) -> bool:
    pairs = zip(msgspec.structs.astuple(one), msgspec.structs.astuple(two), strict=True)
    return all(np.array_equal(mine, theirs) for mine, theirs in pairs)


def _paging(hurt: Impact) -> Impact:
    """Only the datasets whose tier can make a page: the others count in the score alone."""
    pages = RULES.paging[hurt.tiers]
    kept = (hurt.keys[pages], hurt.hops[pages], hurt.tiers[pages])
    return Impact(*kept, hurt.score, hurt.is_partial)
