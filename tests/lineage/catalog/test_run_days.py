"""Exchange of plain tables of runs for partitioned ones, and migration 0020 before it."""

import threading
import time

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, select, text

from lineage.catalog import partitions, run_days, tables
from lineage.catalog.engine import exclusive_transaction, migrate, write_transaction
from lineage.catalog.partitions import add_partitions
from lineage.catalog.run_days import has_days, partition_runs
from lineage.catalog.upsert import fold_rows
from tests.lineage.catalog.partitioned import (
    NOW,
    ago,
    check_rights,
    counts,
    io_row,
    partition_names,
    put,
    run_row,
    runs,
)

pytestmark = pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
_NEW_PARTS = ["run_undated", "run_io_undated"]
_DAY = ago(0) // 86_400_000_000 * 86_400_000_000
_FILES = """
    SELECT c.relname, pg_relation_filenode(c.oid) FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = CAST(:name AS regclass)
"""
_FILE = "SELECT pg_relation_filenode(CAST(:name AS regclass))"
_COLUMNS = "run_key, run_id, job_namespace, job_name, root_run_id, root_job_namespace, \
root_job_name, first_event_at, last_event_at, landed_at, is_history"
# Of the release before, which names a key without the day.
_OLD_MERGE = (
    f"""
    INSERT INTO run ({_COLUMNS}) VALUES
    (:key, 'r', 'n', 'j', 'r', 'n', 'j', :at, :at, :at, false)
    ON CONFLICT (run_key) DO UPDATE SET last_event_at = excluded.last_event_at
    """,  # noqa: S608 - names of ours
    """
    INSERT INTO run_io (run_key, dataset_key, direction, first_event_at, last_event_at, landed_at,
        has_statistics, is_reported)
    VALUES (:key, 1, 'write', :at, :at, :at, false, true)
    ON CONFLICT (run_key, dataset_key, direction) DO UPDATE
    SET last_event_at = excluded.last_event_at
    """,
)


@pytest.fixture
def stored(at_revision) -> Engine:
    """Return a catalog of the release before, with two runs and a batch, migrated."""
    first = at_revision("0019")
    _merge_old(first, 1, 5)
    _merge_old(first, 2, 6)
    put(first, tables.batch, _BATCH)
    migrate(first)
    return first


_BATCH = {"query_id": "q", "batch_id": 0, "after_seq": 0, "last_seq": 1, "events": 1}
_BATCH |= {"duplicates": 0, "history": 0, "landed_at": 1}


def _merge_old(engine, key, at):
    with exclusive_transaction(engine) as connection:
        for statement in _OLD_MERGE:
            connection.execute(text(statement), {"key": key, "at": at})


def _merge(engine, *rows):  # noqa: ANN002
    """Merge runs, each with an output, as a batch of this release does."""
    with exclusive_transaction(engine) as connection:
        fold_rows(connection, tables.run, [run_row(*row) for row in rows])
        fold_rows(connection, tables.run_io, [io_row(*row) for row in rows])


def _values(engine, sql, **given):  # noqa: ANN003
    with engine.connect() as connection:
        return dict(tuple(row) for row in connection.execute(text(sql), given))


def _value(engine, sql, **given):  # noqa: ANN003
    with engine.connect() as connection:
        return connection.scalar(text(sql), given)


def _exchange(engine):
    return partition_runs(engine, exclusive_transaction)


def _is_exchanged(engine):
    with engine.connect() as connection:
        return has_days(connection)


def test_the_release_before_merges_after_the_migration(stored):
    """Fold into rows by the key without the day; new rows have day 0."""
    _merge_old(stored, 2, 7)
    _merge_old(stored, 3, 8)

    assert not _is_exchanged(stored)
    assert runs(stored)[0] == [(1, 0, 5), (2, 0, 7), (3, 0, 8)]
    assert runs(stored)[1] == [(key, 1, "write", 0, at) for key, at in ((1, 5), (2, 7), (3, 8))]


def test_merges_go_on_before_and_after_the_exchange(stored):
    """Fold by the key with the day, which both tables have."""
    _merge(stored, (2, 7), (3, 8))
    _exchange(stored)
    _merge(stored, (2, 9), (4, 10, _DAY))

    assert runs(stored)[0] == [(1, 0, 5), (2, 0, 9), (3, 0, 8), (4, _DAY, 10)]
    assert counts(stored, "run") == {"run_undated": 3, "run_default": 1}
    assert counts(stored, "run_io") == {"run_io_undated": 3, "run_io_default": 1}


def test_an_exchange_copies_no_row_and_makes_no_index(stored):
    """Make the old tables partitions as they are, with their indexes: the keys have the day."""
    before = runs(stored)
    files = {name: _value(stored, _FILE, name=name) for name in ("run", "run_io")}
    indexes = {name: set(_values(stored, _FILES, name=name).values()) for name in files}

    assert _exchange(stored) == _NEW_PARTS

    assert runs(stored) == before
    assert files == {name: _value(stored, _FILE, name=f"{name}_undated") for name in files}
    for name, old in indexes.items():
        kept = set(_values(stored, _FILES, name=f"{name}_undated").values())
        # The key without the day is gone.
        assert kept < old
        assert len(kept) == len(old) - 1
        assert len(_values(stored, _FILES, name=name)) == len(kept)


def test_an_exchange_looks_at_its_own_schema(stored):
    """Exchange beside another Lineward in the same database whose tables are bound already."""
    beside = f"{_value(stored, 'SELECT current_schema()')}_beside"
    with stored.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {beside}"))
        bound = "(day BIGINT CONSTRAINT run_undated CHECK (day = 0))"
        connection.execute(text(f"CREATE TABLE {beside}.run {bound}"))

    assert _exchange(stored) == _NEW_PARTS

    with stored.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {beside} CASCADE"))


def test_a_partition_of_runs_has_the_key_and_indexes_of_its_table(stored):
    """Make the partition of this month right after the exchange; the same as in a new catalog."""
    _exchange(stored)
    made = add_partitions(stored, NOW, exclusive_transaction)
    _merge(stored, (4, 10, _DAY))

    assert {"run_20261103", "run_io_20261103"} <= set(made)
    assert counts(stored, "run") == {"run_undated": 2, "run_20261103": 1}
    keys = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p'"
    found = _values(stored, keys)
    for part in ("run", "run_undated", "run_default", "run_20261103"):
        assert found[f"{part}_pkey"] == "PRIMARY KEY (run_key, day)"


def test_an_exchange_is_done_once(stored, catalogs):
    """Do nothing in a second turn, nor in a new catalog."""
    assert _exchange(stored) == _NEW_PARTS
    assert _exchange(stored) == []
    fresh = catalogs()
    assert _is_exchanged(fresh)
    assert _exchange(fresh) == []


def test_plain_tables_get_no_partitions(stored):
    """Leave them to a later turn."""
    made = add_partitions(stored, NOW, exclusive_transaction)

    assert [name for name in made if name.startswith("run")] == []


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_killed_exchange_continues(stored, steps):
    """End after each step; batches of both releases land, and the next turn does the rest."""
    for step in (run_days.bound, run_days.validate, run_days.exchange_runs)[:steps]:
        with write_transaction(stored) as connection:
            step(connection)
    _merge(stored, (3, 8))
    if steps < 3:
        _merge_old(stored, 1, 7)

    assert _exchange(stored) == (_NEW_PARTS if steps < 3 else [])

    assert [key for key, *_ in runs(stored)[0]] == [1, 2, 3]
    assert counts(stored, "run") == {"run_undated": 3}


def test_an_exchange_that_fails_leaves_the_tables_as_they_were(stored, monkeypatch):
    """End within the last step: neither of both tables is exchanged without the other."""
    exchanged = []

    def die_at_the_second(connection, given):
        if exchanged:
            raise KeyboardInterrupt
        exchanged.append(given.table)
        original(connection, given)

    original = run_days.exchange
    monkeypatch.setattr(run_days, "exchange", die_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        _exchange(stored)
    monkeypatch.undo()

    assert exchanged == ["run"]
    assert [name for name in partition_names(stored) if name.startswith("run")] == []
    assert _exchange(stored) == _NEW_PARTS


def test_an_exchange_has_looked_at_all_rows_before_it_locks_a_table(stored, monkeypatch):
    """Validate first: PostgreSQL would read all rows under the lock without the constraint."""
    monkeypatch.setattr(run_days, "exchange_runs", _die)
    with pytest.raises(KeyboardInterrupt):
        _exchange(stored)

    valid = "SELECT count(*) FROM pg_constraint WHERE conname LIKE '%_undated' AND convalidated"
    assert _value(stored, valid) == 2


def _die(_connection):
    raise KeyboardInterrupt


def test_a_reader_of_hours_delays_the_exchange_and_no_batch(stored, monkeypatch):
    """Let a backup read what runs wrote: batches land, and a later turn exchanges the tables."""
    monkeypatch.setattr(partitions, "_TRIES", 2)
    monkeypatch.setattr(partitions, "_LOCK_MILLISECONDS", 50)
    with stored.connect() as backup:
        backup.execute(select(tables.run_io)).all()
        assert _exchange(stored) == []
        _merge(stored, (3, 8))
        _merge_old(stored, 3, 9)

    assert _exchange(stored) == _NEW_PARTS
    assert runs(stored)[0][2] == (3, 0, 9)


def test_batches_and_readers_go_on_during_an_exchange(stored):
    """Read in one thread and merge in another: neither fails, and no row is missing or double."""
    failures, landed, read, is_over = [], [], [], threading.Event()

    def repeat(work, done):
        try:
            while not is_over.is_set():
                done.append(work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test shows it
            failures.append(error)

    def land():
        with exclusive_transaction(stored) as connection:
            day = _DAY if has_days(connection) else 0
            key = len(landed) + 10
            fold_rows(connection, tables.run, [run_row(key, key, day), run_row(1, key)])
            fold_rows(connection, tables.run_io, [io_row(key, key, day)])
        return day

    threads = [
        threading.Thread(target=repeat, args=(land, landed)),
        threading.Thread(target=repeat, args=(lambda: len(runs(stored)[0]), read)),
    ]
    for thread in threads:
        thread.start()
    while not _exchange(stored) and not failures:
        time.sleep(0.01)
    before = len(landed)
    while len(landed) <= before + 1 and not failures:
        time.sleep(0.01)
    is_over.set()
    for thread in threads:
        thread.join()

    assert failures == []
    assert read == sorted(read)
    assert [key for key, *_ in runs(stored)[0]] == [1, 2, *range(10, 10 + len(landed))]
    assert counts(stored, "run") == {
        "run_undated": 2 + landed.count(0),
        "run_default": landed.count(_DAY),
    }


def test_permissions_on_the_tables_are_kept(stored):
    """Keep the rights of a role that Grafana connects as."""
    check_rights(stored, ("run", "run_io"), _exchange)


def test_the_planner_has_statistics_right_after_the_exchange(stored):
    """Count both tables: autovacuum counts single partitions only."""
    _exchange(stored)

    assert _value(stored, "SELECT reltuples FROM pg_class WHERE relname = 'run'") == 2


@pytest.mark.parametrize("is_exchanged", [False, True])
def test_a_downgrade_keeps_the_rows(stored, is_exchanged):
    """Make plain tables with their keys of before, from which an upgrade starts again."""
    if is_exchanged:
        _exchange(stored)
        _merge(stored, (4, 10, _DAY))
    keys = [key for key, *_ in runs(stored)[0]]
    with write_transaction(stored) as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0019")
    _merge_old(stored, 4, 11)

    migrate(stored)

    assert _exchange(stored) == _NEW_PARTS
    assert runs(stored)[0][-1] == (4, 0, 11)
    assert [key for key, *_ in runs(stored)[0]] == sorted({*keys, 4})
    assert len(_values(stored, _FILES, name="run")) == 10


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "lineage/catalog/migrations")
    return config
