"""Job that writes a file and a table by tasks that fail after some rows, and are tried again."""

import sys

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

_DERBY = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}
_ROWS = 100_000
_FAILING = 90_000  # of those, once


def main(lake: str) -> None:
    spark = SparkSession.builder.appName("Retried").getOrCreate()
    given = spark.range(0, _ROWS, 1, 1).select(_failing_once("id").alias("id"))
    given.write.parquet(f"{lake}/tried_again")
    url = f"jdbc:derby:;databaseName={lake}/derby;create=true"
    given.write.jdbc(url, "TRIED", properties=_DERBY)
    spark.read.jdbc(url, "TRIED", properties=_DERBY).write.parquet(f"{lake}/from_table")
    spark.stop()


@F.udf(LongType())
def _failing_once(number: int) -> int:
    context = TaskContext.get()
    if number == _FAILING and context is not None and context.attemptNumber() == 0:
        message = "the first attempt fails"
        raise ValueError(message)
    return number


main(sys.argv[1])
