from pyspark.sql import functions as F

from lineage.names.near_names import near_key
from slis.evaluation.wording import near_key_column as near_key_in_spark
from slis.spark.planning import local_rows

NAMES = (
    "/lake/core.db/Orders",
    "core.orders",
    "core/orders/",
    "orders",
    "",
    "a/b/c",
    "Ä.b",
    "x..y",
)


def test_spark_and_python_find_the_same_names_alike(spark):
    """Find the same names for the evidence of a dataset and for the lint."""
    frame = local_rows(spark, [(name,) for name in NAMES], "name string")

    found = frame.select("name", near_key_in_spark(F.col("name")).alias("key")).collect()

    assert {row.name: row.key for row in found} == {name: near_key(name) for name in NAMES}
