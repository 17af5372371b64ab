"""Upserts: rows fold commutatively, and each statement is built once a process."""

from itertools import permutations

import pytest
from sqlalchemy import insert, select, text, update

from lineage.catalog import tables
from lineage.catalog.upsert import at_the_later, greatest, prepare, upsert

_QUERY = """
    SELECT 'dataset' AS subject, 7 AS subject_key, 'sales' AS owner,
        CAST(:type AS TEXT) AS type, CAST(:seen AS BIGINT) AS last_seen_at
"""
_FOLDS = {
    "type": at_the_later("last_seen_at", ties=greatest),
    "last_seen_at": greatest,
}
_EVENTS = [("a", 3), ("b", 5), ("c", 5), (None, 4)]


def _fold(engine, events):
    with engine.begin() as connection:
        connection.execute(tables.ownership.delete())
        for kind, seen in events:
            upsert(connection, tables.ownership, _QUERY, _FOLDS, given={"type": kind, "seen": seen})
        columns = tables.ownership.c
        return connection.execute(select(columns.type, columns.last_seen_at)).one()


def test_rows_are_the_same_in_any_order(catalog):
    """Keep the value of the latest row, or the greater of two with the same time."""
    assert {tuple(_fold(catalog, events)) for events in permutations(_EVENTS)} == {("c", 5)}


def test_a_statement_is_built_once(embedded):
    """Build it once a process: building one takes as long as running twenty."""
    first, second = (
        prepare(
            embedded.dialect,
            tables.ownership,
            _QUERY,
            {"type": at_the_later("last_seen_at", ties=greatest), "last_seen_at": greatest},
        )
        for _ in range(2)
    )

    assert first is second


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_updated_datasets_have_room_in_their_pages(catalog):
    """Update a third of the rows at least without new index entries.

    Mutant: without migration 0025 the pages are full, and hardly a row has room.
    """
    of_all = {"namespace": "shop", "first_seen_at": 0, "last_seen_at": 0}
    rows = [
        {**of_all, "dataset_key": key, "canonical_key": key, "name": f"table_{key}"}
        for key in range(2_000)
    ]
    with catalog.begin() as connection:
        connection.execute(insert(tables.dataset), rows)
    with catalog.begin() as connection:
        connection.execute(update(tables.dataset).values(last_seen_at=1))
        inside = connection.scalar(
            text("SELECT n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'dataset'")
        )

    assert inside > len(rows) / 3
