"""Compute a frame once for all that is made of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import StorageLevel
from pyspark.sql import DataFrame


@contextmanager
def computed_once(frame: DataFrame) -> Iterator[DataFrame]:
    """Yield the frame as a table of rows, which its first use computes.

    Spark plans each further step from the rows. From a cached frame it would analyse the whole plan
    again with each step: half of an evaluation's CPU where there are few datasets. The rows are in
    Spark's memory, and on its scratch disk where that is full, until the context ends. An executor
    that is lost takes its rows along, and what uses them fails.
    """
    # Serialized: as objects the rows of 100,000 datasets take 0.3 GB of the heap more.
    found = frame.localCheckpoint(eager=False, storageLevel=StorageLevel.MEMORY_AND_DISK)
    rows = found._jdf.logicalPlan().rdd()  # noqa: SLF001 - PySpark has no call to free them
    try:
        yield found
    finally:
        rows.unpersist(False)
