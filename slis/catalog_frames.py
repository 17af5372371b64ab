"""Catalog tables as Spark frames: one query on the driver, by ADBC into Arrow, then to the JVM.

Partitioned reading pays where rows are many millions. An evaluation reads a row a dataset, and
those come faster in one piece: `docs/decisions.md` has the figures.
"""

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from sqlalchemy import Engine

_ARROW = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}


def read(engine: Engine, query: str, columns: str) -> pa.Table:
    """What a query gives, as committed at its start.

    Args:
        engine: of the catalog.
        query: a SELECT; instants are whole microseconds, as the catalog keeps them.
        columns: name and Spark type of each column, in the query's order; `timestamp` for instants.
    """
    schema = arrow_schema(columns)
    with _connected(engine) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        table = cursor.fetch_arrow_table()
    arrays = [column.cast(field.type) for column, field in zip(table.columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def frame(spark: SparkSession, engine: Engine, query: str, columns: str) -> DataFrame:
    """`read`, as a frame."""
    return spark.createDataFrame(read(engine, query, columns), columns)


def arrow_schema(columns: str) -> pa.Schema:
    """Arrow's types of the columns."""
    fields = StructType.fromDDL(columns).fields
    return pa.schema([(field.name, _ARROW[field.dataType.simpleString()]) for field in fields])


def _connected(engine: Engine):  # type: ignore[no-untyped-def]  # noqa: ANN202 - ADBC ships no types
    if engine.dialect.name == "sqlite":
        connection = adbc_driver_sqlite.dbapi.connect(engine.url.database)
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout=10000")
        return connection
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    return adbc_driver_postgresql.dbapi.connect(url)
