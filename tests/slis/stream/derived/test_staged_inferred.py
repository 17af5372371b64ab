"""Inputs inferred from facets, by staged rows alone."""

from itertools import permutations

import pytest
from sqlalchemy import text

from slis.stream.derived import inferred
from slis.stream.staging import staging
from tests.slis.stream.spools import rows
from tests.slis.stream.staged import merge_staged, staged_job, staged_run

_EDGES = """
    SELECT u.name, d.name, e.origin, e.runs FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2
"""


@pytest.mark.parametrize("is_later", [False, True], ids=["one batch", "two batches"])
def test_a_stream_without_inputs_has_those_of_its_facets_once_it_writes(embedded, at, is_later):
    """Take RUNNING with figures for the write: a stream never completes."""
    start = staged_run(at(8), outputs={"t": ["a"]}, kind="START")
    running = staged_run(at(9), outputs={"t": []}, kind="RUNNING")
    merge_staged(embedded, *([[start], [running]] if is_later else [[start, running]]))

    assert rows(embedded, _EDGES) == [("a", "t", "column_lineage", 1)]
    assert rows(embedded, "SELECT names_input FROM dataset_write") == [(True,)]


_TIMES = """
    SELECT u.name, e.origin, e.runs, e.last_seen_at, e.last_reported_at, e.declared_at FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key ORDER BY 1
"""
_RUN_TIMES = """
    SELECT u.name, e.root_run_id, e.seen_at, e.origin FROM edge_run e
    JOIN dataset u ON u.dataset_key = e.upstream_key ORDER BY 1, 2
"""
_STORED = "SELECT root_run_id, upstream_name FROM edge_told ORDER BY 1, 2"
_NAMED = "SELECT name, names_input FROM dataset_write JOIN dataset USING (dataset_key) ORDER BY 1"
_COMPARED = (_EDGES, _TIMES, _RUN_TIMES, _STORED, _NAMED)
_CASES = {
    "the run turns out to write what it reads": [
        {"hour": 8, "inputs": ["a"], "outputs": {"t": ["a", "b"]}, "kind": "START"},
        {"hour": 9, "outputs": {"a": []}},
    ],
    "inputs come late, and another run of the root has none": [
        {"hour": 9, "root": "p", "outputs": {"t": ["a"]}},
        {"hour": 8, "root": "p", "inputs": ["c"], "kind": "START"},
        {"hour": 7, "root": "p", "run": "r2", "outputs": {"t": ["a"]}},
    ],
    "inputs come late, and a JobEvent declares the edge": [
        {"hour": 9, "outputs": {"t": ["a"]}},
        {"hour": 8, "inputs": ["c"], "kind": "START"},
        {"hour": 7, "edge": ("a", "t")},
    ],
}


def _event(at, given):
    fields = {name: value for name, value in given.items() if name != "hour"}
    time = at(given["hour"])
    return staged_job(time, *given["edge"]) if "edge" in given else staged_run(time, **fields)


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("case", _CASES)
def test_the_order_of_batches_does_not_matter(catalogs, at, case):
    """Store the same edges, whichever event comes first."""
    events = [_event(at, given) for given in _CASES[case]]
    found = []
    for batches in ([events], *([[event] for event in order] for order in permutations(events))):
        catalog = catalogs()
        merge_staged(catalog, *batches)
        found.append([rows(catalog, query) for query in _COMPARED])

    assert found == [found[0]] * len(found)


def test_no_catalog_table_is_read_whole(embedded):
    """Query `inferred_input`, `edge`, `edge_run` and `edge_told` by their keys."""
    queries = ("_OUTDATED", "_EDGES", "_REPORTED_BEFORE", "_NEW_SOURCES", "_INFERRED")
    with embedded.connect() as connection:
        staging.create(connection)
        plans = {name: _plan(connection, getattr(inferred, name)) for name in queries}

    scanned = {line.split()[1] for plan in plans.values() for line in plan if line[:4] == "SCAN"}
    assert scanned == {"s_run", "s", "q", "p"}
    [asked] = [line for line in plans["_EDGES"] if "SEARCH e USING" in line]
    assert "root_run_id=?" in asked


def _plan(connection, query):
    explained = text(f"EXPLAIN QUERY PLAN {query}")
    found = connection.execute(explained, dict.fromkeys(explained.compile().params, 1))
    return [row.detail for row in found]
