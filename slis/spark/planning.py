"""Savings of CPU time where PySpark makes plans: for classes, small frames and derived frames.

For each expression PySpark asks for a class by its short name. Java looks for the class in each of
Spark's jars and under each package that it may be in, and then copies the list of all its methods:
a seventh of an evaluation's CPU where there are few datasets.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import pyarrow as pa
from py4j.java_gateway import JVMView
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

DATASET: Final = "org.apache.spark.sql.classic.Dataset"
_CLASSES = (
    *("functions", "org.apache.spark.sql.functions", "PythonUtils", "PythonSQLUtils"),
    DATASET,
)


class _RememberedClass:
    """Java class whose static methods are cached once PySpark has asked for them."""

    def __init__(self, found: Any) -> None:  # noqa: ANN401 - py4j's objects have no types
        self._found = found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        method = getattr(self._found, name)
        setattr(self, name, method)
        return method


def remember(jvm: JVMView) -> None:
    """Have PySpark find its most used classes and their methods without asking the JVM."""
    for name in _CLASSES:
        if name not in vars(jvm):
            setattr(jvm, name, _RememberedClass(getattr(jvm, name)))


@contextmanager
def computed_once(frame: DataFrame) -> Iterator[DataFrame]:
    """Yield the frame as a table, which its first use computes.

    Spark plans each further step from the table. From a cached frame it would analyse the whole
    plan again with each step: a quarter of an evaluation's CPU where there are few datasets. The
    table is in Spark's memory, and on its scratch disk where that is full, until the context ends:
    use it only inside, and give no frame that is cached already.
    """
    cached = frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield _make_table(cached)
    finally:
        cached.unpersist()


def _make_table(cached: DataFrame) -> DataFrame:
    """Return what is cached as a plan of one node, which PySpark has no call for."""
    session: Any = cached.sparkSession
    ours, dataset = session._jsparkSession, getattr(session._jvm, DATASET)  # noqa: SLF001
    plan = dataset.ofRows(ours, cached._jdf.logicalPlan()).queryExecution().withCachedData()  # noqa: SLF001
    return DataFrame(dataset.ofRows(ours, plan), session)


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
