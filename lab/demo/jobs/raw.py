"""Landing to raw: orders (CSV) and customers (JSON) as they came, as Parquet.

Usage: raw.py SHOP.
"""

import sys

from pyspark.sql import SparkSession

ORDERS = "order_id bigint, customer_id bigint, amount double, currency string"
CUSTOMERS = "customer_id bigint, name string, country string"


def main(shop: str) -> None:
    """Read both landing folders and replace their raw datasets."""
    spark = SparkSession.builder.appName("raw").getOrCreate()
    orders = spark.read.csv(f"{shop}/landing/orders", schema=ORDERS, header=True)
    customers = spark.read.json(f"{shop}/landing/customers", schema=CUSTOMERS)
    orders.write.mode("overwrite").parquet(f"{shop}/raw/orders")
    customers.write.mode("overwrite").parquet(f"{shop}/raw/customers")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
