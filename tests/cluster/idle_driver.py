"""A driver that asks Kubernetes for its executors, and ends with its input: for spark-submit."""

import sys

from pyspark.sql import SparkSession

session = SparkSession.builder.getOrCreate()
print("driver runs", flush=True)  # noqa: T201 - what the test waits for
sys.stdin.read()
session.stop()
