"""Inputs of the writes of `foreachBatch`, inferred by staged rows alone."""

import pytest
from sqlalchemy import text

from slis.stream.derived import micro_batches
from slis.stream.staging import staging
from tests.slis.stream.spools import rows
from tests.slis.stream.staged import merge_staged, staged_run

_EDGES = """
    SELECT u.name, d.name, e.origin, e.runs FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2
"""
_NAMED = "SELECT name, names_input FROM dataset_write JOIN dataset USING (dataset_key) ORDER BY 1"
_OTHERS = (
    "SELECT count(*) FROM edge_told",
    "SELECT count(*) FROM dataset_read JOIN dataset USING (dataset_key) WHERE name <> 'topic'",
)
_TOPIC = ("topic", "table", "foreach_batch", 1)


_STREAM = {"run": "s", "inputs": ["topic"], "processing": "STREAMING"}
_WRITE = {"run": "w", "outputs": {"table": []}}


@pytest.fixture
def ran(at):
    """Return START and COMPLETE of a run of the application `a1`, at these minutes past eight."""

    def make(run, first, last):
        fields = {"root": "a1", "integration": "SPARK", **run}
        times = (("START", first), ("COMPLETE", last))
        return [staged_run(at(8, minute), kind=kind, **fields) for kind, minute in times]

    return make


@pytest.mark.postgres_nightly
def test_a_write_within_a_micro_batch_has_the_inputs_of_its_stream(catalogs, ran):
    """Give the same answer for any order of batches, and count no read and no disagreement."""
    (begun, ended), (writes, written) = ran(_STREAM, 1, 5), ran(_WRITE, 2, 4)
    in_order = [[begun], [writes], [written], [ended]]
    for batches in (in_order, in_order[::-1], [[ended, written], [begun, writes]]):
        catalog = catalogs()
        merge_staged(catalog, *batches)
        assert rows(catalog, _EDGES) == [_TOPIC]
        assert rows(catalog, _NAMED) == [("table", True)]
        assert [rows(catalog, query) for query in _OTHERS] == [[(0,)], [(0,)]]


_INDEPENDENT = {
    "after the micro-batch": ({}, {}, (6, 7)),
    "ends after the micro-batch": ({}, {}, (2, 7)),
    "of another application of the DAG": (
        {"root": "dag", "parent": "a1"},
        {"root": "dag", "parent": "a2"},
        (2, 4),
    ),
    "of another root run": ({}, {"root": "a2"}, (2, 4)),
    "beside a stream with outputs of its own": ({"outputs": {"sink": []}}, {}, (2, 4)),
    "beside a batch query": ({"processing": "BATCH"}, {}, (2, 4)),
    "of another engine": ({}, {"integration": "TRINO"}, (2, 4)),
    "that only creates the table": ({}, {"lifecycle": "CREATE"}, (2, 4)),
}


@pytest.mark.parametrize("case", _INDEPENDENT)
def test_an_independent_write_has_no_inputs(embedded, ran, case):
    """Store no edge into the table that the write names."""
    of_stream, of_write, minutes = _INDEPENDENT[case]
    merge_staged(embedded, [*ran(_STREAM | of_stream, 1, 5), *ran(_WRITE | of_write, *minutes)])

    assert [row for row in rows(embedded, _EDGES) if row[1] == "table"] == []


def test_a_micro_batch_without_an_end_has_no_inputs(embedded, ran):
    """Store no edge from a stream that was stopped within its micro-batch: it never ends."""
    begun, _ = ran(_STREAM, 1, 50)
    merge_staged(embedded, [begun], ran(_WRITE, 40, 42))

    assert rows(embedded, _EDGES) == []


def test_only_common_inputs_of_overlapping_queries_are_certain(embedded, ran):
    """Take back the input that another query of the application, reported later, does not read."""
    own, other = (_STREAM | {"inputs": ["topic", name], "run": name} for name in ("own", "other"))
    merge_staged(embedded, [*ran(own, 1, 5), *ran(_WRITE, 2, 4)], ran(other, 0, 6))

    assert rows(embedded, _EDGES) == [_TOPIC]
    assert rows(embedded, _OTHERS[0]) == [(0,)]


def test_inputs_that_the_write_names_replace_those_of_its_stream(embedded, at, ran):
    """Keep what the run itself says, and nothing of the stream's inputs as a disagreement."""
    fields = {"run": "w", "root": "a1", "integration": "SPARK", "processing": "BATCH"}
    named = staged_run(at(8, 3), kind="RUNNING", inputs=["other"], **fields)
    merge_staged(embedded, [*ran(_STREAM, 1, 5), *ran(_WRITE, 2, 4)], [named])

    assert rows(embedded, _EDGES) == [("other", "table", None, 1)]
    assert rows(embedded, _OTHERS[0]) == [(0,)]


def test_no_catalog_table_is_read_whole(embedded):
    """Find runs by their key, or by their root run and start."""
    with embedded.connect() as connection:
        staging.create(connection)
        plans = {name: _plan(connection, name) for name in ("_STORE_RUNS", "_STORE_PAIRS")}
        plans["_OUTDATED"] = _plan(connection, "_OUTDATED")

    scanned = {line.split()[1] for plan in plans.values() for line in plan if line[:4] == "SCAN"}
    assert scanned <= {"t_run", "s", "q"}
    for name, alias in (("_STORE_RUNS", "w"), ("_STORE_PAIRS", "s")):
        [found] = [line for line in plans[name] if f"SEARCH {alias} USING" in line]
        assert "root_run_id=? AND started_at>? AND started_at<?" in found


def _plan(connection, name):
    explained = text(f"EXPLAIN QUERY PLAN {getattr(micro_batches, name)}")
    return [row.detail for row in connection.execute(explained)]
