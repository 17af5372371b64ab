"""Jobs of a shop by name, each an application, over the given folder: `shop.py LAKE JOB…`."""

import sys
import time
from contextlib import suppress
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

_DERBY = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}


def ingest(spark: SparkSession, lake: str) -> None:
    orders = spark.read.option("header", "true").csv(f"{lake}/landing/orders")
    orders.write.mode("overwrite").parquet(f"{lake}/raw/orders")


def clean(spark: SparkSession, lake: str) -> None:
    orders = spark.read.parquet(f"{lake}/raw/orders")
    countries = spark.read.option("header", "true").csv(f"{lake}/ref/countries")
    if Path(lake, "stuck").exists():
        orders = orders.mapInPandas(_stuck, orders.schema)
    orders.join(countries, "country").write.mode("overwrite").parquet(f"{lake}/core/orders")


def _stuck(_batches):
    """Run until somebody kills it."""
    while True:
        time.sleep(1)
        yield from ()


def report(spark: SparkSession, lake: str) -> None:
    orders = spark.read.parquet(f"{lake}/core/orders")
    daily = orders.groupBy("name").agg(F.count("*").alias("orders"))
    daily.write.mode("overwrite").parquet(f"{lake}/mart/daily")


def bill(spark: SparkSession, lake: str) -> None:
    """Save to a table without such a column: the save fails, and the job continues."""
    url = f"jdbc:derby:;databaseName={lake}/billing;create=true"
    invoices = spark.createDataFrame([(1,)], "id int")
    invoices.limit(0).write.mode("ignore").jdbc(url, "SEED", properties=_DERBY)
    wrong = invoices.withColumn("nowhere", F.lit("x"))
    with suppress(PySparkException):
        wrong.write.mode("append").jdbc(url, "SEED", properties=_DERBY)


def main(lake: str, *jobs: str) -> None:
    # Applications of one JVM, as of a notebook: a start takes most of the CPU of such a job.
    for job in jobs:
        spark = SparkSession.builder.appName(job).getOrCreate()
        {"ingest": ingest, "clean": clean, "report": report, "bill": bill}[job](spark, lake)
        spark.stop()


main(*sys.argv[1:])
