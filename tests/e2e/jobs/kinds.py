"""Job that writes every kind of output of Spark, each once, to the given folder."""

import sys
from contextlib import suppress
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

_ORDERS = "id int, country string, amount int"
_DERBY = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}


def main(lake: str) -> None:
    spark = SparkSession.builder.appName("All Kinds").getOrCreate()
    _make_input(Path(lake) / "in")
    orders = spark.read.option("header", "true").schema(_ORDERS).csv(f"{lake}/in/orders.csv")
    names = spark.read.schema("country string, name string").json(f"{lake}/in/countries.json")
    orders.join(names, "country").write.partitionBy("country").parquet(f"{lake}/joined")
    spark.read.parquet(f"{lake}/joined").write.saveAsTable("orders")
    sums = "SELECT country, sum(amount) AS total FROM orders GROUP BY country"
    spark.sql(f"CREATE TABLE totals USING parquet AS {sums}")
    spark.sql(f"INSERT INTO totals {sums}")
    spark.sql(f"INSERT OVERWRITE TABLE totals {sums}")
    for kind in ("csv", "json", "orc"):
        orders.write.format(kind).save(f"{lake}/as_{kind}")
    orders.select("country").write.text(f"{lake}/as_text")
    _defining(spark)
    _into_database(spark, orders, lake)
    _failing(spark, orders, lake)
    cached = spark.read.parquet(f"{lake}/joined").cache()
    cached.repartition(2).write.parquet(f"{lake}/from_cache")
    spark.createDataFrame([(1,)], "a int").write.parquet(f"{lake}/from_rows")
    _stream(spark, lake)
    lines = spark.sparkContext.textFile(f"{lake}/in/orders.csv")
    lines.map(str.upper).saveAsTextFile(f"{lake}/from_rdd")
    lines.map(lambda line: (line,)).toDF("line string").write.parquet(f"{lake}/from_rdd_rows")
    spark.read.parquet(f"{lake}/joined").groupBy("country").count().collect()
    spark.read.parquet(f"{lake}/joined").count()
    spark.stop()


def _make_input(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "orders.csv").write_text("id,country,amount\n1,de,3\n2,fr,4\n3,de,5\n")
    (folder / "countries.json").write_text('{"country":"de","name":"D"}\n')


def _defining(spark) -> None:
    """Change a table without writing; drop one after it was written."""
    spark.sql("CREATE TABLE empty (id int) USING parquet")
    spark.sql("ALTER TABLE empty ADD COLUMNS (country string)")
    spark.sql("TRUNCATE TABLE empty")
    spark.sql("CREATE TABLE dropped USING parquet AS SELECT country FROM orders")
    spark.sql("DROP TABLE dropped")


def _into_database(spark, orders, lake: str) -> None:
    url = f"jdbc:derby:;databaseName={lake}/derby;create=true"
    orders.write.jdbc(url, "SOLD", properties=_DERBY)
    spark.read.jdbc(url, "SOLD", properties=_DERBY).write.parquet(f"{lake}/from_database")
    other = spark.createDataFrame([(1, "x")], "id int, nowhere string")
    with suppress(PySparkException):
        other.write.mode("append").jdbc(url, "SOLD", properties=_DERBY)


def _failing(spark, orders, lake: str) -> None:
    with suppress(PySparkException):
        spark.read.parquet(f"{lake}/missing").write.parquet(f"{lake}/from_missing")
    divide = F.udf(lambda number: number / 0, "int")
    with suppress(PySparkException):
        orders.select(divide("id")).write.parquet(f"{lake}/never")


def _stream(spark, lake: str) -> None:
    given = spark.readStream.option("header", "true").schema(_ORDERS).csv(f"{lake}/in/*.csv")

    def write(batch, _number) -> None:
        batch.write.parquet(f"{lake}/by_batch")

    for name, sink in (
        ("streamed", given.writeStream.format("parquet").option("path", f"{lake}/streamed")),
        ("by_batch", given.writeStream.foreachBatch(write)),
    ):
        checkpoint = sink.option("checkpointLocation", f"{lake}/checkpoint/{name}")
        checkpoint.trigger(availableNow=True).start().awaitTermination()


main(sys.argv[1])
