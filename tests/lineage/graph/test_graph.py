import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.graph.graph import Graph

DIAMOND = ((1, 2), (1, 3), (2, 4), (3, 4), (4, 5))


def descendants(edges, starts, max_nodes=99):
    """Return distances by key, and whether the walk was cut."""
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    graph = Graph(pairs[:, 0], pairs[:, 1])
    keys, steps, is_cut = graph.descendants(np.array(starts, dtype=np.int64), max_nodes=max_nodes)
    assert len(set(keys.tolist())) == len(keys)
    return dict(zip(keys.tolist(), steps.tolist(), strict=True)), is_cut


def test_all_derived_datasets_are_downstream():
    """Return each once, at its shortest distance."""
    assert descendants(DIAMOND, [1]) == ({1: 0, 2: 1, 3: 1, 4: 2, 5: 3}, False)
    assert descendants(DIAMOND, [4]) == ({4: 0, 5: 1}, False)


def test_too_many_datasets_are_cut_and_reported_as_cut():
    """Cut by whole levels, and report that there is more."""
    assert descendants(DIAMOND, [1], max_nodes=3) == ({1: 0, 2: 1, 3: 1}, True)
    assert descendants(DIAMOND, [1], max_nodes=5)[1] is False


def test_a_cycle_ends():
    """Walk jobs that feed each other once."""
    assert descendants([(1, 2), (2, 1), (2, 2)], [1]) == ({1: 0, 2: 1}, False)


@pytest.mark.parametrize("key", [7, -7])
def test_a_dataset_without_edges_is_alone(key):
    """Return the new dataset, without an error."""
    assert descendants(DIAMOND, [key]) == descendants([], [key]) == ({key: 0}, False)


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=40),
    st.lists(st.integers(-9, 12), max_size=4),
)
def test_descendants_of_several_are_at_their_least_distance(edges, starts):
    """Compare with distances relaxed until nothing changes; include datasets without edges."""
    hops = dict.fromkeys(starts, 0)
    for _ in range(20):
        for start, end in edges:
            if start in hops:
                hops[end] = min(hops.get(end, 99), hops[start] + 1)

    assert descendants(edges, starts) == (hops, False)
