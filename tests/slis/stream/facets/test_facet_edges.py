"""Edges from `lineage` facets and column lineage, through the stream."""

import pytest

from lineage import origins
from slis.stream.facets import facet_edges
from slis.stream.facets.lineage_facets import sources_by_target, sources_of
from tests.slis.stream.spools import columns, rows, run_event, symlink

_SAME_SQL = "the SQL of a batch that stores edges: two tests of this file run on it"
_EDGES = """
    SELECT u.name, d.name, e.job_name, e.runs FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2, 3
"""
_STORED = """
    SELECT root_run_id, d.name, t.upstream_name, t.oracle FROM edge_told t
    JOIN dataset d ON d.dataset_key = t.downstream_key ORDER BY 1, 2, 3, 4
"""


def _source(name: str, kind: str = "DATASET"):
    return {"namespace": "n", "name": name, "type": kind}


def _entry(name, sources=(), fields=None):
    return {**_source(name), "inputs": list(sources), "fields": fields or {}}


def _job_event(at, *, lineage=None, inputs=(), outputs=()):
    event = run_event("OTHER", at, job="declared", inputs=inputs, outputs=outputs)
    facets = {} if lineage is None else {"lineage": {"entries": lineage}}
    job = {"namespace": "j", "name": "declared", "facets": facets}
    return {**{k: v for k, v in event.items() if k not in ("run", "eventType")}, "job": job}


@pytest.mark.postgres_nightly
def test_the_lineage_facet_of_a_job_event_declares_edges_of_entities_and_of_fields(
    lander, catalog, at
):
    """Use an entry for an output instead of all inputs times all outputs; leave jobs out."""
    lander.land(
        _job_event(
            at(9),
            inputs=["a", "b"],
            outputs=["t", "u", "v"],
            lineage=[
                _entry(
                    "t", [_source("a")], {"id": {"inputs": [_source("c"), _source("x", "JOB")]}}
                ),
                _entry("v"),
                {"type": "JOB", "inputs": [_source("b")]},
                _entry("w", [_source("c")]),
            ],
        )
    )

    assert rows(catalog, _EDGES) == [
        ("a", "t", "declared", 0),
        ("a", "u", "declared", 0),
        ("b", "u", "declared", 0),
        ("c", "t", "declared", 0),
        ("c", "w", "declared", 0),
    ]
    assert rows(catalog, _STORED) == []


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_keeping_all_pairs_would_hide_the_entries(lander, catalog, at, monkeypatch):
    """Run the mutant of the test above, which keeps all inputs times all outputs."""
    monkeypatch.setattr(facet_edges.FacetEdges, "_targets", lambda _self, _lineage: set())
    lander.land(_job_event(at(9), inputs=["a", "b"], outputs=["t"], lineage=[_entry("t")]))

    assert [row[:2] for row in rows(catalog, _EDGES)] == [("a", "t"), ("b", "t")]


@pytest.mark.postgres_nightly
def test_the_lineage_facet_of_a_dataset_declares_by_a_job_event_and_by_its_own(lander, catalog, at):
    """Credit the job for an output; a DatasetEvent names no job."""
    facet = {"lineage": {"inputs": [_source("a")]}}
    of_dataset = _job_event(at(9), outputs=[("s", facet)])
    dataset = of_dataset.pop("outputs")[0]
    del of_dataset["job"], of_dataset["inputs"]
    lander.land(_job_event(at(9), inputs=["b"], outputs=[("t", facet), "u"]))
    lander.land({**of_dataset, "dataset": dataset})

    assert rows(catalog, _EDGES) == [
        ("a", "s", "", 0),
        ("a", "t", "declared", 0),
        ("b", "u", "declared", 0),
    ]


@pytest.mark.postgres_nightly(_SAME_SQL)
@pytest.mark.parametrize("is_reversed", [False, True], ids=["inputs first", "outputs first"])
def test_matching_column_lineage_and_inputs_leave_no_row(lander, catalog, at, is_reversed):
    """Compare in one batch of any order; keep the missing input, but not the output itself."""
    events = [
        run_event("START", at(8), inputs=["a"]),
        run_event("COMPLETE", at(9), outputs=[("t", columns("a", "b", "t"))]),
    ]
    lander.land(*(reversed(events) if is_reversed else events))

    assert rows(catalog, _STORED) == [("r1", "t", "b", "column_lineage")]
    assert rows(catalog, "SELECT count(*) FROM dataset WHERE name = 'b'") == [(0,)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_column_lineage_may_name_an_input_by_its_other_name(lander, catalog, at):
    """Match a table by its name in the metastore, of which no event reports."""
    lander.land(
        run_event(
            "COMPLETE",
            at(9),
            inputs=[("/wh/a", symlink("db.a"))],
            outputs=[("t", columns("db.a", "/wh/a/dt=2026-11-20"))],
        )
    )

    assert rows(catalog, _STORED) == []


def test_the_lineage_facet_of_a_run_is_compared_with_its_inputs(lander, catalog, at):
    """Compare the facets of its job and of its output, which declare nothing."""
    event = run_event(
        "COMPLETE",
        at(9),
        inputs=["a"],
        outputs=[("t", {"lineage": {"fields": {"id": {"inputs": [_source("b")]}}}})],
    )
    event["job"]["facets"]["lineage"] = {"entries": [_entry("t", [_source("a"), _source("c")])]}
    lander.land(event)

    assert rows(catalog, _STORED) == [
        ("r1", "t", "b", "lineage_facet"),
        ("r1", "t", "c", "lineage_facet"),
    ]
    assert [row[:2] for row in rows(catalog, _EDGES)] == [("a", "t")]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_history_loads_are_not_compared(lander, catalog, at):
    """Skip runs of the past: nobody fixes them."""
    event = run_event("COMPLETE", at(9), outputs=[("t", columns("b"))])
    lander.land(event, origin=origins.HISTORY)

    assert rows(catalog, "SELECT count(*) FROM dataset_write") == [(1,)]
    assert rows(catalog, _STORED) == []


@pytest.mark.parametrize("raw", ["5", '"x"', "[]", "{", "[" * 5_000, '{"entries": 5, "inputs": 5}'])
def test_an_invalid_facet_names_nothing(raw):
    """Return nothing for a facet of another type, without an error."""
    assert sources_of(raw) is None
    assert sources_by_target(raw) == {}


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_one_odd_entry_does_not_hide_the_others(lander, catalog, at):
    """Land the event with its valid entries."""
    odd = {"inputs": [5, {"type": 1}, _source(""), _source("b")], "fields": {"id": 5}}
    event = _job_event(at(9), inputs=["a"], outputs=["t", ("u", {"lineage": odd})])
    event["job"]["facets"]["lineage"] = {"entries": [5, {"type": "DATASET"}, _entry("t")]}
    lander.land(event)

    assert rows(catalog, _EDGES) == [("b", "u", "declared", 0)]
