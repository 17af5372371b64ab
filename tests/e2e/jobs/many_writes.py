"""Small writes, one after the other, until a file says enough. Usage: many_writes.py LAKE."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main(lake: Path) -> None:
    """Each write is four events or so of the listener."""
    spark = SparkSession.builder.appName("many_writes").getOrCreate()
    numbers = spark.range(100)
    written = 0
    while not (lake / "enough").exists():
        numbers.write.mode("overwrite").parquet(f"{lake}/numbers_{written % 5}")
        written += 1
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
