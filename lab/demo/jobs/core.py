"""Raw to core: each order with its customer. Usage: core.py SHOP."""

import sys

from pyspark.sql import SparkSession


def main(shop: str) -> None:
    """Join orders and customers; customers without an order are kept."""
    spark = SparkSession.builder.appName("core").getOrCreate()
    orders = spark.read.parquet(f"{shop}/raw/orders")
    customers = spark.read.parquet(f"{shop}/raw/customers")
    joined = customers.join(orders, "customer_id", "left")
    joined.write.mode("overwrite").parquet(f"{shop}/core/orders")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
