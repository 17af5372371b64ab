"""Infer the inputs of runs from facets, by staged rows alone."""

import pytest
from spools import rows
from staged import merge_staged, staged_run

_EDGES = """
    SELECT u.name, d.name, e.origin, e.runs FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2
"""


@pytest.mark.parametrize("is_later", [False, True], ids=["one batch", "two batches"])
def test_a_stream_without_inputs_has_those_of_its_facets_once_data_goes_out(embedded, at, is_later):
    """A stream never completes: it has written when its RUNNING says so."""
    start = staged_run(at(8), outputs={"t": ["a"]}, kind="START")
    running = staged_run(at(9), outputs={"t": []}, kind="RUNNING")
    merge_staged(embedded, *([[start], [running]] if is_later else [[start, running]]))

    assert rows(embedded, _EDGES) == [("a", "t", "column_lineage", 1)]
    assert rows(embedded, "SELECT names_input FROM dataset_write") == [(True,)]
