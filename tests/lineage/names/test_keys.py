"""Keys: the same number in Python and in Spark."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineage.names.keys import hash_parts, key

NAMES = [("file", "/lake/orders"), ("s3://b", "päth/表"), ("", "x"), ("a", ""), ("n", "x" * 2_000)]


def test_python_and_spark_compute_the_same_key(spark: SparkSession):
    """Join a dataset of the policy to that of a batch without a look-up."""
    frame = spark.createDataFrame(NAMES, "namespace string, name string")

    keys = [row[0] for row in frame.select(F.xxhash64("namespace", "name")).collect()]

    assert keys == [key(*names) for names in NAMES]


def test_python_and_spark_hash_numbers_and_missing_values_alike(spark: SparkSession):
    """Compare keys of events, which contain times; earlier releases stored those of Spark."""
    rows = [("a", 1 << 62, None), (None, -1, "b"), (None, None, None), ("", 0, "é")]
    frame = spark.createDataFrame(rows, "one string, number bigint, other string")

    hashes = [row[0] for row in frame.select(F.xxhash64("one", "number", "other")).collect()]

    assert hashes == [hash_parts(row) for row in rows]
