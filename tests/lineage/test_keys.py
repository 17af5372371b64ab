"""Keys are the same number in Python and in Spark."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineage.keys import key

NAMES = [("file", "/lake/orders"), ("s3://b", "päth/表"), ("", "x"), ("a", ""), ("n", "x" * 2_000)]


def test_python_and_spark_compute_the_same_key(spark: SparkSession):
    """A dataset that the policy names is the dataset that a batch wrote: no look-up joins them."""
    frame = spark.createDataFrame(NAMES, "namespace string, name string")

    keys = [row[0] for row in frame.select(F.xxhash64("namespace", "name")).collect()]

    assert keys == [key(*names) for names in NAMES]
