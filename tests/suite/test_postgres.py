import pytest
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import OperationalError

from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import metadata

pytestmark = pytest.mark.postgres

_OID = "SELECT oid::text FROM pg_database WHERE datname = current_database()"


def _run(engine: Engine, *statements: str):
    with write_transaction(engine) as connection:
        for each in statements:
            connection.execute(text(each))


def _rows(engine):
    with engine.connect() as connection:
        return {
            each.name: rows
            for each in metadata.sorted_tables
            if (rows := connection.execute(each.select()).fetchall())
        }


@pytest.fixture
def used(databases):
    """Make a database that a test has written to, and whose numbers it has used."""
    engine = databases.take()
    _run(engine, "INSERT INTO meta (name, value) VALUES ('a', '1')")
    _run(engine, *(f"SELECT nextval('{name}')" for name in inspect(engine).get_sequence_names()))
    return engine


def _ask(engine, sql):
    with engine.connect() as connection:
        return connection.scalar(text(sql))


def test_a_database_is_emptied_and_used_again(databases, used):
    """Delete rows, restart numbers at one, and give it another name."""
    oid = _ask(used, _OID)
    databases.give_back(used)
    again = databases.take()

    assert (_ask(again, _OID), again.url.database != used.url.database) == (oid, True)
    assert _rows(again) == {}
    sequences = inspect(again).get_sequence_names()
    assert {_ask(again, f"SELECT nextval('{each}')") for each in sequences} == {1}
    databases.give_back(again)


def test_planner_forgets_the_statistics_of_a_test(databases, used):
    """Count again from the rows of the next test: a plan for those before may take minutes."""
    _run(used, "ANALYZE")
    databases.give_back(used)
    again = databases.take()

    known = "SELECT count(*) FROM pg_class c WHERE relname = 'meta' AND reltuples >= 0"
    assert _ask(again, known) == 0
    assert _ask(again, "SELECT count(*) FROM pg_stats WHERE tablename = 'meta'") == 0
    databases.give_back(again)


def test_open_connection_of_a_test_is_closed(databases, used):
    """Close it, so that a new one finds no database."""
    left = used.connect()
    databases.give_back(used)
    again = databases.take()

    with pytest.raises(OperationalError):
        left.execute(text("SELECT 1"))
    with pytest.raises(OperationalError, match="does not exist"):
        used.connect()
    left.invalidate()
    databases.give_back(again)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE meta ADD COLUMN other INTEGER",
        "ALTER TABLE meta ALTER COLUMN value DROP NOT NULL",
        "DROP TABLE meta",
        "CREATE TABLE other (id INTEGER)",
        "ALTER TABLE meta DROP CONSTRAINT meta_pkey",
        "UPDATE alembic_version SET version_num = '0001'",
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    ],
)
def test_a_database_whose_tables_were_changed_is_not_used_again(databases, used, change):
    """Give the next test a new one, with the tables as they are migrated."""
    _run(used, change)
    oid = _ask(used, _OID)
    databases.give_back(used)
    again = databases.take()

    assert _ask(again, _OID) != oid
    assert set(inspect(again).get_table_names()) >= {each.name for each in metadata.sorted_tables}
    assert [each["name"] for each in inspect(again).get_columns("meta")] == ["name", "value"]
    databases.give_back(again)
