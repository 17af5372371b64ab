"""Migration 0018 of a stored catalog to partitions, while others read and write it."""

import threading
import time
from datetime import timedelta
from importlib import import_module

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, select, text

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction, migrate, write_transaction
from lineage.catalog.partitions import add_partitions, partitions
from lineage.catalog.preparations import preparations
from lineage.catalog.revision import HEAD
from lineage.catalog.upsert import fold_rows
from lineage.process.clock import system_clock, to_micros
from tests.lineage.catalog.partitioned import (
    check_rights,
    counts,
    event_row,
    events,
    partition_names,
    put,
    write_row,
    writes,
)

_MIGRATION = import_module("lineage.catalog.migrations.versions.0018_partitions")
_postgres = pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
_DAY = 86_400_000_000
_AHEAD = 400 * _DAY  # a clock was ahead by more than a year
_FILE = "SELECT pg_relation_filenode(CAST(:name AS regclass))"


@pytest.fixture
def stored(at_revision) -> Engine:
    """Return a catalog of the release before, with rows of long ago, of now and of next year."""
    first = at_revision("0017")
    now = _now()
    put(first, tables.event, *(event_row(at) for at in (1, now, now + _AHEAD)))
    put(first, tables.dataset_write, *(write_row(1, at, bucket=at) for at in (now, now + _AHEAD)))
    put(first, tables.dataset_write, write_row(1, 1, bucket=0))
    return first


def _now() -> int:
    return to_micros(system_clock())


def _value(engine, sql, **given):  # noqa: ANN003
    with engine.connect() as connection:
        return connection.scalar(text(sql), given)


def test_a_stored_catalog_keeps_its_rows(stored):
    """Keep each row once in both databases, and fold a repeated batch into it."""
    before = events(stored), writes(stored)

    migrate(stored)

    assert (events(stored), writes(stored)) == before
    with exclusive_transaction(stored) as connection:
        fold_rows(connection, tables.event, [event_row(at) for at in before[0]])
    assert (events(stored), writes(stored)) == before


@_postgres
def test_an_upgrade_copies_no_rows(stored):
    """Make the old table a partition as it is; rows of a clock that was ahead move out."""
    files = {name: _value(stored, _FILE, name=name) for name in ("event", "dataset_write")}

    migrate(stored)

    assert files == {name: _value(stored, _FILE, name=f"{name}_legacy") for name in files}
    assert counts(stored, "event") == {"event_legacy": 2, "event_default": 1}
    assert counts(stored, "dataset_write") == {
        "dataset_write_legacy": 2,
        "dataset_write_default": 1,
    }


@_postgres
def test_new_rows_go_to_partitions_of_their_own_soon_after(stored):
    """End those of before the upgrade with a range: a day of events, 30 days of writes."""
    migrate(stored)
    add_partitions(stored, system_clock(), exclusive_transaction)

    later = [_now() + days * _DAY for days in (3, 32)]
    put(stored, tables.event, event_row(later[0]))
    add_partitions(stored, system_clock() + timedelta(days=32), exclusive_transaction)
    put(stored, tables.dataset_write, write_row(2, later[1]))

    for table, most in (("event", 2), ("dataset_write", 31)):
        assert counts(stored, table).keys() - {f"{table}_legacy", f"{table}_default"}
        with stored.connect() as connection:
            parts = sorted(partitions(connection, table), key=lambda part: part.end)
        assert parts[0].name == f"{table}_legacy"
        assert _now() + _DAY // 2 < parts[0].end <= _now() + most * _DAY
        assert parts[1].start == parts[0].end


@_postgres
def test_the_release_before_writes_and_reads_meanwhile(stored):
    """Let it run its statements, which name the tables as before: none fails."""
    failures, landed, is_over = [], [], threading.Event()

    def land():
        try:
            while not is_over.is_set():
                key = len(landed) + 1
                with exclusive_transaction(stored) as connection:
                    fold_rows(connection, tables.event, [event_row(_now(), key), event_row(1, 0)])
                    fold_rows(connection, tables.dataset_write, [write_row(key, _now())])
                with stored.connect() as connection:
                    connection.execute(select(tables.event)).all()
                landed.append(key)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test shows it
            failures.append(error)

    thread = threading.Thread(target=land)
    thread.start()
    while not landed:
        time.sleep(0.01)
    before = len(landed)
    migrate(stored)
    while len(landed) <= before + 1 and not failures:
        time.sleep(0.01)
    is_over.set()
    thread.join()

    assert failures == []
    assert len(events(stored)) == 3 + len(landed)
    assert len(writes(stored)) == 3 + len(landed)


@_postgres
def test_an_upgrade_waits_for_a_reader_without_long_locks(stored):
    """Let a report read for two seconds: the upgrade does not block others for as long."""
    answered, is_over = [], threading.Event()

    def ask():
        while not is_over.is_set():
            answered.append(events(stored))

    report = stored.connect()
    report.execute(select(tables.event)).all()
    migrating = threading.Thread(target=migrate, args=(stored,))
    asking = threading.Thread(target=ask)
    migrating.start()
    asking.start()
    migrating.join(timeout=2)
    assert migrating.is_alive()
    seen = len(answered)
    while len(answered) == seen:
        time.sleep(0.01)
    assert _value(stored, "SELECT version_num FROM alembic_version") == "0017"
    report.close()
    migrating.join()
    is_over.set()
    asking.join()

    assert _value(stored, "SELECT version_num FROM alembic_version") == HEAD


@_postgres
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_killed_upgrade_continues(stored, steps):
    """Commit each step, so that the next start does what is left."""
    before = events(stored), writes(stored)
    for revision, work in list(preparations(stored, _config(), "head"))[:steps]:
        assert revision == "0017"
        with write_transaction(stored) as connection:
            work(connection)

    migrate(stored)

    assert (events(stored), writes(stored)) == before
    assert counts(stored, "event") == {"event_legacy": 2, "event_default": 1}


@_postgres
def test_an_upgrade_has_looked_at_all_rows_before_it_locks_a_table(stored):
    """Validate first: PostgreSQL would read all rows under the lock without the constraint."""
    for _, work in list(preparations(stored, _config(), "head")):
        with write_transaction(stored) as connection:
            work(connection)

    valid = "SELECT count(*) FROM pg_constraint WHERE conname LIKE '%_legacy' AND convalidated"
    assert _value(stored, valid) == 2


@_postgres
def test_an_upgrade_resumed_after_days_chooses_another_end(stored):
    """Choose another end once the first has passed: a row of today must have a partition."""
    past = _now() - 2 * _DAY
    with write_transaction(stored) as connection:
        connection.exec_driver_sql(
            f"ALTER TABLE event ADD CONSTRAINT event_legacy CHECK (event_time < {past}) NOT VALID"
        )

    migrate(stored)

    put(stored, tables.event, event_row(_now(), 7))
    assert counts(stored, "event") == {"event_legacy": 3, "event_default": 1}


@_postgres
def test_permissions_on_the_tables_are_kept(stored):
    """Keep the rights of a role that Grafana connects as."""
    check_rights(stored, ("event", "dataset_write"), migrate)


@_postgres
def test_an_empty_catalog_has_no_old_partitions(catalog):
    """Begin a new installation with the default partitions, and that of runs without a day."""
    assert partition_names(catalog) == [
        *("dataset_write_default", "event_default"),
        *("run_default", "run_io_default", "run_io_undated", "run_undated"),
    ]


@_postgres
def test_a_downgrade_keeps_the_rows(stored):
    """Make plain tables of them again, with their keys."""
    migrate(stored)
    before = events(stored), writes(stored)
    with write_transaction(stored) as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0017")
    assert (events(stored), writes(stored)) == before

    migrate(stored)

    assert (events(stored), writes(stored)) == before
    assert counts(stored, "event") == {"event_legacy": 2, "event_default": 1}


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATION.__file__).rpartition("/versions/")[0])
    return config
