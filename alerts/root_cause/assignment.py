"""Roots among faults that explain each other, and the assignment of the others to them."""

from typing import Final

import msgspec
import numpy as np
import rustworkx as rx
from numpy.typing import NDArray

from lineage.graph.adjacency import Adjacency, NodePositions, adjacency

UNASSIGNED: Final = -1
# Of each root, so many nodes that belong to an earlier one are named; and of all roots together
# so many edges are followed for that: it could be quadratic, and is a note beside the members.
MAX_SHARED: Final = 1_000
MAX_SHARED_EDGES: Final = 2_000_000


class Assignments(msgspec.Struct, frozen=True):
    """Roots, and the root of each node.

    Attributes:
        roots: nodes that nothing explains, the first by rank first; of a cycle that nothing
            outside explains, its first.
        is_cycle: for each root, whether it stands for a cycle.
        owner: for each node, the position in `roots` of the first root that reaches it.
        edge: for each node, the edge (position among those given) by which it was reached on a
            shortest way from that root; UNASSIGNED at the root itself.
        steps: for each node, the length of that way.
        shared: for each root, nodes it reaches that belong to an earlier one, ascending.
        is_cut: for each root, whether some of those were left out.
    """

    roots: NodePositions
    is_cycle: NDArray[np.bool_]
    owner: NodePositions
    edge: NodePositions
    steps: NodePositions
    shared: tuple[NodePositions, ...]
    is_cut: NDArray[np.bool_]


def assign_members(
    parents: NodePositions, children: NodePositions, rank: NodePositions
) -> Assignments:
    """Find the roots, and let each in the order of rank take what it reaches and is not taken.

    Args:
        parents: of each edge, in ascending order of (parent, child), each pair once.
        children: of each edge.
        rank: one for each node, all different.
    """
    roots, is_cycle = _find_roots(parents, children, rank)
    walk = _Traversal(adjacency(parents, children, len(rank)))
    shared, cut = [], np.zeros(len(roots), dtype=np.bool_)
    for position, root in enumerate(roots.tolist()):
        others, cut[position] = walk.take(position, root)
        shared.append(others)
    return Assignments(roots, is_cycle, walk.owner, walk.edge, walk.steps, tuple(shared), cut)


def _find_roots(
    parents: NodePositions, children: NodePositions, rank: NodePositions
) -> tuple[NodePositions, NDArray[np.bool_]]:
    """Return the first by rank of each strongly connected component that no edge enters."""
    component = strong_components(parents, children, len(rank))
    is_entered = np.zeros(len(rank), dtype=np.bool_)
    is_entered[component[children[component[parents] != component[children]]]] = True
    by_rank = np.argsort(rank)
    found, first, sizes = np.unique(component[by_rank], return_index=True, return_counts=True)
    is_root = ~is_entered[found]
    roots, is_cycle = by_rank[first[is_root]], sizes[is_root] > 1
    order = np.argsort(rank[roots])
    return roots[order], is_cycle[order]


def strong_components(parents: NodePositions, children: NodePositions, size: int) -> NodePositions:
    """Return the number of each node's strongly connected component."""
    # Only what has edges of both kinds can be on a cycle: storms are mostly leaves.
    has_both = np.zeros(size, dtype=np.bool_)
    has_both[np.intersect1d(parents, children)] = True
    inner = has_both[parents] & has_both[children]
    graph = rx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(range(size))
    graph.extend_from_edge_list(
        list(zip(parents[inner].tolist(), children[inner].tolist(), strict=True))
    )
    found = rx.strongly_connected_components(graph)
    component = np.empty(size, dtype=np.intp)
    component[np.fromiter((node for nodes in found for node in nodes), np.intp, size)] = np.repeat(
        np.arange(len(found)), [len(nodes) for nodes in found]
    )
    return component


class _Traversal:
    """Breadth first from one root after another over the same nodes."""

    def __init__(self, edges: Adjacency) -> None:
        size = len(edges.starts) - 1
        self._edges = edges
        self._seen_by = np.full(size, UNASSIGNED, dtype=np.intp)
        self._allowance = MAX_SHARED_EDGES
        self.owner = np.full(size, UNASSIGNED, dtype=np.intp)
        self.edge = np.full(size, UNASSIGNED, dtype=np.intp)
        self.steps = np.zeros(size, dtype=np.intp)

    def take(self, position: int, root: int) -> tuple[NodePositions, bool]:
        """Return which nodes of an earlier root this one reaches, and whether they were cut."""
        self.owner[root], self._seen_by[root] = position, position
        frontier, border = np.array([root], dtype=np.intp), []
        step = 0
        while len(frontier):
            step += 1
            ends, slots = self._fresh(frontier, position)
            is_free = self.owner[ends] == UNASSIGNED
            frontier = ends[is_free]
            self.owner[frontier] = position
            self.edge[frontier], self.steps[frontier] = slots[is_free], step
            border.append(ends[~is_free])
        return self._shared(np.concatenate(border), position)

    def _shared(self, frontier: NodePositions, position: int) -> tuple[NodePositions, bool]:
        found = [frontier]
        count = len(frontier)
        while len(frontier):
            if count > MAX_SHARED or self._allowance <= 0:
                return np.sort(np.concatenate(found))[:MAX_SHARED], True
            self._allowance -= self._edges.degree(frontier)
            frontier, _ = self._fresh(frontier, position)
            found.append(frontier)
            count += len(frontier)
        return np.sort(np.concatenate(found)), False

    def _fresh(self, frontier: NodePositions, position: int) -> tuple[NodePositions, NodePositions]:
        """Return the next nodes that this root has not visited, and the edges to them."""
        _, slots = self._edges.slots(frontier)
        ends = self._edges.targets[slots]
        unseen = self._seen_by[ends] != position
        fresh, first = np.unique(ends[unseen], return_index=True)
        self._seen_by[fresh] = position
        return fresh, slots[unseen][first]
