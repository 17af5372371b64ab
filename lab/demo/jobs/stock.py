"""Landing to mart: the warehouse's nightly count. Usage: stock.py SHOP."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf


def main(shop: str) -> None:
    """Sum what each place counted."""
    spark = SparkSession.builder.appName("stock").getOrCreate()
    counted = spark.read.csv(
        f"{shop}/landing/stock", schema="article string, place string, pieces bigint", header=True
    )
    pieces = counted.groupBy("article").agg(sf.sum("pieces").alias("pieces"))
    pieces.write.mode("overwrite").parquet(f"{shop}/mart/stock")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
