"""The catalog opens, migrates and commits alike on SQLite and PostgreSQL."""

import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, insert, select
from sqlalchemy.exc import DBAPIError

from lineage.catalog import engine as engines
from lineage.catalog.engine import catalog_url, in_turn, migrate, open_catalog, writing
from lineage.catalog.tables import meta, metadata


def test_the_migrations_lead_to_exactly_the_tables(catalog: Engine):
    """A column that only the code or only the migration knows would fail in production first."""
    with catalog.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, metadata)

    assert differences == []


def test_roles_that_start_together_migrate_once(catalog: Engine):
    """The three roles all call migrate at their start: none may fail, whoever is first."""
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
    """Facts and their batch row stand or fall together."""
    with pytest.raises(RuntimeError):
        _insert_and_fail(catalog)

    with catalog.connect() as connection:
        assert connection.execute(select(meta)).all() == []


def _insert_and_fail(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(insert(meta).values(name="half", value="done"))
        raise RuntimeError


def test_a_second_writer_of_sqlite_waits_for_the_first(tmp_path: Path):
    """SQLite has one write lock: whoever finds it taken waits, and then sees the other's rows."""
    engine = open_catalog(catalog_url(tmp_path))
    migrate(engine)
    begun = threading.Event()
    seen: list[str] = []

    def second() -> None:
        begun.wait()
        with writing(engine) as connection:
            seen.extend(connection.scalars(select(meta.c.value)))

    thread = threading.Thread(target=second)
    thread.start()
    with writing(engine) as connection:
        connection.execute(insert(meta).values(name="first", value="written"))
        begun.set()
        thread.join(timeout=0.2)
        assert seen == []
    thread.join()

    assert seen == ["written"]


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_whoever_vanished_in_its_turn_does_not_keep_it(catalog, monkeypatch):
    """Its machine is gone and told nobody: the server's kernel would believe in it for hours."""
    monkeypatch.setattr(engines, "GONE_SECONDS", 1)
    impatient = catalog.url.update_query_dict({"options": "-c lock_timeout=60s"})
    with pytest.raises(DBAPIError, match="idle-in-transaction timeout"):
        _wait_in_a_turn(catalog, open_catalog(impatient.render_as_string(hide_password=False)))


def _wait_in_a_turn(catalog: Engine, other: Engine) -> None:
    with in_turn(catalog) as vanished:
        with in_turn(other) as following:
            assert following.scalar(select(1)) == 1
        vanished.execute(select(1))
