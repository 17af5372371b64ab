"""Job unlike those of the demo: visits and pages (CSV) to visits by section.

Usage: visits.py LAKE.
"""

import sys

from pyspark.sql import SparkSession


def main(lake: str) -> None:
    """Join and count."""
    spark = SparkSession.builder.appName("visits_by_section").getOrCreate()
    visits = spark.read.csv(f"{lake}/visits", schema="page string, visitor bigint", header=True)
    pages = spark.read.csv(f"{lake}/pages", schema="page string, section string", header=True)
    counted = visits.join(pages, "page").groupBy("section").count()
    counted.write.mode("overwrite").parquet(f"{lake}/visits_by_section")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
