"""Catalog tables as Spark frames: one query on the driver, into Arrow, then to the JVM.

Partitioned reading pays where rows are many millions. An evaluation reads a row a dataset, and
those come faster in one piece: `docs/decisions.md` has the figures.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import adbc_driver_postgresql.dbapi
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine

from lineage.catalog.engine import STATEMENT_SECONDS
from lineage.catalog.postgres import PARAMETERS, limit_statements
from lineage.process.clock import EARLIEST_MICROS, LAST_EVENT_MICROS, LATEST_MICROS
from slis.spark.planning import spark_schema

# As values of Python, all rows of a large catalog at once would take 300 MiB.
_ROWS_AT_ONCE = 10_000
_FEW = 20_000  # a task has them in a fraction of the time that two stages take to be planned
_ARROW = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}


def read_frame(engine: Engine, query: str, columns: str) -> pa.Table:
    """Return the result of a query, as committed at its start.

    Args:
        engine: of the catalog.
        query: a SELECT; instants are whole microseconds, as the catalog keeps them.
        columns: name and Spark type of each column, in the query's order; `timestamp` for instants.
    """
    schema = arrow_schema(columns)
    if engine.dialect.name == "sqlite":
        return _from_sqlite(engine, query, schema)
    table = _from_postgresql(engine, query)
    arrays = [
        _cast(column, field.type) for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.table(arrays, schema=schema)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_timestamp(kind):
        return _instants(column.cast(pa.int64()), kind)
    return column.cast(kind)


def _instants(micros: Any, kind: pa.DataType) -> Any:  # noqa: ANN401 - an array, chunked or not
    """Return the instants, each within the years of events.

    Older releases stored others, on which Spark, pandas and Python fail.
    """
    return _within(micros, 0, LAST_EVENT_MICROS).cast(kind)


def _within(values: Any, first: int, last: int) -> Any:  # noqa: ANN401 - an array, chunked or not
    above = pc.max_element_wise(values, first, skip_nulls=False)
    return pc.min_element_wise(above, last, skip_nulls=False)


def _from_sqlite(engine: Engine, query: str, schema: pa.Schema) -> pa.Table:
    # Never by ADBC: that brings its own SQLite, and of two in one process each drops the other's
    # locks (sqlite.org/howtocorrupt.html): the WAL was deleted under our writer, rows with it.
    with engine.connect() as connection:
        parts = connection.exec_driver_sql(query).partitions(_ROWS_AT_ONCE)
        batches = [_batch(rows, schema) for rows in parts]
    return pa.Table.from_batches(batches, schema)


def _batch(rows: Sequence[Any], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(zip(*rows, strict=True), schema, strict=True)
    arrays = [_array(values, field.type) for values, field in columns]
    return pa.record_batch(arrays, schema=schema)


def _array(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return _instants(pa.array(values, pa.int64()), kind)
    # SQLite keeps a truth value as 0 or 1.
    given = pa.array(values, pa.int64()) if pa.types.is_boolean(kind) else values
    return given.cast(kind) if isinstance(given, pa.Array) else pa.array(given, kind)


def _from_postgresql(engine: Engine, query: str) -> pa.Table:
    limits = {name: str(value) for name, value in PARAMETERS.items()}
    own = engine.url.set(drivername="postgresql")
    limited = own.update_query_dict({n: v for n, v in limits.items() if n not in own.query})
    # SQLAlchemy leaves a space of a password as it is, with which libpq takes no URL.
    url = limited.render_as_string(hide_password=False).replace(" ", "%20")
    with (
        adbc_driver_postgresql.dbapi.connect(url) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(limit_statements(STATEMENT_SECONDS))  # begins the transaction
        cursor.execute(query)
        return cursor.fetch_arrow_table()


def frame(spark: SparkSession, engine: Engine, query: str, columns: str) -> DataFrame:
    """Return what `read_frame` returns, as a frame of Spark."""
    return spark.createDataFrame(read_frame(engine, query, columns), spark_schema(columns))


def small_frame(spark: SparkSession, rows: pa.Table, columns: str) -> DataFrame:
    """Return a frame of the rows; of one partition where they are few, so that nothing shuffles."""
    frame = spark.createDataFrame(rows, spark_schema(columns))
    return frame.coalesce(1) if rows.num_rows <= _FEW else frame


def frame_rows(frame: DataFrame) -> list[dict[str, Any]]:
    """Return all rows of a small frame; an instant that Python cannot hold as the nearest one."""
    table = frame.toArrow()
    columns = [_with_dates(column) for column in table.columns]
    return pa.table(columns, names=table.column_names).to_pylist()  # type: ignore[no-any-return]


def _with_dates(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_timestamp(column.type):
        return column
    return _within(column.cast(pa.int64()), EARLIEST_MICROS, LATEST_MICROS).cast(column.type)


@cache
def arrow_schema(columns: str) -> pa.Schema:
    """Return Arrow's types of the columns."""
    declared = spark_schema(columns)
    names = zip(declared.fieldNames(), declared, strict=True)
    return pa.schema([(name, _ARROW[field.dataType.simpleString()]) for name, field in names])
