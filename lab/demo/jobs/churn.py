"""Core to mart: who may leave, by a Python function that never met a customer without orders.

Usage: churn.py SHOP.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf


def risk(amount: float) -> float:
    """Return a number from 0 to 1: high for small orders; without an amount raise a TypeError."""
    return 1.0 / (1.0 + amount)


def main(shop: str) -> None:
    """Score every order.

    Without a shuffle: with one, adaptive execution has the listener report a failed write as
    COMPLETE alone, and no FAIL at all.
    """
    spark = SparkSession.builder.appName("churn").getOrCreate()
    score = sf.udf(risk, "double")
    orders = spark.read.parquet(f"{shop}/core/orders")
    scored = orders.select("customer_id", "order_id", score("amount").alias("risk"))
    try:
        scored.write.mode("overwrite").parquet(f"{shop}/mart/churn")
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
