"""Merge of changed edges into others, compared with a plain sort of all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lineage.graph.cache.merging import SLICE_BITS, EdgeColumns, replace_slices
from lineage.graph.cache.snapshot import EMPTY_GRAPH, Snapshot

# Changes in three slices: two adjacent ones, and both ends of the range.
_KEYS = (-(2**63), -(2**63) + 5, -3, -1, 0, 7, 2**63 - 2, 2**63 - 1)
_EDGES = st.sets(st.tuples(st.sampled_from(_KEYS), st.sampled_from(_KEYS), st.integers(-2, 2)))
Edge = tuple[int, int, int]  # upstream, downstream, job


def _table_of(edges: set[Edge]) -> EdgeColumns:
    """Return edges as rows of a table."""
    rows = np.array(sorted(edges), np.int64).reshape(-1, 3)
    return EdgeColumns(rows[:, 0], rows[:, 1], rows[:, 2])


def _in_slices(edges: set[Edge], slices: list[int]) -> set[Edge]:
    return {edge for edge in edges if edge[0] >> SLICE_BITS in slices}


def _merge_changes(before: Snapshot, was: set[Edge], now: set[Edge]) -> Snapshot:
    """Merge after the slices that differ were read."""
    changed = sorted({edge[0] >> SLICE_BITS for edge in was ^ now})
    found = replace_slices(before, changed, _table_of(_in_slices(now, changed)))
    return replace(before, keys=found.keys, job_keys=found.job_keys, ways=found.ways)


def _edges(snapshot: Snapshot, way: str) -> list[Edge]:
    """Return one direction: from, to, job."""
    adjacency, jobs = snapshot.ways[way].adjacency, snapshot.ways[way].jobs
    origins = np.repeat(snapshot.keys, np.diff(adjacency.starts))
    ends = snapshot.keys[adjacency.targets]
    columns = (each.tolist() for each in (origins, ends, snapshot.job_keys[jobs]))
    return list(zip(*columns, strict=True))


@given(st.lists(_EDGES, min_size=1, max_size=4))
def test_merged_changes_equal_a_full_read(moments):
    """Sort both ways by origin, then by end, without unused keys and jobs."""
    snapshot, was = EMPTY_GRAPH, set[Edge]()
    for now in moments:
        snapshot, was = _merge_changes(snapshot, was, now), now

        assert _edges(snapshot, "downstream") == sorted(now)
        back = [(down, up, job) for up, down, job in now]
        assert _edges(snapshot, "upstream") == sorted(back)
        assert snapshot.keys.tolist() == sorted({key for edge in now for key in edge[:2]})
        assert snapshot.job_keys.tolist() == sorted({job for _, _, job in now})
