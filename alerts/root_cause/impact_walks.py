"""Walks downstream of each root, and a cache of what severities need.

An impact may be half of the datasets, and a storm has thousands of roots: all impacts together took
gigabytes. Remembered is what a severity needs, for as long as the graph is the same.
"""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.faults import FaultGroup
from alerts.root_cause.severity import (
    IncidentSeverity,
    RootImpact,
    SeverityRules,
    impact_of_group,
    lost_outputs,
    rate_severity,
)
from alerts.root_cause.snapshot import LineageSnapshot
from lineage.graph.adjacency import Keys, NodePositions
from lineage.graph.graph import Graph

SEVERITY_RULES: Final = SeverityRules()
_MOST_BYTES: Final = 64 * 1024 * 1024
_BYTES_A_KEY: Final = 8 + 4 + 1  # of a dataset in a `RootImpact`
_BYTES_A_BAD_KEY: Final = 100  # of a number in a frozenset, about


class _GraphShape(msgspec.Struct, frozen=True, eq=False):
    keys: Keys
    upstreams: NodePositions
    downstreams: NodePositions
    tiers: NDArray[np.int8]


class _Known(msgspec.Struct, frozen=True, eq=False):
    """Impact of a root, valid while its bad datasets stay the same."""

    bad_keys: frozenset[int]
    stake: RootImpact

    @property
    def size(self) -> int:
        """Return about how many bytes it takes."""
        return len(self.stake.keys) * _BYTES_A_KEY + len(self.bad_keys) * _BYTES_A_BAD_KEY


class _Cache(msgspec.Struct, eq=False):
    """Results that are valid while datasets, tiers and edges stay the same."""

    shape: _GraphShape
    graph: Graph
    impacts: dict[bytes, _Known]
    size: int = 0

    def add(self, starts: Keys, known: _Known) -> None:
        """Cache the impact of these datasets in place of an older one, while there is room."""
        if (older := self.impacts.pop(starts.tobytes(), None)) is not None:
            self.size -= older.size
        if self.size + known.size <= _MOST_BYTES:
            self.impacts[starts.tobytes()] = known
            self.size += known.size


class ImpactWalks:
    """Walks of the graph of one evaluation."""

    def __init__(self, snapshot: LineageSnapshot, previous: "ImpactWalks | None" = None) -> None:
        """Build the graph.

        Args:
            snapshot: of this evaluation.
            previous: of the evaluation before; what it remembers holds while the graph is the same.
        """
        self._snapshot = snapshot
        before: _Cache | None = None if previous is None else previous.cache
        self.cache: _Cache = _reuse_or_build(snapshot, before)

    def impact(self, group: FaultGroup) -> RootImpact:
        """Return all that is downstream of a root; nothing of it is kept."""
        return impact_of_group(group, self.cache.graph, self._snapshot, SEVERITY_RULES)

    def severity(self, group: FaultGroup, now: int) -> IncidentSeverity:
        """Return how severe a fault is, by what is downstream of its root."""
        return rate_severity(group, self._stake(group), self._snapshot, now, SEVERITY_RULES)

    def _stake(self, group: FaultGroup) -> RootImpact:
        starts, bad_keys = lost_outputs(group, self._snapshot), group.bad_keys
        known = self.cache.impacts.get(starts.tobytes())
        if known is not None and known.bad_keys == bad_keys:
            return known.stake
        stake = _keep_paging(self.impact(group))
        self.cache.add(starts, _Known(bad_keys, stake))
        return stake


def _reuse_or_build(snapshot: LineageSnapshot, before: _Cache | None) -> _Cache:
    tiers = snapshot.datasets["tier"].copy()
    shape = _GraphShape(snapshot.keys, snapshot.upstreams, snapshot.downstreams, tiers)
    if before is not None and _is_same_shape(before.shape, shape):
        return before
    graph = Graph(snapshot.keys[snapshot.upstreams], snapshot.keys[snapshot.downstreams])
    return _Cache(shape, graph, {})


def _is_same_shape(one: _GraphShape, two: _GraphShape) -> bool:
    pairs = zip(msgspec.structs.astuple(one), msgspec.structs.astuple(two), strict=True)
    return all(np.array_equal(mine, theirs) for mine, theirs in pairs)


def _keep_paging(impact: RootImpact) -> RootImpact:
    """Keep the datasets whose tier can page; the others count in the score alone."""
    pages = SEVERITY_RULES.paging[impact.tiers]
    kept = (impact.keys[pages], impact.hops[pages], impact.tiers[pages])
    return RootImpact(*kept, impact.score, impact.is_partial)
