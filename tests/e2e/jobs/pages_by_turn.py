"""Job that reads a dozen folders of long names and writes one, and again for `LAKE/again`.

Usage: pages_by_turn.py LAKE.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession


def main(lake: Path) -> None:
    """Write, then wait for `LAKE/again` and write again."""
    spark = SparkSession.builder.appName("pages_by_turn").getOrCreate()
    pages = spark.read.text([str(folder) for folder in sorted(lake.glob("pages_of_*"))])
    pages.write.mode("overwrite").parquet(f"{lake}/all_pages")
    while not (lake / "again").exists():
        time.sleep(0.02)
    pages.write.mode("overwrite").parquet(f"{lake}/all_pages_again")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
