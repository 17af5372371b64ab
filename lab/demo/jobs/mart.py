"""Core to mart: revenue by country in euros. Usage: mart.py SHOP [--segments]."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf


def main(shop: str, *, with_segments: bool) -> None:
    """Convert by the exchange rates and sum; customer segments are new, and asked for apart."""
    spark = SparkSession.builder.appName("mart").getOrCreate()
    orders = spark.read.parquet(f"{shop}/core/orders").where("order_id IS NOT NULL")
    rates = spark.read.parquet(f"{shop}/ref/rates")
    in_euros = orders.join(rates, "currency").withColumn("euros", sf.col("amount") * sf.col("rate"))
    revenue = in_euros.groupBy("country").agg(sf.sum("euros").alias("euros"))
    revenue.write.mode("overwrite").parquet(f"{shop}/mart/revenue")
    if with_segments:
        spent = orders.groupBy("customer_id").agg(sf.sum("amount").alias("spent"))
        segments = spent.withColumn("segment", sf.when(sf.col("spent") > 100, "gold"))  # noqa: PLR2004
        segments.write.mode("overwrite").parquet(f"{shop}/mart/segments")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], with_segments="--segments" in sys.argv)
