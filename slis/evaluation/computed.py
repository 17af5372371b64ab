"""Compute a frame once for all frames that are derived from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from slis.spark.jvm_names import DATASET


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
