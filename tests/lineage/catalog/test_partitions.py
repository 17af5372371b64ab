"""Partitions of large tables in PostgreSQL: made ahead, and never missed by a batch."""

from datetime import timedelta

import pytest
from sqlalchemy import select, text

from lineage.catalog import partitions, tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.grown_tables import ROWS
from lineage.catalog.partitions import add_partitions
from lineage.catalog.retention import RANGES
from lineage.catalog.upsert import fold_rows
from tests.lineage.catalog.partitioned import (
    NOW,
    ago,
    counts,
    event_row,
    events,
    make_partition,
    put,
    put_datasets,
    remove,
    write_row,
    writes,
)

_postgres = pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
_MONTH, _NEXT = "dataset_write_20261103", "dataset_write_20261203"
_NEXT_RUNS = ["run_20261203", "run_io_20261203"]
_RUNS = ["run_20261103", "run_io_20261103"]
_DAYS = [f"event_202611{day}" for day in range(25, 31)] + ["event_20261201", "event_20261202"]


@_postgres
def test_the_tables_with_ranges_are_the_partitioned_ones(catalog):
    """Compare the three places that name the column: the table, its rule and the migration."""
    found = (
        "SELECT partrelid::regclass::text, pg_get_partkeydef(partrelid) FROM pg_partitioned_table"
    )
    with catalog.connect() as connection:
        migrated = dict(tuple(row) for row in connection.execute(text(found)))
    declared = {
        name: by
        for name, table in tables.metadata.tables.items()
        if (by := table.dialect_options["postgresql"]["partition_by"])
    }

    assert migrated == declared
    assert declared == {name: f"RANGE ({ranges.column})" for name, ranges in RANGES.items()}


@_postgres
def test_partitions_are_made_for_a_week_ahead_and_once(catalog):
    """Make none in a second turn; a day later make one more."""
    made = sorted(add_partitions(catalog, NOW, exclusive_transaction))
    assert made == sorted([_MONTH, *_DAYS, *_RUNS])
    assert add_partitions(catalog, NOW, exclusive_transaction) == []
    tomorrow = NOW + timedelta(days=1)
    assert sorted(add_partitions(catalog, tomorrow, exclusive_transaction)) == [
        _NEXT,
        "event_20261203",
        *_NEXT_RUNS,
    ]


def test_sqlite_has_plain_tables(embedded):
    """Make no partitions on SQLite."""
    assert add_partitions(embedded, NOW, exclusive_transaction) == []


@_postgres
def test_a_batch_needs_no_partition(catalog):
    """Store rows of any time once, and fold them, without any partition."""
    rows = [event_row(at) for at in (0, ago(0), ago(-400), ago(-26_000))]
    for _ in range(2):
        with exclusive_transaction(catalog) as connection:
            fold_rows(connection, tables.event, rows)

    assert events(catalog) == [row["event_time"] for row in rows]
    assert counts(catalog, "event") == {"event_default": 4}


@_postgres
def test_rows_that_came_before_their_partition_move_into_it(catalog):
    """Move the rows of a pipeline that stood still: none is lost, and none stays behind."""
    put(catalog, tables.event, *(event_row(ago(days)) for days in (900, 1, 0, -1, -900)))
    put(catalog, tables.dataset_write, *(write_row(1, ago(days)) for days in (900, 1, -900)))
    before = events(catalog), writes(catalog)

    add_partitions(catalog, NOW, exclusive_transaction)

    assert (events(catalog), writes(catalog)) == before
    moved = {"event_default": 3, "event_20261125": 1, "event_20261126": 1}
    assert counts(catalog, "event") == moved
    assert counts(catalog, "dataset_write") == {"dataset_write_default": 2, _MONTH: 1}
    put(catalog, tables.event, event_row(ago(0), 2))
    assert counts(catalog, "event")["event_20261125"] == 2


@_postgres
def test_a_reader_of_hours_delays_partitions_and_no_batch(catalog, monkeypatch):
    """Let a backup read the default partition: a batch lands, and the partition comes later."""
    monkeypatch.setattr(partitions, "_TRIES", 2)
    monkeypatch.setattr(partitions, "_LOCK_MILLISECONDS", 50)
    with catalog.connect() as backup:
        backup.execute(select(tables.event)).all()
        assert add_partitions(catalog, NOW, exclusive_transaction) == [_MONTH, *_RUNS]
        put(catalog, tables.event, event_row(ago(0)))

    assert add_partitions(catalog, NOW, exclusive_transaction) == _DAYS
    assert counts(catalog, "event") == {"event_20261125": 1}


@_postgres
def test_a_detached_day_is_not_created_again(catalog):
    """Let an operator keep today in a table of its own: all other days get theirs."""
    add_partitions(catalog, NOW, exclusive_transaction)
    with exclusive_transaction(catalog) as connection:
        for name in _DAYS[:2]:
            connection.exec_driver_sql(f"ALTER TABLE event DETACH PARTITION {name}")
        connection.exec_driver_sql(f"DROP TABLE {_DAYS[1]}")

    assert add_partitions(catalog, NOW, exclusive_transaction) == [_DAYS[1]]
    put(catalog, tables.event, event_row(ago(0)))
    assert counts(catalog, "event") == {"event_default": 1}


@_postgres
def test_a_partition_has_the_keys_and_indexes_of_its_table(catalog):
    """Give it its primary key, without which ON CONFLICT would fail in that partition."""
    name = make_partition(catalog, "dataset_write", ago(0))
    found = "SELECT indexdef FROM pg_indexes WHERE tablename = :name"
    with catalog.connect() as connection:
        indexes = {
            table: sorted(
                text_.partition("USING")[2]
                for text_ in connection.scalars(text(found), {"name": table})
            )
            for table in ("dataset_write", name)
        }

    assert indexes[name] == indexes["dataset_write"]
    assert len(indexes[name]) == 2


@_postgres
def test_the_planner_has_statistics_of_a_partitioned_table(catalog):
    """Use the rows of all partitions for joins; autovacuum counts single ones only."""
    put_datasets(catalog, 1)
    make_partition(catalog, "dataset_write", ago(0))
    put(catalog, tables.dataset_write, *(write_row(key, ago(0)) for key in range(2 * ROWS)))
    assert _expected_rows(catalog) == (2 * ROWS, 2 * ROWS)

    catalog.dispose()
    put(catalog, tables.dataset_write, *(write_row(-1 - key, ago(0)) for key in range(ROWS // 2)))
    assert _expected_rows(catalog) == (2 * ROWS, 2 * ROWS)
    remove(catalog, tables.dataset_write)


def _expected_rows(catalog):
    """Return the rows that the planner expects in the table, and in its one partition with rows."""
    query = (
        "SELECT reltuples FROM pg_class WHERE relname IN ('dataset_write', :part) ORDER BY relname"
    )
    with catalog.connect() as connection:
        return tuple(connection.scalars(text(query), {"part": _MONTH}))
