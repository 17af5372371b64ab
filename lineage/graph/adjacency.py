"""Compressed adjacency: who stands next to whom in a graph, as two arrays."""

import msgspec
import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]  # of datasets, as `lineage.names.keys` makes them, or of runs
NodePositions = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Adjacency(msgspec.Struct, frozen=True):
    """Adjacency lists: the ends of the edges of node i are `targets[starts[i]:starts[i + 1]]`.

    Attributes:
        starts: one more than there are nodes.
        targets: one an edge, by origin, then by end: as the edges were given, where they were
            given in that order.
    """

    starts: NodePositions
    targets: NodePositions

    def ends(self, nodes: NodePositions) -> NodePositions:
        """Return the ends of all edges from these nodes."""
        starts = self.starts[nodes]
        return self.targets[spans(starts, self.starts[nodes + 1] - starts)]

    def slots(self, nodes: NodePositions) -> tuple[NodePositions, NodePositions]:
        """Return the positions in `targets` of the edges from these nodes, and their nodes."""
        starts = self.starts[nodes]
        counts = self.starts[nodes + 1] - starts
        return np.repeat(nodes, counts), spans(starts, counts)

    def degree(self, nodes: NodePositions) -> int:
        """Count the edges that leave these nodes."""
        return int((self.starts[nodes + 1] - self.starts[nodes]).sum())


def adjacency(origins: NodePositions, ends: NodePositions, size: int) -> Adjacency:
    """Build the adjacency of `size` nodes with these edges; repeats are kept."""
    # One number an edge, in an order that is nearly there already where a table gave them.
    order = np.argsort(np.asarray(origins, np.int64) * size + ends, kind="stable")
    return Adjacency(starts_of(origins, size), ends[order])


def starts_of(origins: NodePositions, size: int) -> NodePositions:
    """Return where the sorted edges of each of `size` nodes begin and end."""
    starts = np.zeros(size + 1, dtype=np.intp)
    np.cumsum(np.bincount(origins, minlength=size), out=starts[1:])
    return starts


def spans(starts: NodePositions, counts: NodePositions) -> NodePositions:
    """Return `starts[0]` and the positions after it, `counts[0]` in all; then those of the next."""
    # Where each stands within its own span, added to where that begins.
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(np.repeat(starts, counts) + within)


def equal_pairs(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NodePositions, NodePositions]:
    """Return all (i, j) with `left[i] == right[j]`, by i, then j."""
    order = np.argsort(right, kind="stable")
    ascending = right[order]
    starts = np.searchsorted(ascending, left, side="left")
    counts = np.searchsorted(ascending, left, side="right") - starts
    return np.repeat(np.arange(len(left)), counts), order[spans(starts, counts)]


def positions_in(keys: Keys, wanted: Keys) -> tuple[NodePositions, Flags]:
    """Return the positions in ascending `keys` of the `wanted` that exist, and which these are."""
    found = np.searchsorted(keys, wanted)
    is_there = found < len(keys)
    is_there[is_there] = keys[found[is_there]] == wanted[is_there]
    return found[is_there], is_there
