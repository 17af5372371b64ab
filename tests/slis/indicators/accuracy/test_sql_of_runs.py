"""M4 by SQL, from the facet through the stream into the checks and the state."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import text

from lineage import origins
from lineage.policy import DEFAULT
from slis.evaluation.dataset_policies import renew_policies
from slis.evaluation.edge_evaluation import evaluate_edges
from slis.evaluation.evaluation import evaluate
from slis.indicators.accuracy.sql_catalog import check_sql
from slis.stream.facts.jobs import LONGEST_TEXT
from tests.slis.stream.spools import Lander, run_event

SETTLE = timedelta(minutes=5)
_SQL = "INSERT INTO core.t SELECT * FROM raw.a JOIN raw.b USING (id)"


@pytest.fixture
def lander(catalog, tmp_path, at):
    """Return a lander of batches at noon."""
    return Lander(catalog, tmp_path, at(12))


def _run_query(catalog, query):
    with catalog.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def _run_event(  # noqa: PLR0913 - the last four by name
    kind, at, query=_SQL, *, run="r1", facet=None, inputs=(), outputs=()
):
    event = run_event(kind, at, run=run, inputs=inputs, outputs=outputs)
    event["job"]["facets"]["sql"] = {"query": query, "dialect": "spark", **(facet or {})}
    return event


_CHECKS = """
    SELECT u.name, d.name, c.outcome, c.oracle, c.root_run_id FROM edge_check c
    JOIN dataset u ON u.dataset_key = c.upstream_key
    JOIN dataset d ON d.dataset_key = c.downstream_key ORDER BY 1, 2, 5
"""


def test_a_table_that_the_sql_reads_and_the_events_do_not_name_is_missing(
    spark, catalog, lander, at
):
    """Judge an edge that both name as good: the text is another witness than the inputs.

    Events come in any order: r1 begins with its START, r2 with its COMPLETE.
    """
    lander.land(run_event("COMPLETE", at(7), run="r0", inputs=["raw.b"], outputs=["other"]))
    starts, ends = {}, {}
    for run, table in (("r1", "t"), ("r2", "u")):
        query = _SQL.replace("core.t", f"core.{table}")
        symlink = {"symlinks": {"identifiers": [{"namespace": "hive", "name": f"core.{table}"}]}}
        starts[run] = _run_event("START", at(8), query, run=run, inputs=["raw.a"])
        output = (f"/wh/core.db/{table}", symlink)
        ends[run] = _run_event("COMPLETE", at(9), query, run=run, outputs=[output])
    lander.land(starts["r1"], ends["r2"])
    lander.land(ends["r1"], starts["r2"])
    renew_policies(catalog, DEFAULT)

    assert check_sql(spark, catalog, at(12, 4), SETTLE) == 0
    assert check_sql(spark, catalog, at(12, 5), SETTLE) == 4
    assert _run_query(catalog, _CHECKS) == [
        ("raw.a", "/wh/core.db/t", "good", "sql", "r1"),
        ("raw.a", "/wh/core.db/u", "good", "sql", "r2"),
        ("raw.b", "/wh/core.db/t", "edge_missing", "sql", "r1"),
        ("raw.b", "/wh/core.db/u", "edge_missing", "sql", "r2"),
    ]
    assert _run_query(catalog, "SELECT count(*) FROM sql_run") == [(0,)]

    evaluate_edges(spark, catalog, DEFAULT, at(12, 6), settle=SETTLE)
    evidence = "run {run}: its SQL reads n raw.b, its events do not name it"
    query = "SELECT state, reason, evidence FROM dataset_state WHERE sli = 'M4' ORDER BY 3"
    assert _run_query(catalog, query) == [
        ("bad", "edge_missing", evidence.format(run=run)) for run in ("r1", "r2")
    ]


@pytest.mark.postgres_nightly
def test_each_distinct_text_is_kept_once_until_it_is_parsed(spark, catalog, lander, at):
    """Parse once by text and dialect, whatever else is in the facet; then drop the text."""
    lander.land(
        _run_event("COMPLETE", at(8), run="r1"),
        _run_event("COMPLETE", at(8), run="r2", facet={"_producer": "another"}),
        _run_event("COMPLETE", at(8), "SELECT 1 FROM a GROUP 'secret'", run="r3"),
        _run_event("COMPLETE", at(8), "x" * (LONGEST_TEXT + 1), run="r4"),
        _run_event("COMPLETE", at(8), "  ", run="r5"),
        _run_event("START", at(8), run="r6"),
    )
    lander.land(_run_event("COMPLETE", at(8), run="r7"), origin=origins.HISTORY)

    assert check_sql(spark, catalog, at(13), SETTLE) == 0
    found = _run_query(catalog, "SELECT text, names, problem FROM sql_text")
    assert {row[0] for row in found} == {None}
    named = {"reads": ["raw.a", "raw.b"], "writes": ["core.t"]}
    assert [json.loads(row[1]) for row in found if row[1]] == [[named]]
    long, broken = sorted(row[2] for row in found if row[2])[::-1]
    assert long == "longer than 65,536 characters"
    assert broken.endswith("no SQL of its dialect")
    # The text of the run that has not ended waits.
    assert _run_query(catalog, "SELECT count(*) FROM sql_run") == [(1,)]


_NAMES_INPUT = """
    SELECT a.last_write_names_input, s.reason FROM dataset_activity a
    JOIN dataset d ON d.dataset_key = a.dataset_key AND d.name = 'core.t'
    LEFT JOIN dataset_state s ON s.dataset_key = d.dataset_key AND s.sli = 'M1'
"""


def test_a_run_that_names_no_inputs_has_those_that_its_sql_reads(spark, catalog, lander, at):
    """Wait with M1 for the SQL, which proves no edge that is known by it alone."""
    query = "INSERT INTO core.t SELECT * FROM raw.a"
    lander.land(
        run_event("COMPLETE", at(7), run="r0", inputs=["raw.a"], outputs=["other"]),
        _run_event("COMPLETE", at(9), query, inputs=["core.t"], outputs=["core.t"]),
        _run_event("COMPLETE", at(9), query, run="r2", outputs=["core.t"]),
    )
    evaluate(spark, catalog, DEFAULT, at(12))
    assert _run_query(catalog, _NAMES_INPUT) == [(False, None)]

    assert check_sql(spark, catalog, at(12, 5), SETTLE) == 2
    evaluate(spark, catalog, DEFAULT, at(12, 5))
    edges = """
        SELECT u.name, e.root_run_id, e.origin FROM edge_run e JOIN dataset u
        ON u.dataset_key = e.upstream_key JOIN dataset d ON d.dataset_key = e.downstream_key
        WHERE d.name = 'core.t' AND u.name <> d.name ORDER BY 2
    """
    assert _run_query(catalog, edges) == [("raw.a", "r1", "sql"), ("raw.a", "r2", "sql")]
    assert _run_query(catalog, _NAMES_INPUT) == [(True, None)]
    assert _run_query(catalog, _CHECKS) == []

    lander.land(_run_event("START", at(8), query, run="r2", inputs=["raw.b"]))
    assert _run_query(catalog, edges) == [("raw.a", "r1", "sql"), ("raw.b", "r2", None)]
