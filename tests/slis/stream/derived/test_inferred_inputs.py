"""Inputs of runs without inputs, inferred from the facets of their outputs."""

import pytest

from tests.slis.stream.spools import columns, rows, run_event, symlink

_EDGES = """
    SELECT u.name, d.name, e.origin, e.runs, e.last_reported_at IS NOT NULL FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2
"""
_RUN_EDGES = """
    SELECT u.name, e.root_run_id, e.origin FROM edge_run e
    JOIN dataset u ON u.dataset_key = e.upstream_key ORDER BY 1, 2
"""
_NAMES_INPUT = """
    SELECT d.name, w.names_input FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1
"""


def test_a_run_without_inputs_has_those_that_its_column_lineage_names(lander, catalog, at):
    """Store edges from the sources of each output alone, and count no reads of these."""
    lander.land(
        run_event(
            "COMPLETE",
            at(9),
            outputs=[("t", columns("people", "sales", "t")), ("u", columns("people")), "v"],
        )
    )

    inferred = ("column_lineage", 1, True)
    assert rows(catalog, _EDGES) == [
        ("people", "t", *inferred),
        ("people", "u", *inferred),
        ("sales", "t", *inferred),
    ]
    assert rows(catalog, _NAMES_INPUT) == [("t", True), ("u", True), ("v", False)]
    assert rows(catalog, "SELECT count(*) FROM dataset_read") == [(0,)]
    assert rows(catalog, "SELECT count(*) FROM edge_told") == [(0,)]


@pytest.mark.postgres_nightly
def test_a_merge_that_names_its_target_alone_has_the_sources_of_its_columns(lander, catalog, at):
    """Read what it writes, and a source that is known by its path."""
    lander.land(run_event("COMPLETE", at(7), run="r0", outputs=[("/wh/a", symlink("db.a"))]))
    lander.land(run_event("COMPLETE", at(9), inputs=["t"], outputs=[("t", columns("t", "db.a"))]))

    assert rows(catalog, _EDGES) == [
        ("/wh/a", "t", "column_lineage", 1, True),
        ("t", "t", None, 1, True),
    ]


@pytest.mark.parametrize("is_reversed", [False, True], ids=["inputs last", "inputs first"])
def test_inputs_replace_the_inferred_ones_whenever_they_come(lander, catalog, at, is_reversed):
    """Replace the inputs of r1 by `a`, and leave `b` to M4; keep the inferred ones of r0."""
    lander.land(run_event("COMPLETE", at(7), run="r0", outputs=[("t", columns("b"))]))
    events = [
        run_event("COMPLETE", at(9), outputs=[("t", columns("a", "b"))]),
        run_event("START", at(8), inputs=["a"]),
    ]
    for event in reversed(events) if is_reversed else events:
        lander.land(event)

    assert rows(catalog, _EDGES) == [
        ("a", "t", None, 1, True),
        ("b", "t", "column_lineage", 1, True),
    ]
    assert rows(catalog, _RUN_EDGES) == [("a", "r1", None), ("b", "r0", "column_lineage")]
    last_seen = "SELECT last_seen_at = last_reported_at, seen_at = last_seen_at FROM edge JOIN"
    last_seen += " edge_run USING (upstream_key, downstream_key, job_key)"
    assert set(rows(catalog, last_seen)) == {(True, True)}
    assert rows(catalog, "SELECT root_run_id, upstream_name FROM edge_told") == [("r1", "b")]
    assert rows(catalog, "SELECT count(*) FROM inferred_input") == [(1,)]
    assert (
        rows(
            catalog,
            "SELECT name, names_input FROM dataset_write JOIN dataset "
            "USING (dataset_key) ORDER BY root_run_id",
        )
        == [("t", True)] * 2
    )


@pytest.mark.postgres_nightly
def test_a_run_that_has_not_completed_has_no_inferred_inputs(lander, catalog, at):
    """Send its START first; its inputs may follow, and its COMPLETE names nothing."""
    lander.land(run_event("COMPLETE", at(7), run="r0", outputs=["b"]))
    lander.land(run_event("START", at(8), outputs=[("t", columns("a", "b"))]))
    assert rows(catalog, _EDGES) == []
    assert rows(catalog, "SELECT name FROM dataset ORDER BY 1") == [("b",), ("t",)]

    lander.land(run_event("COMPLETE", at(9)))
    inferred = [(upstream, "t", "column_lineage") for upstream in ("a", "b")]
    assert [row[:3] for row in rows(catalog, _EDGES)] == inferred


@pytest.mark.postgres_nightly
def test_inferred_inputs_move_with_their_run_to_its_parent(lander, catalog, at):
    """Count the edge once, for the parent that only the START names."""
    lander.land(
        run_event("COMPLETE", at(9), run="r2", job="t", outputs=[("t", columns("a"))], **_MODEL)
    )
    lander.land(run_event("START", at(8), run="r2", job="t", root=("r1", "dbt"), **_MODEL))

    assert rows(catalog, _RUN_EDGES) == [("a", "r1", "column_lineage")]
    assert rows(catalog, _EDGES) == [("a", "t", "column_lineage", 1, True)]


_MODEL = {"integration": "DBT", "job_type": "MODEL"}
