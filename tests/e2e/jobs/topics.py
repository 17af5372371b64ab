"""Streams that read and write topics of a real broker, each once, in the given folder."""

import sys

from pyspark.sql import DataFrame, SparkSession


def main(lake: str, brokers: str) -> None:
    spark = SparkSession.builder.appName("Topics").getOrCreate()
    orders = _topics(spark, brokers, subscribe="orders")
    _run(orders.writeStream.format("parquet").option("path", f"{lake}/landed"), lake, "landed")
    both = _topics(spark, brokers, subscribe="orders,returns")
    copied = both.selectExpr("value").writeStream.format("kafka")
    copied = copied.option("kafka.bootstrap.servers", brokers).option("topic", "copied")
    _run(copied, lake, "copied")

    def write(batch: DataFrame, _number: int) -> None:
        batch.write.mode("append").parquet(f"{lake}/by_batch")

    _run(
        _topics(spark, brokers, subscribePattern="ord.*").writeStream.foreachBatch(write),
        lake,
        "by_batch",
    )
    chosen = _topics(spark, brokers, assign='{"returns":[0]}')
    _run(chosen.writeStream.format("parquet").option("path", f"{lake}/chosen"), lake, "chosen")
    spark.stop()


def _topics(spark: SparkSession, brokers: str, **which: str) -> DataFrame:
    read = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    return read.option("startingOffsets", "earliest").options(**which).load()


def _run(sink, lake: str, name: str) -> None:
    sink = sink.option("checkpointLocation", f"{lake}/checkpoint/{name}")
    sink.trigger(availableNow=True).start().awaitTermination()


main(*sys.argv[1:])
