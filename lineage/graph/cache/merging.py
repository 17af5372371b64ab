"""Merge of edges that were read again into the known ones, without sorting these again.

Of a million edges a few change at a time. To number, arrange and sort them all costs most of a
second; to copy them, a tenth of it.
"""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from lineage.graph.adjacency import Adjacency, Flags, Keys, NodePositions, starts_of
from lineage.graph.cache.snapshot import Snapshot, Way

# Keys are spread evenly over all numbers of 64 bits: by the first eight, slices of one size.
SLICE_BITS: Final = 56


class EdgeColumns(msgspec.Struct, frozen=True, eq=False):
    """Edges as three columns of keys of one length, a row an edge."""

    upstream: Keys
    downstream: Keys
    jobs: Keys


class Merged(msgspec.Struct, frozen=True, eq=False):
    """Arguments of a `Snapshot`."""

    keys: Keys
    job_keys: Keys
    ways: dict[str, Way]


class _Numbered(msgspec.Struct, frozen=True, eq=False):
    """Edges by positions, in the order of one way."""

    origins: NodePositions
    ends: NodePositions
    jobs: NDArray[np.int32]


def replace_slices(before: Snapshot, changed: list[int], read: EdgeColumns) -> Merged:
    """Return `before` with these slices of its edges, by their upstream keys, replaced."""
    is_out = np.isin(before.keys >> SLICE_BITS, changed)
    down, up = _numbered(before.ways["downstream"]), _numbered(before.ways["upstream"])
    down, up = _only(down, ~is_out[down.origins]), _only(up, ~is_out[up.ends])
    ends = np.concatenate([down.origins, down.ends])
    keys, moved = _grown(before.keys, ends, np.concatenate([read.upstream, read.downstream]))
    job_keys, moved_jobs = _grown(before.job_keys, down.jobs, read.jobs)
    upstream, downstream = (
        np.searchsorted(keys, each) for each in (read.upstream, read.downstream)
    )
    jobs = np.searchsorted(job_keys, read.jobs).astype(np.int32)
    ways = {
        "upstream": (up, _Numbered(downstream, upstream, jobs)),
        "downstream": (down, _Numbered(upstream, downstream, jobs)),
    }
    return Merged(
        keys=keys,
        job_keys=job_keys,
        ways={
            name: _way(_renumbered(known, moved, moved_jobs), new, len(keys))
            for name, (known, new) in ways.items()
        },
    )


def _numbered(way: Way) -> _Numbered:
    counts = np.diff(way.adjacency.starts)
    return _Numbered(np.repeat(np.arange(len(counts)), counts), way.adjacency.targets, way.jobs)


def _only(edges: _Numbered, is_kept: Flags) -> _Numbered:
    return _Numbered(edges.origins[is_kept], edges.ends[is_kept], edges.jobs[is_kept])


def _grown(known: Keys, used: NDArray[np.integer], read: Keys) -> tuple[Keys, NodePositions]:
    """Return the known keys still in use and those read, ascending; and each one's new position."""
    is_used = np.zeros(len(known), np.bool_)
    is_used[used] = True
    # Sorted, as what is known is already: `numpy.unique` would hash each, in ten times the time.
    every = np.sort(np.concatenate([known[is_used], read]), kind="stable")
    is_first = np.ones(len(every), np.bool_)
    is_first[1:] = every[1:] != every[:-1]
    keys = every[is_first]
    return keys, np.searchsorted(keys, known)


def _renumbered(edges: _Numbered, moved: NodePositions, moved_jobs: NodePositions) -> _Numbered:
    jobs = moved_jobs.astype(np.int32)[edges.jobs]
    return _Numbered(moved[edges.origins], moved[edges.ends], jobs)


def _way(known: _Numbered, read: _Numbered, size: int) -> Way:
    """Merge both, by origin, then by end."""
    numbers = read.origins * size + read.ends
    order = np.argsort(numbers, kind="stable")
    at = np.searchsorted(known.origins * size + known.ends, numbers[order])
    origins = np.insert(known.origins, at, read.origins[order])
    targets = np.insert(known.ends, at, read.ends[order])
    return Way(
        Adjacency(starts_of(origins, size), targets), np.insert(known.jobs, at, read.jobs[order])
    )
