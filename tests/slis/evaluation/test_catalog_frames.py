"""Catalog tables become Arrow tables and frames, alike from either kind of catalog."""

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Engine, insert

from lineage.catalog.engine import open_catalog, write_transaction
from lineage.catalog.tables import event
from slis.evaluation.catalog_frames import frame, read_frame

COLUMNS = "event_time timestamp, event_key bigint, is_streaming boolean, is_history boolean"
QUERY = "SELECT event_time, event_key, is_streaming, is_history FROM event"
ROW = (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), -7, True, False)


@pytest.fixture
def filled(catalog: Engine) -> Engine:
    """Create a catalog with one event of 1970."""
    row = {"event_time": 1_000_000, "event_key": -7, "landed_at": 2, "last_seq": 1}
    flags = {"is_streaming": True, "is_history": False, "is_skewed": False}
    with write_transaction(catalog) as connection:
        connection.execute(insert(event).values(**row, **flags))
    return catalog


def test_a_row_has_timestamps_and_booleans(spark: SparkSession, filled: Engine):
    """Convert times and booleans, for which SQLite has no types."""
    rows = frame(spark, filled, QUERY, COLUMNS).collect()

    assert [(row[0].astimezone(UTC), *row[1:]) for row in rows] == [ROW]


@pytest.mark.usefixtures("spark")
def test_an_empty_table_keeps_its_columns(catalog: Engine):
    """Return an empty frame: the first evaluation finds no rows."""
    table = read_frame(catalog, QUERY, COLUMNS)

    assert (table.num_rows, table.column_names) == (0, COLUMNS.replace(",", "").split()[::2])


@pytest.mark.usefixtures("spark")
def test_any_password_can_be_in_the_url(databases):
    """Read with a password that has each special character of a URL, and a space."""
    engine = databases.take()
    url = engine.url.set(password="a b+c%d/e:f@g?h#i&j=k'l[m")  # noqa: S106 - of nobody
    other = open_catalog(url.render_as_string(hide_password=False))

    assert read_frame(other, QUERY, COLUMNS).num_rows == 0

    other.dispose()
    databases.give_back(engine)


@pytest.mark.usefixtures("spark")
def test_reading_leaves_the_writer_s_rows_to_everyone(filled: Engine):
    """Keep the writer's locks.

    A second SQLite library in the process once dropped them, and the WAL with its rows.
    """
    read_frame(filled, QUERY, COLUMNS)
    row = {"event_time": 2, "event_key": 2, "landed_at": 2, "last_seq": 1}
    flags = {"is_streaming": False, "is_history": False, "is_skewed": False}
    with write_transaction(filled) as connection:
        connection.execute(insert(event).values(**row, **flags))
    filled.dispose()

    assert read_frame(filled, QUERY, COLUMNS).num_rows == 2
