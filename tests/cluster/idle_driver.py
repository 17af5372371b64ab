"""Driver that asks Kubernetes for its executors, and then waits: for spark-submit."""

from threading import Event

from pyspark.sql import SparkSession

session = SparkSession.builder.getOrCreate()
Event().wait()
