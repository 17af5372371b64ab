"""Index of events by ranges of pages, and migration 0023, which makes it."""

from datetime import timedelta
from importlib import import_module

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, text
from sqlalchemy.event import listens_for

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction, migrate, write_transaction
from lineage.catalog.preparations import preparations
from lineage.process.clock import system_clock, to_micros
from slis.evaluation import uncounted_events
from tests.lineage.catalog.partitioned import (
    ago,
    event_row,
    events,
    make_partition,
    partition_names,
    put,
)

_MIGRATION = import_module("lineage.catalog.migrations.versions.0023_fewer_index_entries")
_postgres = pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
# Of each partition, and of the whole table, the kinds of the indexes on `last_seq`.
_KINDS = """
    SELECT t.relname, string_agg(a.amname || ' ' || coalesce(array_to_string(c.reloptions, ','), '')
        || CASE WHEN x.indisvalid THEN '' ELSE 'invalid' END, ', ')
    FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_am a ON a.oid = c.relam
    JOIN pg_class t ON t.oid = x.indrelid
    JOIN pg_attribute n ON n.attrelid = t.oid AND n.attnum = x.indkey[0] AND n.attname = 'last_seq'
    WHERE t.relname LIKE 'event%' GROUP BY t.relname
"""
_RANGES = "brin autosummarize=on"
# What `autosummarize` has autovacuum do.
_SUMMARIZE = """
    SELECT brin_summarize_new_values(x.indexrelid) FROM pg_index x
    JOIN pg_class c ON c.oid = x.indexrelid AND c.relkind = 'i' JOIN pg_am a ON a.oid = c.relam
    WHERE x.indrelid IN (SELECT DISTINCT tableoid FROM event) AND a.amname = 'brin'
"""


def _kinds(engine: Engine) -> dict[str, str]:
    with engine.connect() as connection:
        return dict(tuple(row) for row in connection.execute(text(_KINDS)))


@pytest.fixture
def stored(at_revision) -> Engine:
    """Return a catalog of the release before, with events of three days."""
    first = at_revision("0022")
    for days in (2, 1, 0):
        if first.dialect.name == "postgresql":
            make_partition(first, "event", ago(days))
        put(first, tables.event, event_row(ago(days), days))
    return first


def _parts(engine: Engine) -> list[str]:
    return [name for name in partition_names(engine) if name.startswith("event_")]


def test_a_stored_catalog_keeps_its_events(stored):
    before = events(stored)

    migrate(stored)

    assert events(stored) == before


@_postgres
def test_each_partition_has_the_index(stored):
    """Replace it in each: also in those that the pipeline makes meanwhile and afterwards."""
    assert set(_kinds(stored).values()) == {"btree "}
    for _, work in preparations(stored, _config(), "0023"):
        while True:
            with write_transaction(stored) as connection:
                if not work(connection):
                    break
    made = make_partition(stored, "event", to_micros(system_clock() + timedelta(days=1)))

    migrate(stored)
    later = make_partition(stored, "event", to_micros(system_clock() + timedelta(days=2)))

    assert made < later
    assert _kinds(stored) == dict.fromkeys(["event", *_parts(stored)], _RANGES)


@_postgres
def test_each_partition_is_indexed_in_a_transaction_of_its_own(stored):
    """Hold the lock on one partition at a time: batches that write to others go on."""
    steps = []
    listens_for(stored, "commit")(lambda _: steps.append("commit"))

    @listens_for(stored, "before_cursor_execute")
    def _note(_connection, _cursor, statement, *_):  # noqa: ANN002
        if statement.startswith("CREATE INDEX ON event_"):
            steps.append(statement.split()[3])

    migrate(stored)

    made = [step for step in steps if step != "commit"]
    assert sorted(made) == _parts(stored)
    assert all(steps[steps.index(name) + 1] == "commit" for name in made)


@_postgres
def test_partitions_of_before_are_indexed_while_a_batch_lands(stored):
    """Take one partition at a time, the newest last: others than its own wait for no batch."""
    oldest_first = _parts(stored)[:2]  # those of days, then the default one
    done = []
    with exclusive_transaction(stored) as landing:
        landing.execute(tables.event.insert(), event_row(ago(0), 99))
        for _ in range(2):
            with write_transaction(stored) as connection:
                assert _MIGRATION.index_partition(connection)
            done.append([name for name, kind in _kinds(stored).items() if "brin" in kind])

    assert [sorted(names) for names in done] == [oldest_first[:1], oldest_first[:2]]


@_postgres
def test_an_evaluation_reads_the_pages_of_its_batches(stored):
    """Read a range of pages of 40,000 events, and no table whole."""
    migrate(stored)
    rows = """
        INSERT INTO event (event_time, event_key, landed_at, last_seq, is_streaming, is_history,
            is_skewed)
        SELECT :at, -n, n, n / 1000, false, false, false FROM generate_series(1, 40000) n
    """
    with write_transaction(stored) as connection:
        connection.execute(text(rows), {"at": ago(1)})
        connection.execute(text(_SUMMARIZE))
        connection.exec_driver_sql("ANALYZE event")
        query = uncounted_events._EVENTS.format(after=38, last=39)  # noqa: SLF001 - the query itself
        plan = "\n".join(connection.scalars(text(f"EXPLAIN {query}")))

    assert "Bitmap Index Scan" in plan


@_postgres
def test_a_downgrade_makes_the_index_of_before(stored):
    migrate(stored)
    before = events(stored)
    with write_transaction(stored) as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0022")

    assert set(_kinds(stored).values()) == {"btree "}
    assert events(stored) == before


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATION.__file__).rpartition("/versions/")[0])
    return config
