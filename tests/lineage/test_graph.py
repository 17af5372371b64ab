import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.catalog.engine import writing
from lineage.catalog.tables import batch, edge
from lineage.graph import Graph, open_graph


def _graph(*edges: tuple[int, int]):
    keys = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Graph(keys[:, 0], keys[:, 1])


def _levels(closure):
    return list(zip(closure.keys.tolist(), closure.depths.tolist(), strict=True))


def _edges(closure):
    return sorted(
        zip(closure.upstream_keys.tolist(), closure.downstream_keys.tolist(), strict=True)
    )


DIAMOND = ((1, 2), (1, 3), (2, 4), (3, 4), (4, 5))


def test_downstream_is_all_that_is_made_of_it():
    """Each dataset once, at its shortest distance, with every edge between them."""
    found = _graph(*DIAMOND).downstream(1)

    assert _levels(found) == [(1, 0), (2, 1), (3, 1), (4, 2), (5, 3)]
    assert _edges(found) == sorted(DIAMOND)
    assert not found.partial


def test_upstream_edges_keep_their_direction():
    """Walked against their direction, edges still lead from upstream to downstream."""
    found = _graph(*DIAMOND).upstream(4)

    assert _levels(found) == [(4, 0), (2, 1), (3, 1), (1, 2)]
    assert _edges(found) == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_a_depth_that_cuts_says_so():
    """Whoever reads the answer must know that there is more."""
    cut, whole = _graph(*DIAMOND).downstream(1, 1), _graph(*DIAMOND).downstream(1, 3)

    assert (_levels(cut), cut.partial_reason) == ([(1, 0), (2, 1), (3, 1)], "cut at depth 1")
    assert not whole.partial


def test_too_many_datasets_are_cut_and_said_to_be():
    """A closure is bounded, by whole levels."""
    found = _graph(*DIAMOND).downstream(1, max_nodes=3)

    assert (_levels(found), found.partial) == ([(1, 0), (2, 1), (3, 1)], True)


def test_a_cycle_ends():
    """Jobs that feed each other are walked once."""
    assert _levels(_graph((1, 2), (2, 1), (2, 2)).downstream(1)) == [(1, 0), (2, 1)]


@pytest.mark.parametrize("key", [7, -7])
def test_a_dataset_without_edges_is_alone(key):
    """A new dataset is no error."""
    assert _levels(_graph(*DIAMOND).upstream(key)) == [(key, 0)]
    assert _levels(_graph().upstream(key)) == [(key, 0)]


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=40), st.integers(-9, 9))
def test_a_closure_is_what_following_edges_reaches(edges, start):
    """Against sets grown until they stop growing."""
    reached = {start}
    for _ in edges:
        reached |= {downstream for upstream, downstream in edges if upstream in reached}

    found = _graph(*edges).downstream(start)

    assert set(found.keys.tolist()) == reached
    assert set(_edges(found)) == {pair for pair in edges if pair[0] in reached}


def test_the_graph_follows_the_catalog(catalog):
    """A batch that lands is in the next answer; without one, the same graph answers."""
    live = open_graph(catalog)
    assert _levels(live.current().downstream(1)) == [(1, 0)]

    _land(catalog, 1, (1, 2), (2, -3))
    after_first = live.current()

    assert _levels(after_first.downstream(1)) == [(1, 0), (2, 1), (-3, 2)]
    assert live.current() is after_first
    _land(catalog, 2, (-3, 4))
    assert _levels(live.current().downstream(2)) == [(2, 0), (-3, 1), (4, 2)]


def test_reading_the_graph_leaves_the_writer_its_wal(embedded, tmp_path):
    """A second SQLite library in the process would delete the WAL of the first, with commits."""
    open_graph(embedded).current()

    _land(embedded, 1, (1, 2))

    assert _counted_by_another_process(tmp_path / "catalog.db") == "1"


def _counted_by_another_process(file):
    counting = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1])\n"
    counting += "print(c.execute('SELECT COUNT(*) FROM edge').fetchone()[0])"
    answer = subprocess.run(
        [sys.executable, "-c", counting, str(file)], capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()


def _land(catalog, number, *pairs: tuple[int, int]):
    seen = {"job_namespace": "n", "job_name": "j", "first_seen_at": 1, "last_seen_at": 1, "runs": 1}
    rows = [{"upstream_key": u, "downstream_key": d, "job_key": 1, **seen} for u, d in pairs]
    landed = {"query_id": "q", "batch_id": number, "after_seq": number - 1, "last_seq": number}
    with writing(catalog) as connection:
        connection.execute(edge.insert(), rows)
        connection.execute(
            batch.insert(), {**landed, "events": 1, "duplicates": 0, "landed_at": number}
        )


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=40),
    st.lists(st.integers(-9, 12), max_size=4),
)
def test_descendants_of_several_are_at_their_least_distance(edges, starts):
    """Against distances relaxed until nothing changes; what has no edges is its own."""
    hops = dict.fromkeys(starts, 0)
    for _ in range(20):
        for start, end in edges:
            if start in hops:
                hops[end] = min(hops.get(end, 99), hops[start] + 1)
    keys, steps, cut = _graph(*edges).descendants(np.array(starts, dtype=np.int64))

    assert dict(zip(keys.tolist(), steps.tolist(), strict=True)) == hops
    assert (len(keys), cut) == (len(hops), False)
