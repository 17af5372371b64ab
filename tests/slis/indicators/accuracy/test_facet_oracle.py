"""M4 by a run's own facets: they prove an edge bad, and none good."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from lineage.catalog import tables
from lineage.names.keys import key
from lineage.policy import DEFAULT
from lineage.process.clock import to_micros
from slis.evaluation.dataset_policies import renew_policies
from slis.evaluation.edge_evaluation import evaluate_edges
from slis.indicators.accuracy import facet_oracle as module
from slis.indicators.accuracy.catalog import compare
from slis.indicators.accuracy.facet_catalog import check_facets
from slis.indicators.accuracy.facet_oracle import facet_checks
from slis.indicators.accuracy.schemas import FACET_SOURCES, SOURCES, WHOLE
from tests.slis.sli_frames import frame
from tests.slis.stream.spools import Lander, run_event

SETTLE = timedelta(minutes=5)


def _edge(downstream: int, upstream: int, **row: str):
    return {
        "root_run_id": "r1",
        "downstream_key": downstream,
        "upstream_key": upstream,
        "upstream_namespace": "file",
        "upstream_name": f"/in/{upstream}",
        **row,
    }


def _findings(spark, named, reported, whole=()):
    found = facet_checks(
        frame(spark, FACET_SOURCES, named),
        frame(spark, SOURCES, [{**row, "is_whole": True} for row in reported]),
        frame(spark, WHOLE, [{"root_run_id": "r1", "downstream_key": one} for one in whole]),
    ).collect()
    return sorted((r.downstream_key, r.upstream_key, r.outcome, r.oracle) for r in found)


def test_an_edge_that_facets_name_and_inputs_do_not_is_missing_and_none_is_good(spark):
    """Name the facet of its kind where two name it; report nothing where one agrees."""
    named = [
        _edge(1, 11, oracle="column_lineage"),
        _edge(1, 12, oracle="column_lineage"),
        _edge(1, 12, oracle="lineage_facet"),
        _edge(1, 1, oracle="column_lineage"),
    ]

    assert _findings(spark, named, [_edge(1, 11)]) == [(1, 12, "edge_missing", "lineage_facet")]


def test_counting_agreements_would_let_a_run_confirm_itself(spark, monkeypatch):
    """Run the mutant of the test above: edges that agree count as well."""
    monkeypatch.setattr(module, "_SAYS", "true")
    named = [_edge(1, 11, oracle="column_lineage")]

    assert _findings(spark, named, [_edge(1, 11)]) == [(1, 11, "good", "column_lineage")]


def test_a_file_agrees_with_its_folder_and_a_whole_event_log_is_believed_alone(spark):
    """Match the folder of a file, as the listener names it; ignore other witnesses of write 2."""
    named = [
        _edge(1, 11, upstream_name="/in/a/f", oracle="column_lineage"),
        _edge(2, 11, oracle="column_lineage"),
    ]

    assert _findings(spark, named, [_edge(1, 12, upstream_name="/in/a")], whole=[2]) == []


def test_another_spelling_of_an_input_is_that_input(spark):
    """Match without the database and in another case; a like name elsewhere is another dataset."""
    inputs = {"upstream_namespace": "pg", "upstream_name": "Data.public.users"}
    named = [
        _edge(
            1, 12, upstream_namespace="PG", upstream_name="public.USERS", oracle="column_lineage"
        ),
        _edge(1, 13, upstream_namespace="pg", upstream_name="x.users"),
        _edge(1, 14, upstream_namespace="pg", upstream_name="c.users"),
        _edge(1, 15, upstream_namespace="my", upstream_name="users"),
        _edge(2, 16, upstream_namespace="pg", upstream_name="users"),
    ]

    named = [{**edge, "oracle": "column_lineage"} for edge in named]
    found = _findings(spark, named, [_edge(1, 11, **inputs)])

    assert [row[:2] for row in found] == [(1, 13), (1, 14), (1, 15), (2, 16)]


def _columns(*names: str):
    fields = {"id": {"inputFields": [{"namespace": "n", "name": n, "field": "f"} for n in names]}}
    return {"columnLineage": {"fields": fields}}


@pytest.fixture
def lander(catalog, tmp_path, at):
    """Return a lander of batches at noon."""
    return Lander(catalog, tmp_path, at(12))


def _checks(catalog):
    with catalog.connect() as connection:
        rows = connection.execute(
            text("""
            SELECT u.name, d.name, c.outcome, c.oracle, c.root_run_id FROM edge_check c
            JOIN dataset u ON u.dataset_key = c.upstream_key
            JOIN dataset d ON d.dataset_key = c.downstream_key ORDER BY 1, 2
            """)
        )
        return [tuple(row) for row in rows]


def _turn(spark, catalog, now):
    found = check_facets(spark, catalog, now, SETTLE)
    evaluate_edges(spark, catalog, DEFAULT, now, settle=SETTLE)
    return found


def _m4(catalog):
    states = tables.dataset_state
    query = states.select().where(states.c.sli == "M4")
    with catalog.connect() as connection:
        rows = connection.execute(query).mappings().all()
    return [(row["state"], row["reason"], row["evidence"]) for row in rows]


@pytest.mark.postgres_nightly
def test_inputs_that_come_in_time_agree_and_others_make_the_dataset_bad_until_the_next_write(
    spark, catalog, lander, at
):
    """Judge after the time to settle only, also where START comes after COMPLETE."""
    lander.land(run_event("COMPLETE", at(9), outputs=[("t", _columns("a", "b"))]))
    lander.land(run_event("START", at(8), inputs=["a"]))
    renew_policies(catalog, DEFAULT)

    assert _turn(spark, catalog, at(12, 4)) == 0
    assert _turn(spark, catalog, at(12, 5)) == 1
    assert _checks(catalog) == [("b", "t", "edge_missing", "column_lineage", "r1")]
    named = "run r1: its column lineage names n b, its inputs do not"
    assert _m4(catalog) == [("bad", "edge_missing", named)]
    assert _turn(spark, catalog, at(12, 6)) == 0

    lander.land(run_event("COMPLETE", at(10), run="r2", inputs=["a"], outputs=["t"]))
    evaluate_edges(spark, catalog, DEFAULT, at(12, 4), settle=SETTLE)
    assert [state for state, *_ in _m4(catalog)] == ["bad"]
    evaluate_edges(spark, catalog, DEFAULT, at(12, 7), settle=SETTLE)
    assert _m4(catalog) == []


@pytest.mark.postgres_nightly
def test_a_run_that_has_not_written_is_not_compared_yet(spark, catalog, lander, at):
    """Wait: a run may take hours from its START with the facet to its COMPLETE with the write."""
    lander.land(run_event("START", at(8), outputs=[("t", _columns("b"))]))

    assert check_facets(spark, catalog, at(13), SETTLE) == 0

    lander.land(run_event("COMPLETE", at(11), inputs=["a"]))

    assert check_facets(spark, catalog, at(13), SETTLE) == 1


def test_the_event_log_takes_back_findings_of_others_about_a_write_that_it_has_whole(
    spark, catalog, lander, at
):
    """Withdraw the findings of facets: the late, complete log lacks those reads."""
    lander.land(run_event("COMPLETE", at(9), inputs=["a"], outputs=[("t", _columns("a", "b"))]))
    check_facets(spark, catalog, at(13), SETTLE)
    assert [row[3] for row in _checks(catalog)] == ["column_lineage"]

    _log(catalog, at(9))
    compare(spark, catalog, at(14))

    assert _checks(catalog) == [("a", "t", "good", "event_log", "r1")]


def _log(catalog, when):
    """Write an application's log: one complete, settled execution that read `a` and wrote `t`."""
    execution = {
        "execution_key": 1,
        "group_key": 1,
        "application_id": "app",
        "execution_id": 0,
        "started_at": to_micros(when),
        "ended_at": to_micros(when),
        "is_whole": True,
        "is_settled": True,
        "is_checked": False,
    }
    touched = [
        {"execution_key": 1, "dataset_key": key("n", name), "direction": direction}
        for name, direction in (("a", "read"), ("t", "write"))
    ]
    with catalog.begin() as connection:
        connection.execute(
            tables.application.insert(), {"application_id": "app", "root_run_id": "r1"}
        )
        connection.execute(tables.execution.insert(), execution)
        connection.execute(tables.execution_io.insert(), touched)
