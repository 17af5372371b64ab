"""The lineage graph in memory, for questions that go on and on: impact, root cause, closures.

Two compressed adjacency arrays, one a direction; a million edges take about 40 MB and are walked
level by level in milliseconds. Keys are canonical dataset keys, as the catalog has them.
"""

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine

from lineage.adjacency import Adjacency, Positions, adjacency
from lineage.edges import Keys, catalog_version, read_edges

Direction = Literal["upstream", "downstream"]

DEFAULT_MAX_NODES = 100_000


class Closure(msgspec.Struct, frozen=True):
    """All that is reached from one dataset in one direction, itself first.

    Attributes:
        keys: the datasets, nearest first; those of one level by key.
        depths: the shortest distance of each.
        upstream_keys: of the edges between them that the walk saw; with `downstream_keys`.
        downstream_keys: the other ends, in the same order.
        partial: something was left out; `partial_reason` says why.
    """

    keys: Keys
    depths: NDArray[np.int32]
    upstream_keys: Keys
    downstream_keys: Keys
    partial: bool
    partial_reason: str | None


class Graph:
    """One version of the graph. Never changes; to be shared by threads as it is."""

    def __init__(self, upstream_keys: Keys, downstream_keys: Keys, version: int = 0) -> None:
        """Build from edges, one for each pair of keys; repeats do no harm."""
        self.version = version
        self.keys, positions = np.unique(
            np.concatenate([upstream_keys, downstream_keys]), return_inverse=True
        )
        upstreams, downstreams = np.split(positions, 2)
        size = len(self.keys)
        self._next = {
            "upstream": adjacency(downstreams, upstreams, size),
            "downstream": adjacency(upstreams, downstreams, size),
        }

    def upstream(
        self, key: int, depth: int | None = None, *, max_nodes: int = DEFAULT_MAX_NODES
    ) -> Closure:
        """What the dataset is made of, to `depth` steps away; None is all the way."""
        return self._closure(key, depth, "upstream", max_nodes)

    def downstream(
        self, key: int, depth: int | None = None, *, max_nodes: int = DEFAULT_MAX_NODES
    ) -> Closure:
        """What is made of the dataset, to `depth` steps away; None is all the way."""
        return self._closure(key, depth, "downstream", max_nodes)

    def descendants(
        self, keys: Keys, *, max_nodes: int = DEFAULT_MAX_NODES
    ) -> tuple[Keys, NDArray[np.int32], bool]:
        """What is made of any of these datasets, themselves first at 0.

        Returns:
            Each dataset once; its least number of steps from one of `keys`; whether the walk
            was cut at `max_nodes`, by whole levels.
        """
        known = np.isin(keys, self.keys)
        starts = np.unique(np.searchsorted(self.keys, keys[known]))
        levels, _, cut = self._walk(starts, None, self._next["downstream"], max_nodes)
        alone = np.unique(keys[~known])
        found = np.concatenate([alone, self.keys[np.concatenate(levels)]])
        steps = np.repeat(np.arange(len(levels), dtype=np.int32), [len(level) for level in levels])
        return found, np.concatenate([np.zeros(len(alone), np.int32), steps]), cut is not None

    def _closure(self, key: int, depth: int | None, way: Direction, max_nodes: int) -> Closure:
        start = self._position(key)
        if start is None:
            return _alone(key)
        levels, edges, cut = self._walk(
            np.array([start], dtype=np.intp), depth, self._next[way], max_nodes
        )
        nodes = np.concatenate(levels)
        depths = np.repeat(np.arange(len(levels), dtype=np.int32), [len(level) for level in levels])
        origins, ends = (np.concatenate(side) for side in zip(*edges, strict=True))
        if way == "upstream":
            origins, ends = ends, origins
        return Closure(
            self.keys[nodes], depths, self.keys[origins], self.keys[ends], cut is not None, cut
        )

    def _walk(
        self, start: Positions, depth: int | None, neighbouring: Adjacency, max_nodes: int
    ) -> tuple[list[Positions], list[tuple[Positions, Positions]], str | None]:
        """Levels, the edges followed from each, and why it ended early if it did."""
        frontier = start
        seen = np.zeros(len(self.keys), dtype=bool)
        seen[start] = True
        levels, edges, count = [frontier], [(frontier[:0], frontier[:0])], len(start)
        while len(frontier):
            origins, ends = neighbouring.neighbours(frontier)
            fresh = np.unique(ends[~seen[ends]])
            if depth is not None and len(levels) > depth:
                return levels, edges, f"cut at depth {depth}" if len(fresh) else None
            if count + len(fresh) > max_nodes:
                return levels, edges, f"cut at {max_nodes} datasets"
            seen[fresh] = True
            edges.append((origins, ends))
            if len(fresh):
                levels.append(fresh)
            frontier, count = fresh, count + len(fresh)
        return levels, edges, None

    def _position(self, key: int) -> int | None:
        position = int(np.searchsorted(self.keys, key))
        is_there = position < len(self.keys) and self.keys[position] == key
        return position if is_there else None


class LiveGraph:
    """The newest graph of a catalog. `current` costs one small query while nothing changed."""

    def __init__(self, engine: Engine) -> None:
        """Nothing is read before the first question."""
        self._engine = engine
        self._graph: Graph | None = None

    def current(self) -> Graph:
        """The graph as of the last batch in the catalog."""
        version = catalog_version(self._engine)
        if self._graph is None or self._graph.version != version:
            self._graph = Graph(*read_edges(self._engine), version)
        return self._graph


def open_graph(engine: Engine) -> LiveGraph:
    """The graph of this catalog, to be kept open: each process needs one."""
    return LiveGraph(engine)


def _alone(key: int) -> Closure:
    """A dataset without edges; the graph does not hold it."""
    none = np.array([], dtype=np.int64)
    itself, depths = np.array([key], dtype=np.int64), np.array([0], dtype=np.int32)
    return Closure(itself, depths, none, none, partial=False, partial_reason=None)
