"""Lineage of one moment in memory: edges, the jobs behind them, and all names.

Two compressed adjacency arrays, one a direction. A level of a walk is a few slices of arrays,
where the catalog is asked for rows by the hundred.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from lineage.graph.adjacency import Adjacency, Flags, Keys, NodePositions, adjacency, positions_in
from lineage.graph.cache.dataset_attributes import NO_POLICIES, NO_STATES, Judged, Policies, States
from lineage.graph.walks import NOBODY, Responsible, Walk, too_deep, too_many

NOWHERE = -1  # the namespace of what has edges, and no row

Mark = dict[int, str]  # of the edges of each slice of the keys that has any
Sees = Callable[[str], bool]  # of a namespace
Numbers = NDArray[np.int32]
Texts = NDArray[np.object_]  # of Python's own, shared by all snapshots that know them


class Way(msgspec.Struct, frozen=True, eq=False):
    """Direction of the lineage. `jobs`: the job behind each edge of the adjacency."""

    adjacency: Adjacency
    jobs: Numbers


class Snapshot(msgspec.Struct, frozen=True, eq=False):
    """Immutable graph, shared by threads without a lock.

    Attributes:
        keys: of all datasets that have edges, ascending; what follows is by position in it.
        names: of each.
        namespace_of: of each the position in `namespaces`; -1: the catalog has no such dataset.
        job_keys: ascending.
        jobs: their names; the ways number them by position here.
        ways: `upstream` and `downstream`.
        mark: of these edges; where others are, it is another.
        states, policies: of all datasets.
    """

    keys: Keys
    names: Texts
    namespace_of: Numbers
    namespaces: list[str]
    job_keys: Keys
    jobs: Texts
    ways: dict[str, Way]
    mark: Mark
    states: States
    policies: Policies

    def walked(  # noqa: PLR0913, PLR0917 - the last two by those who see a part only
        self,
        way: str,
        starts: Iterable[int],
        depth: int,
        most: int,
        sees: Sees | None = None,
        hidden: Iterable[int] = (),
    ) -> Walk:
        """Return everything that is reached from here in one direction, nearest first.

        Args:
            way: `upstream` or `downstream`.
            starts: keys of datasets; those without edges lead nowhere.
            depth: in steps.
            most: datasets beyond the first start.
            sees: of a namespace, whether it may be seen; none: all may.
            hidden: keys of datasets that may not be, whatever their namespace.
        """
        given = list(dict.fromkeys(starts))
        room = max(most + 1 - len(given), 0)
        walk = _Walking(self, way, given, room, _seen(self, sees, hidden))
        for _ in range(depth):
            if not walk.step():
                return walk.result(too_many(most) if walk.is_full else None)
        return walk.result(too_deep(depth) if walk.has_more() else None)

    def named(self, keys: Sequence[int]) -> list[tuple[str, str] | None]:
        """Return namespace and name of each dataset that has edges and a row in the catalog."""
        at, is_known = positions_in(self.keys, np.array(keys, np.int64))
        spaces, names = np.full(len(keys), NOWHERE), np.full(len(keys), "", object)
        spaces[is_known], names[is_known] = self.namespace_of[at], self.names[at]
        pairs = zip(spaces.tolist(), names.tolist(), strict=True)
        return [None if at == NOWHERE else (self.namespaces[at], name) for at, name in pairs]

    def states_of(self, keys: Sequence[int], judged: Judged) -> list[str | None] | None:
        """Return the worst state of each dataset; None for states of another judgement."""
        return self.states.of(keys) if self.states.judged == judged else None

    def policies_of(self, keys: Sequence[int]) -> list[Responsible | None]:
        """Return tier and owner of each of these; none of what the policy was not resolved for."""
        return self.policies.of(keys)


def _nothing() -> Snapshot:
    none, keys, texts = np.array([], np.int32), np.array([], np.int64), np.array([], object)
    way = Way(adjacency(keys, keys, 0), none)
    ways = {"upstream": way, "downstream": way}
    return Snapshot(keys, texts, none, [], keys, texts, ways, {}, NO_STATES, NO_POLICIES)


EMPTY_GRAPH = _nothing()


class _Walking:
    """Walk under way. Its results are stored level by level, by position in the snapshot."""

    def __init__(
        self, snapshot: Snapshot, way: str, starts: list[int], room: int, is_seen: Flags | None
    ) -> None:
        nodes, is_known = positions_in(snapshot.keys, np.array(starts, np.int64))
        self._of, self._way = snapshot, snapshot.ways[way]
        self._starts, self._frontier = starts, np.sort(nodes)
        # In the order of finding; what is not found has none.
        self._number = np.full(len(snapshot.keys), NOBODY)
        self._number[nodes] = np.flatnonzero(is_known)
        self._is_seen = is_seen
        self._count, self._room = len(starts), room
        self._nodes, self._finders = [nodes[:0]], [nodes[:0]]
        self._origins, self._slots = [nodes[:0]], [nodes[:0]]
        self._hidden: dict[int, set[int]] = {}
        self.is_full = False

    def step(self) -> bool:
        """Walk one level further; return whether there may be another."""
        origins, slots, ends = self._edges()
        is_new = self._number[ends] == NOBODY
        fresh, at = np.unique(ends[is_new], return_index=True)
        order = np.argsort(at)[: self._room]  # of finding; beyond is for nobody
        self.is_full, self._room = len(fresh) > self._room, self._room - len(order)
        nodes = fresh[order]
        self._number[nodes] = np.arange(self._count, self._count + len(nodes))
        self._count += len(nodes)
        self._nodes.append(nodes)
        self._finders.append(origins[is_new][at[order]])
        is_between = (self._number[ends] != NOBODY) & (ends != origins)
        self._origins.append(origins[is_between])
        self._slots.append(slots[is_between])
        self._frontier = np.sort(nodes)
        return len(nodes) > 0 and not self.is_full

    def has_more(self) -> bool:
        """Return whether there are edges beyond the frontier."""
        return bool((self._number[self._edges()[2]] == NOBODY).any())

    def result(self, cut: str | None) -> Walk:
        """Return the walk by numbers, with names of jobs."""
        keys = self._of.keys[np.concatenate(self._nodes)].tolist()
        finders = self._numbers(np.concatenate(self._finders))
        origins, slots = np.concatenate(self._origins), np.concatenate(self._slots)
        ends = self._numbers(self._way.adjacency.targets[slots])
        jobs = self._of.jobs[self._way.jobs[slots]].tolist()
        edges = list(zip(self._numbers(origins), ends, jobs, strict=True))
        nobody = [NOBODY] * len(self._starts)
        return Walk(self._starts + keys, nobody + finders, edges, self._hidden, cut)

    def _edges(self) -> tuple[NodePositions, NodePositions, NodePositions]:
        """Return visible edges out of the frontier: origins, indexes of the edges, targets."""
        origins, slots = self._way.adjacency.slots(self._frontier)
        ends = self._way.adjacency.targets[slots]
        if self._is_seen is None:
            return origins, slots, ends
        is_seen = self._is_seen[ends]
        self._hide(origins[~is_seen], ends[~is_seen])
        return origins[is_seen], slots[is_seen], ends[is_seen]

    def _hide(self, origins: NodePositions, ends: NodePositions) -> None:
        pairs = zip(self._numbers(origins), self._of.keys[ends].tolist(), strict=True)
        for here, other in pairs:
            self._hidden.setdefault(here, set()).add(other)

    def _numbers(self, nodes: NodePositions) -> list[int]:
        numbers: list[int] = self._number[nodes].tolist()
        return numbers


def _seen(snapshot: Snapshot, sees: Sees | None, hidden: Iterable[int]) -> Flags | None:
    """Return whether each dataset is visible; None: all are. Without a row, none is."""
    if sees is None:
        return None
    namespaces = np.array([*map(sees, snapshot.namespaces), False])
    is_seen: Flags = namespaces[snapshot.namespace_of]
    at, _ = positions_in(snapshot.keys, np.array([*hidden], np.int64))
    is_seen[at] = False
    return is_seen
