"""Job with small writes, one per turn: when `LAKE/turn_N` exists, or `LAKE/free` for all turns.

Ends when `LAKE/enough` is there. Usage: many_writes.py LAKE.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession


def main(lake: Path) -> None:
    """Write in turns; each write is about four events of the listener."""
    spark = SparkSession.builder.appName("many_writes").getOrCreate()
    numbers = spark.range(100)
    turn = 0
    while not (lake / "enough").exists():
        if (lake / "free").exists() or (lake / f"turn_{turn}").exists():
            numbers.write.mode("overwrite").parquet(f"{lake}/numbers_{turn % 5}")
            turn += 1
        else:
            time.sleep(0.02)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
