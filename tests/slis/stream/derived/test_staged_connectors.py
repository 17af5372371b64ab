"""Edges of connectors, merged by staged rows alone."""

import pytest
from sqlalchemy import text

from slis.stream.derived import connectors
from slis.stream.staging import staging
from tests.slis.stream.spools import rows
from tests.slis.stream.staged import merge_staged, staged_run

_EDGES = """
    SELECT u.name, d.name, e.runs FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2
"""
_TOPIC = {"shop.orders": []}
_DEBEZIUM = {"integration": "DEBEZIUM", "kind": "RUNNING", "root": "c1"}


def test_an_input_that_matches_replaces_those_that_were_known_before(embedded, at):
    """Name the other tables alone in the first event."""
    merge_staged(
        embedded,
        [staged_run(at(8), inputs=["a.x", "a.y"], outputs=_TOPIC, **_DEBEZIUM)],
        [staged_run(at(9), inputs=["a.orders"], outputs=_TOPIC, **_DEBEZIUM)],
    )

    assert rows(embedded, _EDGES) == [("a.orders", "shop.orders", 1)]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_two_tasks_with_one_root_run_keep_the_edges_of_each_other(embedded, at, is_reversed):
    """Write one topic by both, each from a table of its own."""
    batches = [
        [staged_run(at(8), run=f"t{task}", inputs=[table], outputs=_TOPIC, **_DEBEZIUM)]
        for task, table in enumerate(["a.orders", "b.orders"])
    ]
    merge_staged(embedded, *(reversed(batches) if is_reversed else batches))

    assert rows(embedded, _EDGES) == [
        ("a.orders", "shop.orders", 1),
        ("b.orders", "shop.orders", 1),
    ]


def test_no_table_is_read_whole_to_find_outdated_edges(embedded):
    """Search by keys: an estate has 10^8 runs."""
    with embedded.connect() as connection:
        staging.create(connection)
        plan = connection.execute(text(f"EXPLAIN QUERY PLAN {connectors._OUTDATED}"))  # noqa: SLF001
        scans = {row.detail.split()[1] for row in plan if row.detail.startswith("SCAN ")}

    assert scans == {"c", "t_pair"}
