"""Frames of a few rows whose plan holds them."""

from collections.abc import Sequence
from functools import cache

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


def local_rows(spark: SparkSession, rows: Sequence[Sequence[object]], columns: str) -> DataFrame:
    """Return the rows as a frame.

    From a list, `createDataFrame` makes an RDD, which each job has Python workers copy, and of
    which Spark knows nothing while it plans.

    Args:
        spark: the session.
        rows: a value for each column; times without a zone are in UTC.
        columns: names and types, as Spark's DDL.
    """
    schema = spark_schema(columns)
    arrow = to_arrow_schema(schema, timezone="UTC")
    table = pa.Table.from_pylist([dict(zip(arrow.names, row, strict=True)) for row in rows], arrow)
    return spark.createDataFrame(table, schema)


@cache  # the JVM reads the text
def spark_schema(columns: str) -> StructType:
    """Return Spark's types of the columns."""
    return StructType.fromDDL(columns)  # type: ignore[return-value]
