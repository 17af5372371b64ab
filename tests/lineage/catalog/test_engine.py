"""Opening, migrating and committing a catalog, alike on SQLite and PostgreSQL."""

import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, insert, select, text
from sqlalchemy.exc import DBAPIError

from lineage.catalog import engine as engines
from lineage.catalog.engine import (
    catalog_url,
    exclusive_transaction,
    migrate,
    open_catalog,
    write_transaction,
)
from lineage.catalog.grown_tables import ROWS
from lineage.catalog.tables import meta, metadata
from tests.lineage.catalog.partitioned import partition_names


def test_the_migrations_lead_to_exactly_the_tables(catalog: Engine):
    """Compare code and migrations: a column of only one would fail in production first."""
    parts = set(partition_names(catalog))
    with catalog.connect() as connection:
        opts = {"compare_type": True, "include_name": lambda name, *_: name not in parts}
        differences = compare_metadata(MigrationContext.configure(connection, opts=opts), metadata)

    assert differences == []


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_the_kinds_of_indexes_are_those_of_the_tables(catalog: Engine):
    """Compare what PostgreSQL uses: the comparison above takes an index of any kind."""
    kinds = """
        SELECT i.relname, a.amname FROM pg_class i JOIN pg_am a ON a.oid = i.relam
        WHERE i.relkind IN ('i', 'I') AND NOT i.relispartition AND a.amname <> 'btree'
        AND i.relnamespace = 'public'::regnamespace
    """
    declared = {
        index.name: using
        for table in metadata.tables.values()
        for index in table.indexes
        if (using := index.dialect_options["postgresql"]["using"])
    }
    with catalog.connect() as connection:
        found = dict(tuple(row) for row in connection.execute(text(kinds)))

    assert found == declared == {"edge_run_seen": "brin", "event_last_seq": "brin"}


def test_roles_that_start_together_migrate_once(catalog: Engine):
    """Let the three roles migrate at their start: none may fail, in any order."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            migrate(catalog)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test shows it
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


def test_a_transaction_that_fails_leaves_nothing(catalog: Engine):
    """Commit facts and their batch row together, or neither."""
    with pytest.raises(RuntimeError):
        _insert_and_fail(catalog)

    with catalog.connect() as connection:
        assert connection.execute(select(meta)).all() == []


def _insert_and_fail(engine: Engine) -> None:
    with write_transaction(engine) as connection:
        connection.execute(insert(meta).values(name="half", value="done"))
        raise RuntimeError


def test_a_second_writer_of_sqlite_waits_for_the_first(tmp_path: Path):
    """Wait for SQLite's one write lock, and then see the other's rows."""
    engine = open_catalog(catalog_url(tmp_path))
    migrate(engine)
    begun = threading.Event()
    seen: list[str] = []

    def second() -> None:
        begun.wait()
        with write_transaction(engine) as connection:
            seen.extend(connection.scalars(select(meta.c.value)))

    thread = threading.Thread(target=second)
    thread.start()
    with write_transaction(engine) as connection:
        connection.execute(insert(meta).values(name="first", value="written"))
        begun.set()
        thread.join(timeout=0.2)
        assert seen == []
    thread.join()

    assert seen == ["written"]


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_vanished_client_loses_its_turn(catalog, monkeypatch):
    """Cut the connection silently: the server's kernel would keep it for hours."""
    monkeypatch.setattr(engines, "GONE_SECONDS", 1)
    impatient = catalog.url.update_query_dict({"options": "-c lock_timeout=60s"})
    with pytest.raises(DBAPIError, match="idle-in-transaction timeout"):
        _wait_in_a_turn(catalog, open_catalog(impatient.render_as_string(hide_password=False)))


def _wait_in_a_turn(catalog: Engine, other: Engine) -> None:
    with exclusive_transaction(catalog) as vanished:
        with exclusive_transaction(other) as following:
            assert following.scalar(select(1)) == 1
        vanished.execute(select(1))


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
@pytest.mark.parametrize("count", [ROWS, 3 * ROWS])
def test_the_planner_has_statistics_of_written_rows(catalog, count):
    """Analyze in the transaction: autovacuum ran before the commit, and counted no rows."""
    with exclusive_transaction(catalog) as connection:
        _fill_meta(connection, count)
        _analyze(catalog)
        assert _known_rows(catalog) == 0

    assert _known_rows(catalog) == count


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_turn_that_does_not_double_a_table_does_not_sample_it(catalog):
    """Sample no table of millions for a small batch: the planner knows its pages."""
    with exclusive_transaction(catalog) as connection:
        _fill_meta(connection, 3 * ROWS)
    catalog.dispose()  # a connection reports what it wrote once a second: until then it counts
    with exclusive_transaction(catalog) as connection:
        _fill_meta(connection, 2 * ROWS, start=3 * ROWS)

    assert _known_rows(catalog) == 3 * ROWS


def _fill_meta(connection: Connection, count: int, start: int = 0) -> None:
    rows = [{"name": f"row {n}", "value": "x"} for n in range(start, start + count)]
    connection.execute(insert(meta), rows)


def _analyze(catalog: Engine) -> None:
    with catalog.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE meta"))


def _known_rows(catalog: Engine) -> int:
    with catalog.connect() as connection:
        return connection.scalar(text("SELECT reltuples FROM pg_class WHERE relname = 'meta'"))
